//! Runs of flows over sockets: what was sent, and what was recorded.

use truetail_engine::{AddressOverrides, Control, FeedOrder, HttpVersion, Plan, RunOutput, Target};
use truetail_flow::{Flow, FlowRun, SessionRows};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::{EarlyEnd, SessionFacts, SessionTally, SessionTime};

use crate::server::{Answer, Asked, Server};
use crate::server_http2::{Place, in_both};

/// Sessions of each run.
pub const SESSIONS: u64 = 20;

pub struct Measured {
    pub output: RunOutput,
    pub facts: SessionFacts,
    pub examples: Vec<(String, String)>,
}

/// Plans [`SESSIONS`] sessions, one every 20 ms.
fn plan(flow: &Flow, limits: Limits, way: &AddressOverrides) -> Plan {
    let schedule = Schedule {
        profile: Profile::constant("50/s".parse().unwrap()),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: Some(Nanos::from_millis(20 * SESSIONS)), requests: None },
    };
    let model = LoadModel::PartlyOpen {
        sessions: schedule,
        requests_per_session: flow.requests_per_session(),
        think_time: Nanos::ZERO,
    };
    let target = Target::for_origins(flow.requests(), flow.origins().cloned().collect(), way).unwrap();
    Plan::new(Workload { model, limits, warmup: Nanos::ZERO }, target)
}

pub fn run(server: &impl Place, text: &str) -> Measured {
    run_within(server, text, Limits::default())
}

pub fn run_within(server: &impl Place, text: &str, limits: Limits) -> Measured {
    let (address, version) = server.place();
    let host = ("host".to_owned(), format!("http://{address}"));
    let flow = Flow::parse("a.hurl", text, &[host], &|path| Err(format!("no {path}"))).unwrap();
    measure(flow, version, limits)
}

pub fn measure(flow: Flow, version: HttpVersion, limits: Limits) -> Measured {
    measure_at(flow, version, limits, &AddressOverrides::default())
}

/// Runs the flow with its hosts at these addresses, and checks what must hold for every run.
pub fn measure_at(flow: Flow, version: HttpVersion, limits: Limits, way: &AddressOverrides) -> Measured {
    let flow = flow.over(version).unwrap();
    let mut plan = plan(&flow, limits, way);
    if version == HttpVersion::Http2 {
        plan.target.use_http2().unwrap();
    }
    let sessions = FlowRun::new(flow, Timestamp::ZERO, 1, 1_700_000_000);
    plan.observer = Some(sessions.observer_factory());
    let output = truetail_engine::run(&plan, &Control::new()).unwrap();
    output.snapshot.tally.check().unwrap();
    let facts = sessions.facts();
    assert_eq!(facts.imbalance(), None);
    // A step is reached once per issued request, without its further requests.
    for (step, books) in facts.steps.iter().zip(&output.by_target) {
        assert_eq!(step.reached + step.further(), books.tally.planned - books.tally.never_issued, "{}", step.name);
    }
    Measured { output, facts, examples: sessions.examples() }
}

/// A service with a login, which gives a cookie and a token. All later requests must bring both.
fn with_login(number: u64, asked: &Asked) -> Answer {
    if asked.line.starts_with("POST /login") {
        let fields = vec![
            format!("Set-Cookie: session=s{number}; Path=/; HttpOnly"),
            "Set-Cookie: theme=dark; Path=/elsewhere".to_owned(),
            format!("X-Token: t{number}"),
        ];
        return (200, fields, format!("{{\"user\": {{\"id\": {number}}}, \"note\": \"a\\\"b\"}}"));
    }
    let number = asked.field("x-token").and_then(|token| token.strip_prefix('t')).unwrap_or("none");
    let knows = asked.field("cookie") == Some(&format!("session=s{number}"))
        && asked.line.contains(&format!("/users/{number}/"));
    (if knows { 200 } else { 403 }, Vec::new(), "{}".to_owned())
}

const LOGIN: &str = r#"
# truetail: name login
POST {{host}}/login
[Form]
name: me
HTTP 200
[Captures]
token: header "X-Token"
id: jsonpath "$.user.id"
note: jsonpath "$.note"
[Asserts]
cookie "session" exists

# truetail: name list
GET {{host}}/users/{{id}}/items
X-Token: {{token}}
HTTP 200

