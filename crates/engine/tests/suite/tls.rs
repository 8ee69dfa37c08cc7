//! Over TLS each arrival has the same outcome as over TCP, each failed handshake has its cause, and the books balance.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::support::tls::{self, Act, TlsPuppet, config, insecure, listen, secured, trusting, usual, valid};
use crate::support::{Puppet, TIMEOUT, closed, ends_early_by, ok, open, run};
use truetail_engine::{Method, Plan, PreflightError, RunOutput, Target, TlsFault, TlsOptions, preflight};
use truetail_model::record::{Cause, Metric, Outcome, Tally};
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModel;
use truetail_reactor::stamps;

const EACH: u64 = 12;

fn run_at(url: &str, options: &TlsOptions) -> RunOutput {
    run(&secured(open(url, 400.0, EACH), options))
}

fn at(count: &AtomicU64) -> u64 {
    count.load(Ordering::SeqCst)
}

/// Returns the single cause of all arrivals. No arrival may have been answered.
fn cause_of_all(measured: &RunOutput, tally: impl Fn(&Tally) -> u64) -> Cause {
    let snapshot = &measured.snapshot;
    assert_eq!(
        (tally(&snapshot.tally), snapshot.causes.len()),
        (EACH, 1),
        "{:?} {:?}",
        snapshot.tally,
        snapshot.causes
    );
    *snapshot.causes.first_key_value().unwrap().0
}

fn connect_failed(measured: &RunOutput) -> Cause {
    cause_of_all(measured, |tally| tally.connect_failed)
}

fn ask(url: &str, options: &TlsOptions) -> Result<u16, PreflightError> {
    let mut target = Target::resolve(Method::Get, url, &[], Vec::new()).unwrap();
    target.secure(options).unwrap();
    preflight(&mut target, Nanos::from_secs(10)).map(|met| met.status.unwrap())
}

