//! A server can change outcomes in the books, and nothing else.

use std::time::Duration;

use crate::support::{Act, Puppet, TIMEOUT, closed, ok, open, run};
use truetail_engine::{Method, Target};
use truetail_model::record::{Cause, Metric, Outcome};
use truetail_model::time::Nanos;

/// Runs ten requests, and lets `act` happen to the fourth (number 3). Returns its outcome; all others must be answered.
fn outcome_of(act: Act) -> Outcome {
    let puppet = Puppet::start(move |n| if n == 3 { act.clone() } else { Act::Send(ok()) });
    let mut plan = open(&puppet.url(), 200.0, 10);
    // One after the other, so that the server counts them in the schedule's order even if the machine stalls.
    plan.workload.limits.connections = Some(1);
    let measured = run(&plan);
    assert_eq!(measured.snapshot.tally.planned, 10);
    let others = measured.snapshot.samples.even().iter().filter(|r| r.index != 3);
    let strange: Vec<_> = others.filter(|r| r.outcome != Outcome::response(200)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    measured.snapshot.samples.even().iter().find(|r| r.index == 3).unwrap().outcome
}

fn answer(text: &str) -> Act {
    Act::Send(text.as_bytes().to_vec())
}

#[test]
fn answers_in_every_form_are_responses() {
    let status = |status| Outcome::response(status);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nT: x\r\n\r\n";
    assert_eq!(outcome_of(answer(chunked)), status(200));
    assert_eq!(outcome_of(Act::Drip(chunked.as_bytes().to_vec(), 1)), status(200));
    assert_eq!(outcome_of(Act::Drip(ok(), 3)), status(200));
    assert_eq!(outcome_of(Act::SendAndClose(b"HTTP/1.1 200 OK\r\n\r\nuntil the end".to_vec())), status(200));
    assert_eq!(
        outcome_of(Act::SendAndClose(b"HTTP/1.1 503 No\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx".to_vec())),
        status(503)
    );
    assert_eq!(outcome_of(answer("HTTP/1.1 204 No Content\r\n\r\n")), status(204));
    assert_eq!(outcome_of(answer("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n")), status(304));
    assert_eq!(
        outcome_of(answer("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")),
        status(404)
    );
    assert_eq!(outcome_of(Act::After(Duration::from_millis(100), ok())), status(200));
}

#[test]
fn a_connection_that_ends_is_told_apart_by_where() {
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".to_vec();
    assert_eq!(outcome_of(Act::SendAndClose(Vec::new())), Outcome::Reset(Cause::ClosedBeforeAnswer));
    assert_eq!(outcome_of(Act::SendAndReset(Vec::new())), Outcome::Reset(Cause::ResetByPeer));
    assert_eq!(outcome_of(Act::SendAndClose(half.clone())), Outcome::Malformed(Cause::Truncated));
    assert_eq!(outcome_of(Act::SendAndReset(half)), Outcome::Malformed(Cause::Truncated));
    assert_eq!(outcome_of(Act::SendAndClose(b"HTTP/1.1 200 O".to_vec())), Outcome::Malformed(Cause::Truncated));
}

#[test]
fn lines_that_are_no_header_fields_are_skipped_counted_and_shown() {
    let odd = b"HTTP/1.1 200 OK\r\nPHP Warning:  cannot load \x1bx\r\nA : b\r\nContent-Length: 2\r\n\r\nok".to_vec();
    let puppet = Puppet::start(move |n| Act::Send(if n % 2 == 0 { odd.clone() } else { ok() }));
    let mut plan = open(&puppet.url(), 200.0, 20);
    plan.workload.limits.connections = Some(1);
    let measured = run(&plan);
    assert_eq!(measured.snapshot.tally.responses, 20);
    let skipped = measured.generator.skipped_lines.unwrap();
    assert_eq!((skipped.answers, &*skipped.first), (10, "PHP Warning:  cannot load \\u{1b}x"));
}

/// `hostile/table.rs` covers all other bytes that are not an answer.
#[test]
fn an_answer_that_is_none_costs_no_other_request() {
    assert_eq!(outcome_of(answer("220 mail.example ESMTP\r\n")), Outcome::Malformed(Cause::BadHead));
    let leftover = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more";
    assert_eq!(outcome_of(answer(leftover)), Outcome::Malformed(Cause::LeftoverBytes));
    let endless = "HTTP/1.1 102 Processing\r\n\r\n".repeat(100);
    assert_eq!(outcome_of(answer(&endless)), Outcome::Malformed(Cause::TooManyInterim));
}

#[test]
fn a_hung_request_is_timed_out_and_censored_at_what_was_waited() {
    let puppet = Puppet::start(|n| if n == 3 { Act::Hang } else { Act::Send(ok()) });
    let mut plan = open(&puppet.url(), 200.0, 10);
    plan.workload.limits.timeout = Some(TIMEOUT);
    let measured = run(&plan);
    assert_eq!((measured.snapshot.tally.responses, measured.snapshot.tally.timed_out), (9, 1));
    let waited = measured.snapshot.metric(Metric::Censored).min().unwrap();
    assert!(waited >= TIMEOUT, "{waited}");
}

#[test]
fn a_timeout_includes_the_time_to_connect() {
    // A backlog of one without a call of accept: further handshakes hang.
    let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    listener.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let mut plan = open(&format!("http://{address}/"), 500.0, 20);
    plan.workload.limits.timeout = Some(Nanos::from_millis(300));
    let measured = run(&plan);
    assert_eq!(measured.snapshot.tally.timed_out, 20, "{:?}", measured.snapshot.tally);
}

#[test]
fn nobody_listening_is_connect_failed_for_each_arrival() {
    let (_held, address) = crate::support::nobody();
    let measured = run(&open(&format!("http://{address}/"), 1000.0, 50));
    assert_eq!((measured.snapshot.tally.planned, measured.snapshot.tally.connect_failed), (50, 50));
    assert_eq!(measured.snapshot.causes.get(&Cause::Refused), Some(&50));
    assert!(measured.snapshot.metric(Metric::ResponseTime).is_empty(), "a refusal is no answer");
}

#[test]
fn a_server_that_goes_away_in_mid_run_loses_no_record() {
    let puppet = Puppet::start(|n| match n {
        0..20 => Act::Send(ok()),
        // From now on no request is answered, and each connection fails differently.
        n if n % 3 == 0 => Act::SendAndReset(Vec::new()),
        n if n % 3 == 1 => Act::SendAndClose(b"HTTP/1.1 2".to_vec()),
        _ => Act::Hang,
    });
    let mut plan = open(&puppet.url(), 500.0, 200);
    plan.workload.limits.timeout = Some(TIMEOUT);
    let tally = run(&plan).snapshot.tally;
    assert_eq!((tally.planned, tally.responses, tally.never_issued), (200, 20, 0));
    assert!(tally.reset > 0 && tally.malformed > 0 && tally.timed_out > 0, "{tally:?}");
}

#[test]
fn a_kept_connection_that_the_server_closes_while_idle_costs_nothing() {
    // Each answer is followed by an unannounced close.
    let puppet = Puppet::start(|_| Act::SendAndClose(ok()));
    // The rate is so low that the server has closed before the next request, even after a delay.
    let tally = run(&open(&puppet.url(), 5.0, 5)).snapshot.tally;
    assert_eq!((tally.responses, puppet.seen()), (5, 5), "{tally:?}");
}

#[test]
fn a_body_larger_than_any_buffer_is_read_to_its_end() {
    const LENGTH: usize = 50_000_000;
    let puppet = Puppet::start(|_| {
        let mut bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n").into_bytes();
        bytes.resize(bytes.len() + LENGTH, b'x');
        Act::Send(bytes)
    });
    let measured = run(&closed(&puppet.url(), 1, 2));
    assert_eq!(measured.snapshot.tally.responses, 2);
    assert!(measured.snapshot.bytes_in > 2 * LENGTH as u64);
}

#[test]
fn a_request_larger_than_the_socket_takes_is_sent_whole() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let mut plan = closed(&puppet.url(), 2, 6);
    plan.target = Target::resolve(Method::Other("POST".into()), &puppet.url(), &[], vec![b'x'; 20_000_000]).unwrap();
    assert_eq!(run(&plan).snapshot.tally.responses, 6);
}

#[test]
fn an_answer_to_head_has_no_body() {
    let puppet = Puppet::start(|_| answer("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"));
    let mut plan = open(&puppet.url(), 200.0, 10);
    plan.target = Target::resolve(Method::Head, &puppet.url(), &[], Vec::new()).unwrap();
    // An arrival during a pause of the machine would open a second connection.
    plan.workload.limits.connections = Some(1);
    assert_eq!(run(&plan).snapshot.tally.responses, 10);
    assert_eq!(puppet.connections.load(std::sync::atomic::Ordering::SeqCst), 1, "the connection is kept");
}
