//! Followed redirects: each hop is a request in the books of its step.

use truetail_model::time::Nanos;
use truetail_model::workload::Limits;
use truetail_run::{EarlyEnd, SessionTally, SessionTime};

use crate::runs::{SESSIONS, run, run_within};
use crate::server::{Answer, Asked, Server};
use crate::server_http2::in_both;

fn to(status: u16, location: &str) -> Answer {
    (status, vec![format!("Location: {location}")], "moved".to_owned())
}

fn path(asked: &Asked) -> &str {
    asked.line.split(' ').nth(1).unwrap()
}

/// A login that leads to a page, which leads to another page. Each sets a cookie that the next one requires.
fn login(number: u64, asked: &Asked) -> Answer {
    let cookies = asked.field("cookie").unwrap_or_default();
    match path(asked) {
        "/login" => {
            let (status, mut fields, body) = to(303, "home?first=1");
            fields.push("Set-Cookie: session=s; Path=/".to_owned());
            (status, fields, body)
        }
        "/home?first=1" if cookies.contains("session=s") => {
            let (status, mut fields, body) = to(302, "/home/page#part");
            fields.push("Set-Cookie: seen=yes; Path=/home".to_owned());
            (status, fields, body)
        }
        "/home/page" if cookies == "seen=yes; session=s" => {
            (200, vec![format!("X-Token: t{number}")], "{\"id\": 7}".to_owned())
        }
        "/items/7" if cookies == "session=s" && asked.field("x-token").is_some() => (200, Vec::new(), String::new()),
        _ => (403, Vec::new(), String::new()),
    }
}

const LOGIN: &str = r#"
# truetail: name login
POST {{host}}/login
X-Mine: {{newUuid}}
[BasicAuth]
me: secret
[Options]
location: true
[Form]
user: ann
HTTP 200
[Captures]
token: header "X-Token"
id: jsonpath "$.id"

GET {{host}}/items/{{id}}
X-Token: {{token}}
HTTP 200
"#;

#[test]
fn each_hop_is_a_request_and_the_step_has_the_last_answer() {
    for server in in_both(login) {
        let measured = run(&server, LOGIN);
        let facts = &measured.facts;
        let tally = SessionTally { planned: SESSIONS, begun: SESSIONS, completed: SESSIONS, ..SessionTally::default() };
        assert_eq!(facts.tally, tally, "{:?}", measured.examples);
        assert_eq!(measured.output.snapshot.tally.planned, 4 * SESSIONS);
        assert_eq!(measured.output.snapshot.statuses.values().sum::<u64>(), 4 * SESSIONS);
        let [login, items] = &facts.steps[..] else { panic!("two steps") };
        assert_eq!((login.reached, login.hops, login.most_requests), (SESSIONS, 2 * SESSIONS, 3));
        assert_eq!((items.reached, items.hops, items.times.count()), (SESSIONS, 0, 0));
        // The time of the step is that of its three requests together.
        let step = login.times.get(SessionTime::Completed);
        let requests = &measured.output.snapshot.targets[0];
        let of_requests = requests.metric(truetail_model::record::Metric::ResponseTime).unwrap();
        assert_eq!((step.count(), of_requests.count()), (SESSIONS, 3 * SESSIONS));
        assert!(step.sum_ns() >= of_requests.sum_ns(), "{} {}", step.sum_ns(), of_requests.sum_ns());
        let asked = server.asked.lock().unwrap();
        for hop in asked.iter().filter(|asked| path(asked).starts_with("/home")) {
            assert!(hop.line.starts_with("GET ") && hop.body.is_empty(), "{hop:?}");
            assert_eq!((hop.field("content-type"), hop.field("content-length")), (None, None));
            assert!(hop.field("authorization").is_some() && hop.field("x-mine").is_some(), "{hop:?}");
        }
        // Random values of a request are reused for its hops.
        let mut drawn: Vec<&str> = asked.iter().filter_map(|asked| asked.field("x-mine")).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len() as u64, SESSIONS);
    }
}