# truetail: name buy
POST {{host}}/users/{{id}}/orders
X-Token: {{token}}
[Options]
delay: 30ms
{"note": "{{note}}", "user": {{id}}}
HTTP 200
"#;

#[test]
fn every_session_has_its_own_variables_and_cookies() {
    for server in in_both(with_login) {
        let measured = run(&server, LOGIN);
        let tally = SessionTally { planned: SESSIONS, begun: SESSIONS, completed: SESSIONS, ..SessionTally::default() };
        assert_eq!(measured.facts.tally, tally, "{:?}", measured.examples);
        assert_eq!(measured.output.snapshot.tally.planned, 3 * SESSIONS);
        assert!(measured.facts.steps.iter().all(|step| step.reached == SESSIONS && step.not_reached.total() == 0));
        for line in ["POST /login ", "GET /users/", "POST /users/"] {
            assert_eq!(server.count(line), SESSIONS, "{line}");
        }
        let asked = server.asked.lock().unwrap();
        let buys = asked.iter().filter(|asked| asked.line.contains("/orders"));
        for buy in buys {
            let body: serde_json::Value = serde_json::from_str(&buy.body).unwrap_or_else(|_| panic!("{}", buy.body));
            assert_eq!(body["note"], "a\"b");
            assert!(buy.line.contains(&format!("/users/{}/", body["user"])), "{}", buy.line);
            assert_eq!(buy.field("content-type"), Some("application/json"));
        }
    }
}

#[test]
fn planned_think_time_is_no_part_of_a_session_s_time() {
    let server = Server::start(|_, _| (200, Vec::new(), String::new()));
    let text = "GET {{host}}/a\n\nGET {{host}}/b\n[Options]\ndelay: 60s\n";
    let limits = Limits { drain: Nanos::from_secs(2), ..Limits::default() };
    let measured = run_within(&server, text, limits);
    // The run ends before any user has thought for a minute.
    assert_eq!(measured.facts.tally.in_flight_at_end, SESSIONS);
    assert_eq!((measured.facts.steps[1].reached, measured.facts.steps[1].not_reached.run_ended), (0, SESSIONS));
    assert_eq!(measured.output.snapshot.tally.planned, SESSIONS);
    let text = "GET {{host}}/a\n\nGET {{host}}/b\n[Options]\ndelay: 2s\n";
    let measured = run(&server, text);
    assert_eq!(measured.facts.tally.completed, SESSIONS);
    let times = measured.facts.times.get(SessionTime::Completed);
    assert!(times.min().unwrap() < Nanos::from_secs(2), "{:?}", times.min());
}

#[test]
fn a_session_that_is_disappointed_ends_and_stays_in_the_books() {
    for server in in_both(|_, asked| {
        let status = if asked.line.contains("/b") { 500 } else { 200 };
        (status, Vec::new(), "{\"a\": [1]}".to_owned())
    }) {
        for (text, step, cause, says) in [
            (
                "GET {{host}}/a\nHTTP 200\n\nGET {{host}}/b\nHTTP 200\n\nGET {{host}}/c",
                1,
                EarlyEnd::Status,
                "line 5: the status is 500",
            ),
            ("GET {{host}}/a\nHTTP 201", 0, EarlyEnd::Status, "line 2"),
            (
                "GET {{host}}/a\nHTTP 200\n[Captures]\nx: jsonpath \"$.b\"\n\nGET {{host}}/c",
                0,
                EarlyEnd::Capture,
                "line 4",
            ),
            (
                "GET {{host}}/a\nHTTP 200\n[Asserts]\njsonpath \"$.a\" count == 2\n\nGET {{host}}/c",
                0,
                EarlyEnd::Assert,
                "line 4",
            ),
            (
                "GET {{host}}/a\nHTTP 200\n[Asserts]\njsonpath \"$.b\" not contains 1",
                0,
                EarlyEnd::Assert,
                "line 4: there is no value",
            ),
            ("GET {{host}}/a\nHTTP 200\n[Asserts]\nbody contains 3", 0, EarlyEnd::Assert, "line 4"),
            (
                "GET {{host}}/a\nHTTP 200\n[Captures]\nx: jsonpath \"$.a\"\n\nGET {{host}}/{{x}}",
                0,
                EarlyEnd::Request,
                "line 6",
            ),
        ] {
            let measured = run(&server, text);
            let facts = &measured.facts;
            assert_eq!((facts.tally.ended_early, facts.tally.begun), (SESSIONS, SESSIONS), "{text}");
            assert_eq!(facts.steps[step].ended_here.get(&cause), Some(&SESSIONS), "{text}: {facts:?}");
            assert_eq!(facts.times.get(SessionTime::Failed).count(), SESSIONS);
            let reached: Vec<u64> = facts.steps.iter().map(|step| step.reached).collect();
            let expected: Vec<u64> = (0..reached.len()).map(|at| if at <= step { SESSIONS } else { 0 }).collect();
            assert_eq!(reached, expected, "{text}");
            assert!(facts.steps.iter().skip(step + 1).all(|step| step.not_reached.ended_early == SESSIONS));
            assert!(measured.examples.len() == 1 && measured.examples[0].1.contains(says), "{:?}", measured.examples);
        }
    }
}

