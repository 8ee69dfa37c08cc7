//! Flows over HTTP/2. Their books equal those of HTTP/1.1, and each fault of a server ends a step with a cause.

use truetail_engine::{FeedOrder, HttpVersion};
use truetail_flow::{Flow, SessionRows};
use truetail_model::workload::Limits;
use truetail_run::{EarlyEnd, SessionFacts, SessionTally, SessionTime};

use crate::raw_http2::{DATA, GOAWAY, HEADERS, Heard, RST_STREAM, Raw, SETTINGS, Say, frame, ok};
use crate::runs::{Measured, SESSIONS, measure, run};
use crate::server::{Answer, Asked};
use crate::server_http2::{Versioned, in_both};

/// The number of a session decides its outcome.
const BY_NUMBER: &str = r#"
# truetail: name login
POST {{host}}/login/{{number}}
[Form]
number: {{number}}
HTTP 200
[Captures]
token: header "X-Token"

# truetail: name list
GET {{host}}/list/{{number}}
X-Token: {{token}}
[Options]
max-time: 2s
HTTP 200
[Asserts]
jsonpath "$.number" == {{number}}

# truetail: name buy
PUT {{host}}/buy/{{number}}
[Options]
repeat: 2
delay: 10ms
{"number": {{number}}}
HTTP 201
"#;

fn by_number(_: u64, asked: &Asked) -> Answer {
    let mut words = asked.line.split(['/', ' ']).filter(|word| !word.is_empty()).skip(1);
    let step = words.next().unwrap();
    let number = words.next().unwrap().parse::<u64>().unwrap();
    let cookie = format!("number={number}");
    let token = format!("t{number}");
    let answer = |status, fields: Vec<String>, body: String| (status, fields, body);
    match (step, number % 7) {
        ("login", 1) => answer(503, Vec::new(), String::new()),
        ("login", 2) => answer(200, Vec::new(), String::new()),
        ("login", _) => {
            answer(200, vec![format!("Set-Cookie: {cookie}; Path=/"), format!("X-Token: {token}")], String::new())
        }
        _ if asked.field("cookie") != Some(&cookie) => answer(403, Vec::new(), String::new()),
        ("list", _) if asked.field("x-token") != Some(&token) => answer(403, Vec::new(), String::new()),
        ("list", 3) => answer(200, Vec::new(), "{\"number\": \"none\"}".to_owned()),
        ("list", 4) => {
            std::thread::sleep(std::time::Duration::from_secs(20));
            answer(200, Vec::new(), String::new())
        }
        ("list", _) => answer(200, Vec::new(), format!("{{\"number\": {number}}}")),
        ("buy", 5) => answer(409, Vec::new(), String::new()),
        _ => answer(if asked.body.contains(&format!(": {number}}}")) { 201 } else { 400 }, Vec::new(), String::new()),
    }
}

fn measure_by_number(server: &Versioned) -> Measured {
    let rows = SessionRows {
        columns: vec!["number".to_owned()],
        values: (0..SESSIONS).map(|number| vec![number.to_string()]).collect(),
        order: FeedOrder::InOrder,
        seed: 1,
    };
    let host = [("host".to_owned(), format!("http://{}", server.address))];
    let flow = Flow::parse_with_rows("a.hurl", BY_NUMBER, &host, Some(&rows), &|_| Ok(Vec::new())).unwrap();
    measure(flow, server.version, Limits::default())
}

#[test]
fn the_same_sessions_have_the_same_books_in_both_versions() {
    let [http1, http2] = in_both(by_number).map(|server| measure_by_number(&server));
    let counts = |facts: &SessionFacts| {
        [SessionTime::Completed, SessionTime::Censored, SessionTime::Failed].map(|time| facts.times.get(time).count())
    };
    assert_eq!((&http1.facts.tally, &http1.facts.steps), (&http2.facts.tally, &http2.facts.steps));
    assert_eq!(counts(&http1.facts), counts(&http2.facts));
    assert_eq!(http1.examples, http2.examples);
    let one = http1.output.snapshot;
    let two = http2.output.snapshot;
    assert_eq!((one.tally, one.statuses), (two.tally, two.statuses));
    // Of the twenty, sessions 0 and 6 of each seven complete. The other five of each seven end in different ways.
    let steps = &http2.facts.steps;
    let ends = |step: usize, cause: EarlyEnd| steps[step].ended_here.get(&cause).copied();
    assert_eq!(http2.facts.tally.completed, 5);
    assert_eq!((ends(0, EarlyEnd::Status), ends(0, EarlyEnd::Capture)), (Some(3), Some(3)));
    assert_eq!(
        (ends(1, EarlyEnd::Assert), ends(1, EarlyEnd::TimedOut), ends(2, EarlyEnd::Status)),
        (Some(3), Some(3), Some(3))
    );
    // Sessions share connections, and a session that times out does not disturb the others.
    let generator = &http2.output.generator;
    assert!(generator.streams.is_some() && generator.connections_opened < SESSIONS, "{}", generator.connections_opened);
}

#[test]
fn the_version_is_that_of_the_answer() {
    for server in in_both(|_, _| (200, Vec::new(), String::new())) {
        let version = if server.version == HttpVersion::Http2 { "2" } else { "1.1" };
        let text = format!("GET {{{{host}}}}/a\nHTTP/{version} 200\n[Asserts]\nversion == \"{version}\"\n");
        assert_eq!(run(&server, &text).facts.tally.completed, SESSIONS);
        let text = "GET {{host}}/a\nHTTP 200\n[Asserts]\nversion == \"1.0\"\n";
        assert_eq!(run(&server, text).facts.steps[0].ended_here.get(&EarlyEnd::Assert), Some(&SESSIONS));
    }
}