#[test]
fn the_status_says_which_method_and_body_follow() {
    for (method, status, follows) in [
        ("POST", 301, "GET"),
        ("POST", 302, "GET"),
        ("PUT", 303, "GET"),
        ("POST", 307, "POST"),
        ("PUT", 308, "PUT"),
        ("POST", 300, "POST"),
        ("GET", 302, "GET"),
        ("HEAD", 302, "HEAD"),
    ] {
        let has_body = !matches!(method, "GET" | "HEAD");
        for server in in_both(move |_, asked| match path(asked) {
            "/a" => (status, vec!["Location: /b".to_owned()], String::new()),
            _ => (200, Vec::new(), String::new()),
        }) {
            let body = if has_body { "{\"a\": 1}\n" } else { "" };
            let text = format!("{method} {{{{host}}}}/a\n[Options]\nlocation: true\n{body}HTTP 200\n");
            let measured = run(&server, &text);
            assert_eq!(measured.facts.tally.completed, SESSIONS, "{method} {status}: {:?}", measured.examples);
            assert_eq!(server.count(&format!("{follows} /b ")), SESSIONS, "{method} {status}");
            let asked = server.asked.lock().unwrap();
            let hop = asked.iter().find(|asked| path(asked) == "/b").unwrap();
            let keeps = has_body && follows == method;
            assert_eq!(hop.body, if keeps { "{\"a\": 1}" } else { "" }, "{method} {status}");
            assert_eq!(hop.field("content-type"), keeps.then_some("application/json"), "{method} {status}");
        }
    }
}

#[test]
fn an_unfollowed_redirect_or_one_without_location_is_an_answer() {
    for server in in_both(|_, asked| match path(asked) {
        "/nowhere" => (302, Vec::new(), String::new()),
        _ => to(302, "/b"),
    }) {
        for text in [
            "GET {{host}}/a\nHTTP 302\n",
            "GET {{host}}/a\n[Options]\nlocation: false\nHTTP 302\n",
            "GET {{host}}/nowhere\n[Options]\nlocation: true\nHTTP 302\n",
        ] {
            let measured = run(&server, text);
            assert_eq!((measured.facts.tally.completed, measured.facts.steps[0].hops), (SESSIONS, 0), "{text}");
        }
        assert_eq!(server.count("GET /b"), 0);
    }
}

#[test]
fn a_redirect_that_cannot_be_followed_ends_its_session() {
    let long = format!("/{}", "x".repeat(9_000));
    for (location, says) in [
        ("https://127.0.0.1/", "line 1: the redirect leads to https://127.0.0.1, an origin that no request names"),
        ("//elsewhere.example:81/secret", "the redirect leads to http://elsewhere.example:81, an origin"),
        ("mailto:me@example.com", "a URL of mailto:"),
        ("http://[", "the Location: "),
        ("http://me:pw@HOST/", "a user or a password"),
        (&long, "the Location has 9001 bytes"),
    ] {
        let location = location.to_owned();
        for server in in_both(move |_, asked| {
            let host = asked.field("host").unwrap_or("127.0.0.1:1").to_owned();
            to(302, &location.replace("HOST", &host))
        }) {
            let text = "GET {{host}}/a\n[Options]\nlocation: true\nHTTP 200\n\nGET {{host}}/b\n";
            let measured = run(&server, text);
            let why = &measured.examples[0].1;
            // HTTP/2 has no field `host`, so the answer leads to another origin.
            assert!(why.contains(says) || why.contains("http://127.0.0.1:1, "), "{why}");
            assert!(!why.contains("secret") && !why.contains('\n'), "{why}");
            let step = &measured.facts.steps[0];
            assert_eq!(step.ended_here.get(&EarlyEnd::Redirect), Some(&SESSIONS), "{:?}", measured.facts);
            assert_eq!((step.hops, measured.facts.steps[1].not_reached.ended_early), (0, SESSIONS));
            assert_eq!(step.times.get(SessionTime::Completed).count(), SESSIONS, "there was an answer");
        }
    }
}