fn fault(url: &str, options: &TlsOptions) -> TlsFault {
    match ask(url, options) {
        Err(PreflightError::Tls { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn five_hundred_requests_and_every_count_agrees() {
    for versions in [&[&rustls::version::TLS12], &[&rustls::version::TLS13]] {
        let puppet = TlsPuppet::start(config(&valid(), false, versions), |_| Act::Send(ok()));
        let measured = run(&secured(open(&puppet.url(), 1000.0, 500), &trusting()));
        let snapshot = &measured.snapshot;
        assert_eq!((snapshot.tally.responses, at(&puppet.requests)), (500, 500));
        let opened = at(&puppet.connections);
        assert_eq!(measured.generator.connections_opened, opened);
        assert!(opened < 500, "connections are kept");
        let connects = snapshot.metric(Metric::ConnectTime);
        let handshakes = snapshot.metric(Metric::TlsHandshakeTime);
        assert_eq!((connects.count(), handshakes.count()), (opened, opened));
        assert!(handshakes.max() <= connects.max());
        let parts = snapshot.samples.even().iter().filter_map(|r| Some((r.tls_handshake?, r.delay.connect)));
        parts.for_each(|(handshake, connect)| assert!(handshake <= connect, "{handshake} of {connect}"));
        assert_eq!(snapshot.bytes_in, 500 * ok().len() as u64, "what is counted is the answer, not how it was sealed");
    }
}

#[test]
fn whom_it_trusts() {
    let server =
        |pair: &tls::Pair| TlsPuppet::start(config(pair, false, rustls::ALL_VERSIONS), |_| Act::Send(ok())).url();
    let other = tls::signed(&["other.test"], |_| ());
    let soon = tls::signed(&["127.0.0.1"], |params| params.not_before = rcgen::date_time_ymd(2900, 1, 1));
    for (pair, expected) in [
        (tls::self_signed(), TlsFault::UnknownIssuer),
        (tls::for_authority(), TlsFault::OfAnAuthority),
        (tls::expired(), TlsFault::Expired),
        (soon, TlsFault::NotYetValid),
    ] {
        let url = server(&pair);
        assert_eq!(fault(&url, &trusting()), expected);
        assert_eq!(connect_failed(&run_at(&url, &trusting())), Cause::Tls, "{expected}");
        assert_eq!(ask(&url, &insecure()), Ok(200), "{expected}");
        assert_eq!(run_at(&url, &insecure()).snapshot.tally.responses, EACH, "{expected}");
    }
    let wrong = fault(&server(&other), &trusting());
    assert!(matches!(wrong, TlsFault::WrongName { .. }) && wrong.to_string().contains("other.test"), "{wrong}");
    assert_eq!(connect_failed(&run_at(&server(&other), &trusting())), Cause::Tls);
    let url = server(&valid());
    assert_eq!((ask(&url, &trusting()), ask(&url.replace("127.0.0.1", "localhost"), &trusting())), (Ok(200), Ok(200)));
    assert_eq!(run_at(&url, &trusting()).snapshot.tally.responses, EACH);
}

#[test]
fn a_server_that_wants_to_know_its_client() {
    for versions in [&[&rustls::version::TLS12], &[&rustls::version::TLS13]] {
        let url = TlsPuppet::start(config(&valid(), true, versions), |_| Act::Send(ok())).url();
        let known = TlsOptions { identity: Some(tls::for_client().identity()), ..trusting() };
        assert_eq!(ask(&url, &known), Ok(200));
        assert_eq!(run_at(&url, &known).snapshot.tally.responses, EACH);
        assert_eq!(connect_failed(&run_at(&url, &trusting())), Cause::Tls, "{versions:?}");
        assert!(ask(&url, &trusting()).is_err(), "{versions:?}");
        let stranger = TlsOptions { identity: Some(tls::self_signed().identity()), ..trusting() };
        assert_eq!(connect_failed(&run_at(&url, &stranger)), Cause::Tls, "{versions:?}");
    }
}

#[test]
fn a_handshake_that_does_not_come_about() {
    let answering = |bytes: &'static [u8]| {
        format!(
            "https://{}/",
            listen(move |mut socket| {
                let _ = socket.write_all(bytes);
                let _ = io::copy(&mut socket, &mut io::sink());
            })
        )
    };
    for garbage in [&b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"[..], b"SSH-2.0-OpenSSH_9.9\r\n", &[0; 64]]
    {
        let url = answering(garbage);
        assert_eq!(fault(&url, &trusting()), TlsFault::NotTls);
        assert_eq!(connect_failed(&run_at(&url, &trusting())), Cause::Tls);
    }
    let closing = format!("https://{}/", listen(|mut socket| drop(socket.read(&mut [0; 4096]))));
    assert_eq!(fault(&closing, &trusting()), TlsFault::Ended);
    assert_eq!(connect_failed(&run_at(&closing, &trusting())), Cause::Tls);
    let resetting = format!(
        "https://{}/",
        listen(|mut socket| {
            let _ = socket.read(&mut [0; 16]);
            socket2::SockRef::from(&socket).set_linger(Some(Duration::ZERO)).unwrap();
        })
    );
    assert_eq!(connect_failed(&run_at(&resetting, &trusting())), Cause::ResetInHandshake);
    assert_eq!(fault(&resetting, &trusting()), TlsFault::Ended);
    let silent = answering(b"");
    let mut plan = secured(open(&silent, 400.0, EACH), &trusting());
    plan.workload.limits.timeout = Some(Nanos::from_millis(300));
    let measured = run(&plan);
    assert_eq!(measured.snapshot.tally.timed_out, EACH, "the timeout includes the handshake");
    assert!(measured.snapshot.metric(Metric::TlsHandshakeTime).is_empty());
}

/// Returns the outcome of one request.
fn outcome_over_tls(act: Act) -> Outcome {
    let puppet = TlsPuppet::start(usual(), move |_| act.clone());
    let measured = run(&secured(closed(&puppet.url(), 1, 1), &trusting()));
    only(&measured)
}

fn only(measured: &RunOutput) -> Outcome {
    let [record] = measured.snapshot.samples.even() else { panic!("{:?}", measured.snapshot.tally) };
    record.outcome
}

#[test]
fn the_same_answers_have_the_same_outcomes_as_over_tcp() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "220 mail.example ESMTP\r\n",
    ] {
        let bytes = answer.as_bytes().to_vec();
        let sent = bytes.clone();
        let plain = only(&run(&closed(&Puppet::start(move |_| crate::support::Act::Send(sent.clone())).url(), 1, 1)));
        assert_eq!(outcome_over_tls(Act::Send(bytes.clone())), plain, "{answer}");
        if plain.is_response() {
            assert_eq!(outcome_over_tls(Act::Drip(bytes.clone())), plain, "record by record: {answer}");
            assert_eq!(outcome_over_tls(Act::SendAndClose(bytes)), plain, "{answer}");
        }
    }
}

#[test]
fn an_end_without_a_goodbye_ends_no_answer_that_needs_its_end() {
    let until_close = b"HTTP/1.1 200 OK\r\n\r\nuntil the end".to_vec();
    let response = Outcome::response(200);
    assert_eq!(outcome_over_tls(Act::SendAndClose(until_close.clone())), response);
    assert_eq!(outcome_over_tls(Act::SendAndCut(until_close.clone())), Outcome::Malformed(Cause::Truncated));
    assert_eq!(outcome_over_tls(Act::SendAndCut(ok())), response, "its length says that it is whole");
    assert_eq!(outcome_over_tls(Act::SendAndCut(b"HTTP/1.1 2".to_vec())), Outcome::Malformed(Cause::Truncated));
    assert_eq!(outcome_over_tls(Act::SendAndClose(Vec::new())), Outcome::Reset(Cause::ClosedBeforeAnswer));
    assert_eq!(outcome_over_tls(Act::SendAndCut(Vec::new())), Outcome::Reset(Cause::ClosedBeforeAnswer));
    let cut = TlsPuppet::start(usual(), move |_| Act::SendAndCut(until_close.clone()));
    let asked = ask(&cut.url(), &trusting());
    assert!(matches!(asked, Err(PreflightError::NoAnswer { cause: Cause::Truncated, .. })), "{asked:?}");
}

#[test]
fn what_is_no_tls_after_the_handshake() {
    assert_eq!(outcome_over_tls(Act::SendAndBreak(b"HTTP/1.1 2".to_vec())), Outcome::Malformed(Cause::TlsBroken));
    assert_eq!(outcome_over_tls(Act::SendAndBreak(Vec::new())), Outcome::Malformed(Cause::TlsBroken));
    assert_eq!(outcome_over_tls(Act::SendAndBreak(ok())), Outcome::response(200));
}

#[test]
fn one_byte_in_each_segment_from_the_handshake_on() {
    let puppet = TlsPuppet::start_slow(usual(), 1, |_| Act::Send(ok()));
    let measured = run(&secured(closed(&puppet.url(), 2, 10), &trusting()));
    assert_eq!((measured.snapshot.tally.responses, at(&puppet.connections)), (10, 2));
}

#[test]
fn bodies_larger_than_any_buffer() {
    const LENGTH: usize = 5_000_000;
    let puppet = TlsPuppet::start(usual(), |_| {
        let mut bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n").into_bytes();
        bytes.resize(bytes.len() + LENGTH, b'x');
        Act::Send(bytes)
    });
    let mut plan = closed(&puppet.url(), 2, 4);
    plan.target = Target::resolve(Method::Other("POST".into()), &puppet.url(), &[], vec![b'x'; LENGTH]).unwrap();
    let measured = run(&secured(plan, &trusting()));
    assert_eq!((measured.snapshot.tally.responses, at(&puppet.connections)), (4, 2));
    assert!(measured.snapshot.bytes_in > 4 * LENGTH as u64);
}

#[test]
fn a_connection_of_its_own_for_each_request() {
    let one_each = |mut plan: Plan| {
        plan.keep_alive = false;
        run(&plan)
    };
    let plain = Puppet::start(|_| crate::support::Act::Send(ok()));
    let measured = one_each(closed(&plain.url(), 1, 20));
    assert_eq!((measured.snapshot.tally.responses, at(&plain.connections)), (20, 20));
    let puppet = TlsPuppet::start(usual(), |_| Act::Send(ok()));
    let measured = one_each(secured(closed(&puppet.url(), 1, 20), &trusting()));
    assert_eq!((measured.snapshot.tally.responses, at(&puppet.connections)), (20, 20));
    let handshakes = measured.snapshot.metric(Metric::TlsHandshakeTime);
    // During a pause of the worker a handshake seems to take no time, but not all of them.
    assert!(handshakes.count() == 20 && handshakes.max() > Some(Nanos::ZERO));
    assert!(at(&puppet.resumed) > 0, "later handshakes resume a session");
}

/// A browser does not resume sessions of another browser.
#[test]
fn each_session_has_its_connection_and_resumes_no_other() {
    let puppet = TlsPuppet::start(usual(), |_| Act::Send(ok()));
    let mut plan = secured(open(&puppet.url(), 200.0, 20), &trusting());
    let LoadModel::Open(sessions) = plan.workload.model else { unreachable!("an open model") };
    plan.workload.model =
        LoadModel::PartlyOpen { sessions, requests_per_session: 3, think_time: Nanos::from_millis(2) };
    plan.workload.limits.connection_per_session = true;
    let measured = run(&plan);
    assert_eq!((measured.snapshot.tally.responses, at(&puppet.connections), at(&puppet.resumed)), (60, 20, 0));
    assert_eq!(measured.snapshot.metric(Metric::TlsHandshakeTime).count(), 20);
}

/// The service time ends when the kernel has received the last byte of the encrypted answer.
#[test]
fn the_service_time_ends_with_the_last_segment() {
    const PAUSE: Duration = Duration::from_millis(60);
    let puppet = TlsPuppet::start(usual(), |_| Act::InTwo(ok(), PAUSE));
    let measured = run(&secured(closed(&puppet.url(), 1, 5), &trusting()));
    let records = measured.snapshot.samples.even();
    assert_eq!(records.iter().filter(|record| record.outcome.is_response()).count(), 5);
    for record in records {
        assert!(record.service_time() + ends_early_by(&measured) >= PAUSE.into(), "{record:?}");
    }
    assert!(!stamps::ARE_AVAILABLE || records.iter().any(|record| record.read_lag.is_some()), "{records:?}");
}

#[test]
fn a_kept_connection_that_the_server_closes_while_idle_costs_nothing() {
    for act in [Act::SendAndClose(ok()), Act::SendAndCut(ok())] {
        let puppet = TlsPuppet::start(usual(), move |_| act.clone());
        // The rate is so low that the server has closed before the next request, even after a delay.
        let tally = run(&secured(open(&puppet.url(), 5.0, 5), &trusting())).snapshot.tally;
        assert_eq!((tally.responses, at(&puppet.requests)), (5, 5), "{tally:?}");
    }
}

#[test]
fn what_tls_says_for_itself_while_nobody_asks_ends_no_connection() {
    let puppet = TlsPuppet::start(config(&valid(), false, &[&rustls::version::TLS13]), |_| Act::SendAndRekey(ok()));
    let mut plan = secured(closed(&puppet.url(), 1, 8), &trusting());
    let LoadModel::Closed { think_time, .. } = &mut plan.workload.model else { panic!("a closed plan") };
    *think_time = Nanos::from_millis(20);
    let measured = run(&plan);
    assert_eq!((measured.snapshot.tally.responses, at(&puppet.connections)), (8, 1));
}

#[test]
fn a_hung_request_is_timed_out() {
    let puppet = TlsPuppet::start(usual(), |n| if n == 3 { Act::Hang } else { Act::Send(ok()) });
    let mut plan = secured(open(&puppet.url(), 200.0, 10), &trusting());
    plan.workload.limits.timeout = Some(TIMEOUT);
    let tally = run(&plan).snapshot.tally;
    assert_eq!((tally.responses, tally.timed_out), (9, 1), "{tally:?}");
}