#[test]
fn names_of_headers_from_an_answer_are_names_that_can_be_sent() {
    let text = "GET {{host}}/a\nHTTP 200\n[Captures]\nname: body\n\nGET {{host}}/b\n{{name}}: close\nHTTP 200\n";
    for (name, ends_in) in [("Connection", [None, Some(SESSIONS)]), ("a b", [Some(SESSIONS); 2]), ("X-A", [None; 2])] {
        for (server, ends) in in_both(move |_, _| (200, Vec::new(), name.to_owned())).iter().zip(ends_in) {
            let facts = run(server, text).facts;
            assert_eq!(facts.steps[0].ended_here.get(&EarlyEnd::Request).copied(), ends, "{name}, {}", server.version);
        }
    }
}

#[test]
fn a_body_of_what_was_captured_waits_for_the_servers_windows() {
    // The body is many times larger than the server's first window.
    let [_, server] = in_both(|_, asked| match asked.line.starts_with("GET") {
        true => (200, Vec::new(), "x".repeat(400_000)),
        false => (if asked.body == "x".repeat(400_000) { 200 } else { 400 }, Vec::new(), String::new()),
    });
    let text = "GET {{host}}/a\nHTTP 200\n[Captures]\nx: body\n\nPOST {{host}}/b\n`{{x}}`\nHTTP 200\n";
    let measured = run(&server, text);
    assert_eq!(measured.facts.tally.completed, SESSIONS, "{:?}", measured.examples);
}

const TWO_STEPS: &str = "GET {{host}}/a\nHTTP 200\n\nGET {{host}}/b\nHTTP 200\n\nGET {{host}}/c\nHTTP 200\n";

/// Runs sessions whose requests for `/b` get `at_b(connection, stream)` as the answer.
fn with_trouble(at_b: impl Fn(u64, u32) -> Say + Send + Sync + 'static) -> Measured {
    let server = Raw::start(frame(SETTINGS, 0, 0, &[]), move |connection, heard: &Heard| {
        let asks_b = heard.kind == HEADERS && heard.payload.windows(2).any(|bytes| bytes == b"/b");
        match heard.ends_request() {
            true if asks_b => at_b(connection, heard.stream),
            true => Say::Bytes(ok(heard.stream)),
            false => Say::Bytes(Vec::new()),
        }
    });
    let host = [("host".to_owned(), format!("http://{}", server.address))];
    let flow = Flow::parse("a.hurl", TWO_STEPS, &host, &|_| Ok(Vec::new())).unwrap();
    measure(flow, HttpVersion::Http2, Limits::default())
}

#[test]
fn a_stream_that_is_broken_ends_its_session_and_no_other() {
    let reset = |stream, code: u32| frame(RST_STREAM, 0, stream, &code.to_be_bytes());
    let head = |stream| frame(HEADERS, 4, stream, &[0x88]);
    type AtB = Box<dyn Fn(u32) -> Vec<u8> + Send + Sync>;
    let table: [(AtB, EarlyEnd); 5] = [
        (Box::new(move |stream| reset(stream, 8)), EarlyEnd::Reset),
        (Box::new(move |stream| reset(stream, 7)), EarlyEnd::Reset),
        (Box::new(move |stream| [head(stream), reset(stream, 2)].concat()), EarlyEnd::Malformed),
        (Box::new(|stream| frame(HEADERS, 4, stream, &[0x82])), EarlyEnd::Malformed),
        (Box::new(|stream| frame(DATA, 1, stream, b"no head")), EarlyEnd::Malformed),
    ];
    for (nth, (at_b, cause)) in table.into_iter().enumerate() {
        let measured = with_trouble(move |_, stream| Say::Bytes(at_b(stream)));
        let tally =
            SessionTally { planned: SESSIONS, begun: SESSIONS, ended_early: SESSIONS, ..SessionTally::default() };
        assert_eq!(measured.facts.tally, tally, "{nth}");
        assert_eq!(
            measured.facts.steps[1].ended_here.get(&cause),
            Some(&SESSIONS),
            "{nth}: {:?}",
            measured.facts.steps
        );
        assert_eq!((measured.facts.steps[0].reached, measured.facts.steps[2].reached), (SESSIONS, 0));
    }
}

#[test]
fn a_lost_connection_ends_the_sessions_that_wait_on_it() {
    for bytes in [Vec::new(), frame(GOAWAY, 0, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0])] {
        let measured = with_trouble(move |_, _| Say::Close(bytes.clone()));
        let tally = measured.facts.tally;
        let steps = &measured.facts.steps;
        assert_eq!((tally.begun, tally.completed + tally.in_flight_at_end), (SESSIONS, 0), "{tally:?}");
        // Another session may have been at its first step when the connection closed.
        let ends = |step: usize| steps[step].ended_here.get(&EarlyEnd::Reset).copied().unwrap_or_default();
        assert_eq!(ends(0) + ends(1), SESSIONS, "{steps:?}");
        assert!(ends(1) > 0, "{steps:?}");
    }
}

#[test]
fn a_step_that_goaway_left_unprocessed_is_sent_again() {
    let measured = with_trouble(|connection, stream| match connection {
        0 => Say::Bytes(frame(GOAWAY, 0, 0, &[&(stream - 2).to_be_bytes()[..], &[0; 4]].concat())),
        _ => Say::Bytes(ok(stream)),
    });
    // With several workers, only one of them has connection 0.
    assert_eq!(measured.facts.tally.completed, SESSIONS, "{:?}", measured.facts.steps);
    assert!(measured.output.generator.streams.unwrap().sent_again >= 1);
    assert!(measured.facts.steps.iter().all(|step| step.reached == SESSIONS));
}