#[test]
fn a_loop_ends_where_max_redirs_says() {
    for server in in_both(|_, asked| to(307, path(asked))) {
        for (option, hops) in [("max-redirs: 3\n", 3), ("max-redirs: 0\n", 0), ("", 50)] {
            let text = format!("GET {{{{host}}}}/a?b\n[Options]\nlocation: true\n{option}");
            let measured = run(&server, &text);
            let step = &measured.facts.steps[0];
            assert_eq!((step.hops, step.most_requests), (hops * SESSIONS, hops + 1), "{option}");
            assert_eq!(step.ended_here.get(&EarlyEnd::Redirect), Some(&SESSIONS), "{:?}", measured.examples);
            assert!(measured.examples[0].1.contains(&format!("more than {hops} redirects, the limit of max-redirs")));
        }
    }
}

#[test]
fn a_line_break_in_a_location_gets_into_no_request() {
    let server = Server::start(|_, asked| match path(asked) {
        "/a" => to(302, "/b\r\nX-Evil: 1\r\n X-Folded: 2"),
        _ => (200, Vec::new(), String::new()),
    });
    let measured = run(&server, "GET {{host}}/a\n[Options]\nlocation: true\nHTTP 200\n");
    assert_eq!((measured.facts.tally.completed, server.count("GET /b HTTP/1.1")), (SESSIONS, SESSIONS));
    assert!(server.asked.lock().unwrap().iter().all(|asked| asked.field("x-evil").is_none()));
}

#[test]
fn each_hop_has_its_own_time_limit() {
    for server in in_both(|_, asked| match path(asked) {
        "/a" => to(302, "/stuck"),
        _ => {
            std::thread::sleep(std::time::Duration::from_secs(30));
            (200, Vec::new(), String::new())
        }
    }) {
        let text = "GET {{host}}/a\n[Options]\nlocation: true\nmax-time: 1s\nHTTP 200\n\nGET {{host}}/b\n";
        let measured = run(&server, text);
        let step = &measured.facts.steps[0];
        assert_eq!((step.reached, step.hops), (SESSIONS, SESSIONS));
        assert_eq!(step.ended_here.get(&EarlyEnd::TimedOut), Some(&SESSIONS), "{:?}", measured.facts);
        let waited = step.times.get(SessionTime::Censored);
        assert!(waited.count() == SESSIONS && waited.min().unwrap() >= Nanos::from_secs(1));
    }
}

#[test]
fn a_hop_due_at_the_end_leaves_its_session_in_flight() {
    let server = Server::start(|_, asked| match path(asked) {
        "/a" => {
            // Meanwhile other sessions arrive, and are due before the hop.
            std::thread::sleep(std::time::Duration::from_millis(70));
            to(302, "/stuck")
        }
        _ => {
            std::thread::sleep(std::time::Duration::from_secs(30));
            (200, Vec::new(), String::new())
        }
    });
    let limits = Limits { connections: Some(1), drain: Nanos::from_secs(1), ..Limits::default() };
    let text = "GET {{host}}/a\n[Options]\nlocation: true\n\nGET {{host}}/b\n";
    let measured = run_within(&server, text, limits);
    let tally = measured.facts.tally;
    let steps = &measured.facts.steps;
    let requests = measured.output.snapshot.tally;
    // With one connection, some sessions get their redirect before a hop takes the connection and keeps it.
    assert!(tally.begun > 1, "{tally:?}");
    assert_eq!((tally.in_flight_at_end, tally.begun), (steps[0].reached, steps[0].reached), "{tally:?}");
    assert_eq!((steps[0].hops, requests.in_flight_at_end), (1, 1));
    assert_eq!(requests.never_issued, tally.never_begun + tally.begun - 1);
    assert_eq!(steps[0].times.get(SessionTime::Censored).count(), SESSIONS);
    assert_eq!(steps[1].not_reached.run_ended, tally.begun);
}
