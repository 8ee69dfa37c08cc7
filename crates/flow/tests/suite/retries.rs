//! Retries: each attempt is a request in the books of its step.

use std::collections::HashMap;
use std::sync::Mutex;

use truetail_engine::HttpVersion;
use truetail_model::record::Metric;
use truetail_model::time::Nanos;
use truetail_model::workload::Limits;
use truetail_run::{EarlyEnd, SessionTime};

use crate::runs::{SESSIONS, run, run_within};
use crate::server::{Answer, Asked, Server};
use crate::server_http2::in_both;

/// Gives `answer(n)` to the nth request for each path that begins with `/poll`, from 0.
fn counting(answer: impl Fn(u64) -> Answer + Send + Sync) -> impl Fn(u64, &Asked) -> Answer + Send + Sync {
    let counts = Mutex::new(HashMap::<String, u64>::new());
    move |number, asked| match asked.line.split(' ').nth(1).unwrap() {
        path if path.starts_with("/poll") => {
            let nth = {
                let mut counts = counts.lock().unwrap();
                let count = counts.entry(path.to_owned()).or_default();
                *count += 1;
                *count - 1
            };
            answer(nth)
        }
        _ => (200, vec![format!("X-Id: {number}")], String::new()),
    }
}

/// A flow whose second step has these options and expectation. Paths differ by version, because the server counts them.
fn polling(version: HttpVersion, options: &str, expected: &str) -> String {
    let poll = if version == HttpVersion::Http2 { "poll2" } else { "poll1" };
    format!(
        "POST {{{{host}}}}/begin\nHTTP 200\n[Captures]\nid: header \"X-Id\"\n\nGET {{{{host}}}}/{poll}/{{{{id}}}}\n[Options]\n\
         {options}\n{expected}\n\nGET {{{{host}}}}/end\n"
    )
}

#[test]
fn each_attempt_is_a_request_and_the_step_time_covers_all() {
    let third_is_good = |nth| (if nth < 2 { 503 } else { 200 }, Vec::new(), String::new());
    for server in in_both(counting(third_is_good)) {
        let measured = run(&server, &polling(server.version, "retry: 5\nretry-interval: 40ms", "HTTP 200"));
        let facts = &measured.facts;
        assert_eq!(facts.tally.completed, SESSIONS, "{:?}", measured.examples);
        let poll = &facts.steps[1];
        assert_eq!((poll.reached, poll.retries, poll.most_requests), (SESSIONS, 2 * SESSIONS, 3));
        assert_eq!(measured.output.snapshot.statuses[&503], 2 * SESSIONS);
        assert_eq!(measured.output.snapshot.tally.planned, 5 * SESSIONS);
        // Both intervals are in the times of the step and of the session, but in no request's time.
        let of_step = poll.times.get(SessionTime::Completed);
        let of_session = facts.times.get(SessionTime::Completed);
        assert!(of_step.count() == SESSIONS && of_step.min().unwrap() >= Nanos::from_millis(79));
        assert!(of_session.min().unwrap() >= Nanos::from_millis(79));
        let requests = measured.output.snapshot.targets[1].metric(Metric::ResponseTime).unwrap();
        assert_eq!(requests.count(), 3 * SESSIONS);
        assert!(of_step.sum_ns() >= requests.sum_ns() + u128::from(2 * SESSIONS * 39_000_000));
        assert!(facts.sampled.as_ref().unwrap().slowest.iter().all(|session| session.think_ns == 0));
    }
}

#[test]
fn a_step_fails_with_its_last_attempt() {
    for (expected, cause) in [
        ("HTTP 201", EarlyEnd::Status),
        ("HTTP 200\n[Asserts]\nbody == \"done\"", EarlyEnd::Assert),
        ("HTTP 200\n[Captures]\nx: jsonpath \"$.x\"", EarlyEnd::Capture),
    ] {
        for server in in_both(counting(|_| (200, Vec::new(), "{}".to_owned()))) {
            let measured = run(&server, &polling(server.version, "retry: 2\nretry-interval: 1ms", expected));
            let poll = &measured.facts.steps[1];
            let end = &measured.facts.steps[2];
            assert_eq!((poll.retries, poll.ended_here.get(&cause)), (2 * SESSIONS, Some(&SESSIONS)), "{expected}");
            assert_eq!((end.reached, end.not_reached.ended_early), (0, SESSIONS));
            assert_eq!((measured.examples.len(), poll.times.get(SessionTime::Completed).count()), (1, SESSIONS));
        }
    }
}

#[test]
fn what_got_no_answer_is_tried_again() {
    let first_hangs = |nth| {
        if nth == 0 {
            std::thread::sleep(std::time::Duration::from_secs(30));
        }
        (200, Vec::new(), String::new())
    };
    for server in in_both(counting(first_hangs)) {
        let measured =
            run(&server, &polling(server.version, "retry: 1\nretry-interval: 1ms\nmax-time: 1s", "HTTP 200"));
        let poll = &measured.facts.steps[1];
        assert_eq!((measured.facts.tally.completed, poll.retries), (SESSIONS, SESSIONS), "{:?}", measured.facts);
        assert_eq!(measured.output.snapshot.tally.timed_out, SESSIONS);
        assert!(poll.times.get(SessionTime::Completed).min().unwrap() >= Nanos::from_secs(1));
    }
}

#[test]
fn each_attempt_follows_redirects_anew() {
    // Each attempt has two hops. The second attempt succeeds.
    let answer = |nth: u64| match nth {
        0 | 1 | 3 | 4 => (302, vec!["Location: ?".to_owned()], String::new()),
        2 => (500, Vec::new(), String::new()),
        _ => (200, Vec::new(), String::new()),
    };
    let by_path = counting(answer);
    for server in in_both(move |number, asked| {
        // The empty query of a hop must not count as another path.
        let line = asked.line.replacen("? HTTP", " HTTP", 1);
        by_path(number, &Asked { line, ..asked.clone() })
    }) {
        let options = "location: true\nmax-redirs: 2\nretry: 1\nretry-interval: 1ms";
        let text = polling(server.version, options, "HTTP 200");
        let measured = run(&server, &text);
        let poll = &measured.facts.steps[1];
        assert_eq!(measured.facts.tally.completed, SESSIONS, "{:?}", measured.examples);
        assert_eq!((poll.hops, poll.retries, poll.most_requests), (4 * SESSIONS, SESSIONS, 6));
    }
}

#[test]
fn a_retry_pending_at_the_end_leaves_its_session_in_flight() {
    let server = Server::start(|_, _| (500, Vec::new(), String::new()));
    let limits = Limits { drain: Nanos::from_secs(1), ..Limits::default() };
    let measured = run_within(&server, "GET {{host}}/a\n[Options]\nretry: 3\nretry-interval: 1m\nHTTP 200\n", limits);
    let tally = measured.facts.tally;
    let step = &measured.facts.steps[0];
    assert_eq!((tally.in_flight_at_end, step.retries), (SESSIONS, 0));
    assert_eq!(step.times.get(SessionTime::Censored).count(), SESSIONS);
    assert_eq!(measured.output.snapshot.tally.planned, SESSIONS, "what was not due is not planned");
}