#[test]
fn what_never_answers_ends_a_session_by_its_time_limit() {
    for server in in_both(|_, asked| {
        if asked.line.contains("/stuck") {
            std::thread::sleep(std::time::Duration::from_secs(30));
        }
        (200, Vec::new(), String::new())
    }) {
        let text = "GET {{host}}/a\n\nGET {{host}}/stuck\n[Options]\nmax-time: 100ms\n\nGET {{host}}/c\n";
        let measured = run(&server, text);
        assert_eq!(measured.facts.tally.ended_early, SESSIONS);
        assert_eq!(measured.facts.steps[1].ended_here.get(&EarlyEnd::TimedOut), Some(&SESSIONS));
        let waited = measured.facts.times.get(SessionTime::Censored);
        assert!(waited.count() == SESSIONS && waited.min().unwrap() >= Nanos::from_millis(100));
    }
}

#[test]
fn sessions_that_find_no_connection_are_never_begun_or_in_flight() {
    let server = Server::start(|_, _| {
        std::thread::sleep(std::time::Duration::from_secs(30));
        (200, Vec::new(), String::new())
    });
    let limits = Limits { connections: Some(2), drain: Nanos::from_secs(2), ..Limits::default() };
    let measured = run_within(&server, "GET {{host}}/a\n\nGET {{host}}/b\n", limits);
    let tally = measured.facts.tally;
    assert_eq!((tally.planned, tally.in_flight_at_end, tally.never_begun), (SESSIONS, 2, SESSIONS - 2));
    assert_eq!(measured.facts.steps[0].not_reached.never_begun, SESSIONS - 2);
    assert_eq!(measured.output.snapshot.tally.never_issued, SESSIONS - 2);
}

#[test]
fn a_body_that_is_too_long_is_an_outcome() {
    for server in in_both(|_, _| (200, Vec::new(), "x".repeat((1 << 20) + 1))) {
        let measured = run(&server, "GET {{host}}/a\nHTTP 200\n[Captures]\nx: body\n");
        assert_eq!(measured.facts.steps[0].ended_here.get(&EarlyEnd::BodyTooLong), Some(&SESSIONS));
        // Without a capture or an assert on the body, its length does not matter.
        assert_eq!(run(&server, "GET {{host}}/a\nHTTP 200\n").facts.tally.completed, SESSIONS);
    }
}

#[test]
fn nothing_is_found_in_a_body_that_is_not_decoded() {
    for (coding, completed) in [("gzip", 0), ("br", 0), ("Identity", SESSIONS)] {
        let server =
            Server::start(move |_, _| (200, vec![format!("Content-Encoding: {coding}")], "{\"a\": 1}".to_owned()));
        for asked in ["[Asserts]\njsonpath \"$.a\" == 1", "[Asserts]\nbytes count == 8", "`{\"a\": 1}`"] {
            let measured = run(&server, &format!("GET {{{{host}}}}/a\nHTTP 200\n{asked}\n"));
            assert_eq!(measured.facts.tally.completed, completed, "{coding} {asked}: {:?}", measured.examples);
            assert!(completed > 0 || measured.examples[0].1.contains(coding), "{:?}", measured.examples);
        }
    }
}

#[test]
fn names_of_fields_are_sent_as_they_are_written() {
    let server = Server::start(|_, _| (200, Vec::new(), String::new()));
    let fields = "a[b]: c&d\n$top: 5\ne%20f: 1,2\ng h: x\n";
    run(&server, &format!("POST {{{{host}}}}/a?x=y\n[Query]\n{fields}[Form]\n{fields}HTTP 200\n"));
    let asked = server.asked.lock().unwrap();
    let wanted = "a[b]=c%26d&$top=5&e%20f=1%2C2&g%20h=x";
    assert_eq!((&*asked[0].line, &*asked[0].body), (&*format!("POST /a?x=y&{wanted} HTTP/1.1"), wanted));
}

#[test]
fn requests_are_sent_as_hurl_sends_them() {
    let server = Server::start(|_, _| (200, vec!["Set-Cookie: a=b; Expires=soon".to_owned()], "..".to_owned()));
    let text = "GET {{host}}/a/../b/./c\nHTTP 200\n[Captures]\nup: body\n\n\
                GET {{host}}/d/{{up}}/e?f=/../\nX: 1\nX: {{up}}\nx: 2\nHTTP 200\n[Asserts]\ncookie \"a[Expires]\" exists\n";
    let measured = run(&server, text);
    assert!(measured.examples[0].1.contains("line 12: what the cookie has as Expires"), "{:?}", measured.examples);
    let asked = server.asked.lock().unwrap();
    assert_eq!(asked[0].line, "GET /b/c HTTP/1.1");
    let second = asked.iter().find(|asked| asked.line.contains("/e")).unwrap();
    let values: Vec<&str> = second.fields.iter().filter_map(|line| line.strip_prefix(['X', 'x'])).collect();
    assert_eq!((&*second.line, values), ("GET /e?f=/../ HTTP/1.1", vec![": 1", ": ..", ": 2"]));
}

#[test]
fn a_captured_line_break_gets_into_no_header() {
    for server in in_both(|_, _| (200, Vec::new(), "a\r\nX-Evil: 1".to_owned())) {
        let text = "GET {{host}}/a\nHTTP 200\n[Captures]\nx: body\n\nGET {{host}}/b?q={{x}}\nX-Good: {{x}}\n";
        let measured = run(&server, text);
        assert_eq!(measured.facts.steps[0].ended_here.get(&EarlyEnd::Request), Some(&SESSIONS));
        let in_path = run(&server, "GET {{host}}/a\nHTTP 200\n[Captures]\nx: body\n\nGET {{host}}/b/{{x}}\n");
        assert_eq!(in_path.facts.tally.completed, SESSIONS);
        let asked = server.asked.lock().unwrap();
        assert!(asked.iter().all(|asked| asked.field("x-evil").is_none()));
        assert!(asked.iter().any(|asked| asked.line.contains("/b/a%0D%0AX-Evil:%201")), "{:?}", asked.last());
    }
}

#[test]
fn a_captured_name_is_none_that_says_where_a_request_ends() {
    for name in ["Content-Length", "transfer-encoding", "HOST"] {
        for server in in_both(move |_, _| (200, Vec::new(), name.to_owned())) {
            let text = "GET {{host}}/a\nHTTP 200\n[Captures]\nx: body\n\nGET {{host}}/b\n{{x}}: 7\n";
            assert_eq!(run(&server, text).facts.steps[0].ended_here.get(&EarlyEnd::Request), Some(&SESSIONS), "{name}");
            assert_eq!(server.count("GET /b"), 0, "{name}");
        }
    }
}

#[test]
fn repeated_requests_are_one_step() {
    for server in in_both(|_, _| (200, Vec::new(), String::new())) {
        let measured = run(&server, "GET {{host}}/a\n\nGET {{host}}/b\n[Options]\nrepeat: 3\n");
        assert_eq!((measured.facts.steps[1].per_session, measured.facts.steps[1].reached), (3, 3 * SESSIONS));
        assert_eq!((server.count("GET /a"), server.count("GET /b")), (SESSIONS, 3 * SESSIONS));
    }
}

#[test]
fn what_grows_without_end_is_an_outcome() {
    let server = Server::start(|_, _| (200, Vec::new(), "a".repeat(1 << 20)));
    let doubled = "GET {{host}}/a\nHTTP 200\n[Captures]\nx: body\n\nGET {{host}}/b\n[Options]\nrepeat: 40\nvariable: x={{x}}{{x}}\n";
    let measured = run(&server, doubled);
    assert_eq!(measured.facts.steps[0].ended_here.get(&EarlyEnd::Request), Some(&SESSIONS), "{:?}", measured.facts);
    let replaced = "GET {{host}}/a\nHTTP 200\n[Captures]\nx: body\ny: body replace \"a\" \"{{x}}\"\n";
    assert_eq!(run(&server, replaced).facts.steps[0].ended_here.get(&EarlyEnd::Capture), Some(&SESSIONS));
    let many = format!(
        "GET {{{{host}}}}/a\nHTTP 200\n[Captures]\nx: body\n\nPOST {{{{host}}}}/b\n`{}`\n",
        "{{x}}".repeat(100)
    );
    assert_eq!(run(&server, &many).facts.steps[0].ended_here.get(&EarlyEnd::Request), Some(&SESSIONS));
}

/// Two sessions choose among the same items, and each asks for one of them with a number of its session.
#[test]
fn a_session_picks_an_item_and_has_values_without_rows() {
    let server = Server::start(|_, asked| {
        let is_list = asked.line.starts_with("GET /items ");
        (200, Vec::new(), if is_list { r#"{"ids": [3, 5, 7]}"#.to_owned() } else { "{}".to_owned() })
    });
    let text = "GET {{host}}/items\nHTTP 200\n[Captures]\nid: jsonpath \"$.ids\" randomItem\n\n\
        # truetail: delay uniform 1ms..2ms\n\
        GET {{host}}/items/{{id}}?session={{seq}}&n={{randomInt 10 19}}&{{randomChoice a=1 b=1}}\nHTTP 200\n";
    let measured = run(&server, text);
    let sessions = measured.facts.tally.completed;
    assert_eq!(sessions, measured.facts.tally.planned);
    let asked = server.asked.lock().unwrap();
    let picks: Vec<&str> = asked.iter().filter_map(|asked| asked.line.strip_prefix("GET /items/")).collect();
    assert_eq!(picks.len() as u64, sessions);
    for (number, pick) in picks.iter().enumerate() {
        let (id, rest) = pick.split_once("?session=").unwrap();
        assert!(["3", "5", "7"].contains(&id), "{pick}");
        let (_, rest) = rest.split_once("&n=1").unwrap_or_else(|| panic!("{number}: {pick}"));
        assert!(rest[1..].starts_with("&a=1 ") || rest[1..].starts_with("&b=1 "), "{pick}");
    }
    let numbers: std::collections::BTreeSet<u64> = picks
        .iter()
        .map(|pick| pick.split_once("?session=").unwrap().1.split('&').next().unwrap().parse().unwrap())
        .collect();
    assert!(numbers.into_iter().eq(0..sessions), "each session has its number");
}

/// Rows give a session one, two or three steps.
#[test]
fn a_session_is_complete_where_its_row_has_no_further_text() {
    let text = "POST {{host}}/1\n{{one}}\nHTTP 200\n\n# truetail: while two\nPOST {{host}}/2\n{{two}}\nHTTP 200\n\n\
                # truetail: while three\nPOST {{host}}/3\n{{three}}\nHTTP 200\n";
    let row = |texts: [&str; 3]| texts.map(str::to_owned).to_vec();
    let values = vec![row(["a", "", ""]), row(["b", "c", ""]), row(["d", "e", "f"]), row(["g", "", "unused"])];
    let columns = row(["one", "two", "three"]);
    for server in in_both(|_, _| (200, Vec::new(), String::new())) {
        let (address, version) = server.place();
        let host = ("host".to_owned(), format!("http://{address}"));
        let rows = SessionRows { columns: columns.clone(), values: values.clone(), order: FeedOrder::InOrder, seed: 1 };
        let read = |path: &str| Err(format!("no {path}"));
        let flow = Flow::parse_with_rows("a.hurl", text, &[host], Some(&rows), &read).unwrap();
        let facts = measure(flow, version, Limits::default()).facts;
        assert_eq!((facts.tally.planned, facts.tally.completed), (SESSIONS, SESSIONS));
        let counts: Vec<_> = facts.steps.iter().map(|step| (step.reached, step.not_reached.not_asked)).collect();
        assert_eq!(counts, [(20, 0), (10, 10), (5, 15)]);
        let bodies: Vec<String> =
            server.asked.lock().unwrap().iter().map(|asked| asked.body.trim().to_owned()).collect();
        let sent = |text: &str| bodies.iter().filter(|body| *body == text).count();
        assert_eq!(["a", "b", "c", "d", "e", "f", "g", "unused"].map(sent), [5, 5, 5, 5, 5, 5, 5, 0]);
    }
}
