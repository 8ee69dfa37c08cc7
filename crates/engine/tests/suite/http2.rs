//! HTTP/2 on sockets: requests arrive as planned, limits are kept, and everything that the server does is in the books.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::http2::{Honest, in_http2};
use crate::support::raw_http2::{
    DATA, GOAWAY, HEADERS, Heard, PING, RST_STREAM, Raw, SETTINGS, Say, WINDOW_UPDATE, frame, ok,
};
use crate::support::script::both;
use crate::support::{DRAIN, TIMEOUT, closed, ends_early_by, open, run};
use truetail_engine::{
    AddressOverrides, FeedOrder, Method, Origin, Plan, Request, RequestSet, Target, TargetRequests, TlsOptions,
    preflight,
};
use truetail_model::record::{Cause, Metric, Outcome};
use truetail_model::time::Nanos;
use truetail_model::trace::{TraceFormat, TraceIds};
use truetail_reactor::stamps;
use truetail_run::{EndClock, TraceFacts};

const NOTHING: Duration = Duration::ZERO;

fn settings(list: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> =
        list.iter().flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()).collect();
    frame(SETTINGS, 0, 0, &payload)
}

/// Answers complete requests as soon as they arrive.
fn answer(heard: &Heard) -> Say {
    Say::Bytes(if heard.ends_request() { ok(heard.stream) } else { Vec::new() })
}

#[test]
fn every_arrival_is_asked_once_and_answered_on_one_connection() {
    let server = Honest::start(100, NOTHING, vec![b'x'; 300]);
    let measured = run(&in_http2(open(&server.url(), 2000.0, 400)));
    assert_eq!((measured.snapshot.tally.responses, server.seen()), (400, 400));
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
    assert_eq!((measured.generator.connections_opened, measured.generator.connections_peak), (1, 1));
    assert_eq!(measured.snapshot.statuses.get(&200), Some(&400));
    assert!(measured.snapshot.bytes_in > 400 * (300 + 2 * 9), "{}", measured.snapshot.bytes_in);
    assert_eq!(measured.snapshot.metric(Metric::ConnectTime).count(), 1, "one request opened the connection");
    let measured = run(&in_http2(closed(&server.url(), 20, 500)));
    assert_eq!(measured.snapshot.tally.responses, 500);
}

#[test]
fn answers_bear_the_kernels_stamp() {
    let server = Honest::start(100, NOTHING, b"ok".to_vec());
    let measured = run(&in_http2(open(&server.url(), 500.0, 100)));
    if !stamps::ARE_AVAILABLE {
        return assert_eq!((measured.generator.end_clock, measured.generator.unstamped), (EndClock::User, 0));
    }
    let stamped = measured.snapshot.metric(Metric::ReadLag).count();
    // A stamp is missing only if it was implausible for a moment, for example because a segment was late.
    assert!(stamped > 0, "{} unstamped", measured.generator.unstamped);
    assert_eq!(stamped + measured.generator.unstamped, 100);
}

#[test]
fn in_batches_answers_wake_the_worker_and_requests_wait_for_their_tick() {
    let server = Honest::start(100, NOTHING, b"ok".to_vec());
    let mut plan = in_http2(open(&server.url(), 5000.0, 500));
    plan.precision.timing = truetail_run::Timing::Cheap;
    let measured = run(&plan);
    assert_eq!((measured.snapshot.tally.responses, server.seen()), (500, 500));
}

#[test]
fn requests_are_spread_over_the_requested_number_of_connections() {
    let server = Honest::start(100, NOTHING, b"ok".to_vec());
    let mut plan = in_http2(open(&server.url(), 2000.0, 200));
    plan.workload.limits.connections = Some(4);
    let measured = run(&plan);
    assert_eq!((measured.snapshot.tally.responses, measured.generator.connections_opened), (200, 4));
    assert_eq!(server.connections.load(Ordering::SeqCst), 4);
}

#[test]
fn arrivals_wait_for_the_only_stream_with_their_intended_start() {
    let each = Duration::from_millis(10);
    let server = Honest::start(1, each, b"ok".to_vec());
    // One arrival per millisecond, and each takes 10 ms: the last of fifty waits for the earlier ones.
    let measured = run(&in_http2(open(&server.url(), 1000.0, 50)));
    assert_eq!((measured.snapshot.tally.responses, server.at_once.load(Ordering::SeqCst)), (50, 1));
    let metric = |metric| measured.snapshot.metric(metric).max().unwrap();
    let least = Nanos::from_millis(50 * 10 - 50);
    assert!(metric(Metric::ResponseTime) >= least, "{}", metric(Metric::ResponseTime));
    // Pauses of the machine are not part of the wait.
    let wait = metric(Metric::ConnectionWait);
    let paused = Nanos(measured.generator.paused_ns);
    assert!(wait + paused >= Nanos::from_millis(50 * 10 - 60), "{wait}, paused {paused}");
    let fastest = measured.snapshot.metric(Metric::ServiceTime).min().unwrap();
    let early = ends_early_by(&measured);
    assert!(
        fastest + early >= Nanos::from_millis(10) && fastest < least,
        "a service time is that of one request: {fastest}, paused {paused}"
    );
}

#[test]
fn the_users_own_limit_on_streams_is_kept() {
    let server = Honest::start(100, Duration::from_millis(5), b"ok".to_vec());
    let mut plan = in_http2(closed(&server.url(), 20, 100));
    (plan.max_streams, plan.threads) = (Some(3), Some(1));
    assert_eq!(run(&plan).snapshot.tally.responses, 100);
    assert!(server.at_once.load(Ordering::SeqCst) <= 3);
}

#[test]
fn methods_headers_and_bodies_arrive_as_they_were_written() {
    let server = Honest::start(100, NOTHING, Vec::new());
    let origin = Origin { scheme: "http".into(), host: "127.0.0.1".into(), port: server.address.port() };
    let prepared = |method: &str, path: &str, header: &str, bodies: &[&[u8]]| {
        let (method, url): (Method, _) = (method.parse().unwrap(), format!("{origin}{path}"));
        let mut prepared = TargetRequests::new(method.clone(), url.clone(), 1);
        for body in bodies {
            let headers = [format!("X-Test: {header}"), "X-Same: same".to_owned()];
            prepared.push(&Request::new(method.clone(), &url, &headers, body.to_vec()).unwrap().parts());
        }
        prepared
    };
    let targets =
        vec![prepared("GET", "/a?b=c", "one", &[b""]), prepared("PUT", "/", "two", &[b"abc", b"", &[b'x'; 70_000]])];
    let requests = RequestSet::new(targets, 3, FeedOrder::InOrder, 1).unwrap();
    let plan = in_http2(Plan::new(
        open(&server.url(), 1000.0, 90).workload,
        Target::for_origin(requests.clone(), origin, &AddressOverrides::default()).unwrap(),
    ));
    let ways = both(plan);
    for mut plan in ways.clone() {
        assert_eq!(preflight(&mut plan.target, Nanos::from_secs(10)).unwrap().status, Some(200));
        assert_eq!(run(&plan).snapshot.tally.responses, 90);
    }
    let mut wanted: Vec<String> = ways
        .iter()
        .flat_map(|_| 0..90)
        .map(|index| {
            let which = requests.choose(index);
            let (method, path, header) = [("GET", "a?b=c", "one"), ("PUT", "", "two")][which.target as usize];
            let length = if which.target == 0 { 0 } else { [3, 0, 70_000][which.row as usize] };
            format!("{method} {}{path} {header} {length}", server.url())
        })
        .collect();
    let mut asked = server.asked.lock().unwrap().clone();
    wanted.sort();
    asked.sort();
    assert_eq!(asked, wanted);
}

#[test]
fn each_request_has_its_trace_id() {
    let server = Honest::start(100, NOTHING, Vec::new());
    let facts = TraceFacts::new(77, TraceFormat::W3c, 0.5, None);
    let ids = facts.ids().unwrap();
    let header = format!("traceparent: {}", ids.format().placeholder());
    let mut target = Target::resolve(Method::Get, &server.url(), &[header], Vec::new()).unwrap();
    target.trace(facts.clone()).unwrap();
    let plan = in_http2(Plan::new(open(&server.url(), 1000.0, 60).workload, target));
    for plan in both(plan) {
        assert_eq!(run(&plan).snapshot.tally.responses, 60);
        let mut sent = std::mem::take(&mut *server.traces.lock().unwrap());
        let mut expected: Vec<String> = (0..60).map(|index| value(ids, index)).collect();
        sent.sort();
        expected.sort();
        assert_eq!(sent, expected);
    }
    let without = Target::resolve(Method::Get, &server.url(), &["Traceparent: 00-1".to_owned()], Vec::new());
    let refused = without.unwrap().trace(facts).unwrap_err().to_string();
    assert!(refused.contains("has the header traceparent already"), "{refused}");
}

/// Returns the value of the trace header of a request.
fn value(ids: TraceIds, index: u64) -> String {
    let trace = ids.trace_id(index);
    format!("00-{trace}-{}-0{}", &trace[16..], u8::from(ids.is_sampled(index)))
}

#[test]
fn a_large_body_waits_for_the_servers_windows() {
    let server = Honest::start(10, NOTHING, vec![b'x'; 3_000_000]);
    let mut plan = open(&server.url(), 20.0, 6);
    plan.target = Target::resolve("POST".parse().unwrap(), &server.url(), &[], vec![b'y'; 2_000_000]).unwrap();
    for plan in both(in_http2(plan)) {
        let measured = run(&plan);
        assert_eq!(measured.snapshot.tally.responses, 6);
        assert!(measured.snapshot.bytes_in > 6 * 3_000_000);
    }
    assert!(server.asked.lock().unwrap().iter().all(|asked| asked.ends_with(" 2000000")));
}

#[test]
fn a_body_without_a_window_times_out_and_others_continue() {
    let blocked = |_: u64, heard: &Heard| match heard.kind {
        // Its window for bodies is too small and is never opened.
        HEADERS if heard.stream == 1 => Say::Bytes(Vec::new()),
        _ => answer(heard),
    };
    let server = Raw::start(settings(&[(4, 10)]), blocked);
    let mut plan = closed(&server.url(), 1, 3);
    plan.target = Target::resolve("POST".parse().unwrap(), &server.url(), &[], vec![b'y'; 100_000]).unwrap();
    let mut plan = in_http2(plan);
    plan.workload.limits.timeout = Some(Nanos::from_millis(300));
    let measured = run(&plan);
    assert_eq!((measured.snapshot.tally.timed_out, measured.generator.connections_opened), (3, 1));
}

#[test]
fn a_timed_out_request_is_cancelled_and_its_connection_stays() {
    let cancelled = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&cancelled);
    let server = Raw::start(settings(&[]), move |_, heard| match (heard.kind, heard.stream) {
        (HEADERS, 3) => Say::Bytes(frame(HEADERS, 4, 3, &[0x88])),
        (RST_STREAM, 3) => {
            seen.fetch_add(u64::from(heard.payload == [0, 0, 0, 8]), Ordering::SeqCst);
            // Late frames are ignored.
            Say::Bytes(frame(DATA, 1, 3, b"late"))
        }
        _ => answer(heard),
    });
    let mut plan = in_http2(open(&server.url(), 50.0, 40));
    plan.workload.limits.timeout = Some(TIMEOUT);
    let measured = run(&plan);
    assert_eq!((measured.snapshot.tally.responses, measured.snapshot.tally.timed_out), (39, 1));
    assert_eq!(measured.generator.connections_opened, 1);
    // The reset is the last frame that is sent, so the server may receive it after the run.
    let patience = Instant::now() + Duration::from_secs(20);
    while cancelled.load(Ordering::SeqCst) == 0 && Instant::now() < patience {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(cancelled.load(Ordering::SeqCst), 1);
    assert!(measured.snapshot.metric(Metric::Censored).min().unwrap() >= TIMEOUT);
}

/// Runs ten requests one at a time; stream 7 (the fourth) gets these bytes. Returns its outcome and the number of
/// connections, with requests made before the run and with requests made during it.
fn outcomes_of(bytes: Vec<u8>) -> [(Outcome, u64); 2] {
    [0, 1].map(|which| outcome_of(bytes.clone(), which))
}

fn outcome_of(bytes: Vec<u8>, which: usize) -> (Outcome, u64) {
    let server = Raw::start(settings(&[(3, 1)]), move |connection, heard| match heard.stream {
        7 if connection == 0 && heard.ends_request() => Say::Bytes(bytes.clone()),
        _ => answer(heard),
    });
    let measured = run(&both(in_http2(open(&server.url(), 200.0, 10)))[which]);
    let outcomes: Vec<_> =
        measured.snapshot.samples.even().iter().map(|record| (record.index, record.outcome)).collect();
    let others = outcomes.iter().filter(|(index, _)| *index != 3);
    assert!(others.clone().count() == 9 && others.clone().all(|(_, outcome)| outcome.is_response()), "{outcomes:?}");
    (outcomes.iter().find(|(index, _)| *index == 3).unwrap().1, measured.generator.connections_opened)
}

#[test]
fn what_a_server_does_to_one_request_is_its_outcome() {
    let reset = |code: u32| frame(RST_STREAM, 0, 7, &code.to_be_bytes());
    let head = || frame(HEADERS, 4, 7, &[0x88]);
    for (bytes, outcome, connections) in [
        (reset(8), Outcome::Reset(Cause::StreamReset), 1),
        (reset(7), Outcome::Reset(Cause::StreamRefused), 1),
        ([head(), reset(2)].concat(), Outcome::Malformed(Cause::StreamReset), 1),
        (frame(HEADERS, 4, 7, &[0x82]), Outcome::Malformed(Cause::BadHead), 1),
        (ok(7), Outcome::response(200), 1),
        ([frame(PING, 0, 0, b"12345678"), ok(7)].concat(), Outcome::response(200), 1),
        // These end the connection, and the next request opens another one.
        (frame(DATA, 1, 9, b"x"), Outcome::Reset(Cause::Http2Protocol), 2),
        ([head(), frame(HEADERS, 4, 7, &[0xff; 9])].concat(), Outcome::Malformed(Cause::BadHead), 2),
        (frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]), Outcome::Reset(Cause::Http2Window), 2),
        ([ok(7), frame(DATA, 0, 7, b"late")].concat(), Outcome::response(200), 2),
    ] {
        assert_eq!(outcomes_of(bytes.clone()), [(outcome, connections); 2], "{bytes:?}");
    }
}

#[test]
fn unprocessed_requests_are_sent_again_after_a_goaway() {
    // The first connection accepts ten requests, goes away when the eleventh arrives, and then answers the ten.
    let going = |connection: u64, heard: &Heard| match heard.stream {
        _ if connection > 0 || !heard.ends_request() => answer(heard),
        21 => {
            let goaway = frame(GOAWAY, 0, 0, &[0, 0, 0, 19, 0, 0, 0, 0]);
            Say::Bytes((0..10).fold(goaway, |all, nth| [all, ok(nth * 2 + 1)].concat()))
        }
        _ => Say::Bytes(Vec::new()),
    };
    for which in [0, 1] {
        let server = Raw::start(settings(&[(3, 100)]), going);
        let mut plan = in_http2(open(&server.url(), 200.0, 30));
        plan.workload.limits.timeout = Some(Nanos::from_secs(5));
        let measured = run(&both(plan)[which]);
        assert_eq!(measured.snapshot.tally.responses, 30, "{:?}", measured.snapshot.tally);
        // Requests that were sent before the GOAWAY arrived are sent again like the eleventh.
        let again = measured.generator.streams.unwrap().sent_again;
        assert!((1..=20).contains(&again), "{again}");
        assert_eq!(server.connections.load(Ordering::SeqCst), 2);
    }
}

/// It goes away from each connection without accepting a request. Each connection costs only its opener.
#[test]
fn a_server_that_always_goes_away_is_not_asked_for_ever() {
    for which in [0, 1] {
        let server = Raw::start(settings(&[(3, 100)]), |_, heard| match heard.ends_request() {
            true => Say::Close(frame(GOAWAY, 0, 0, &[0; 8])),
            false => Say::Bytes(Vec::new()),
        });
        let tally = run(&both(in_http2(open(&server.url(), 200.0, 20)))[which]).snapshot.tally;
        assert_eq!((tally.planned, tally.reset), (20, 20), "{tally:?}");
        assert_eq!(server.connections.load(Ordering::SeqCst), 20);
    }
}

#[test]
fn a_connection_that_is_cut_takes_its_requests_with_it() {
    let cut = |connection: u64, heard: &Heard| match heard.stream {
        9 if connection == 0 && heard.ends_request() => Say::Close(frame(HEADERS, 4, 9, &[0x88])),
        7 if connection == 0 => Say::Bytes(Vec::new()),
        _ => answer(heard),
    };
    for which in [0, 1] {
        let server = Raw::start(settings(&[]), cut);
        let tally = run(&both(in_http2(open(&server.url(), 200.0, 20)))[which]).snapshot.tally;
        assert_eq!((tally.planned, tally.malformed), (20, 1), "{tally:?}");
        // The fourth is lost with the connection, and also requests that were sent after the fifth by then.
        assert!(tally.reset >= 1 && tally.responses >= 3 && tally.reset + tally.responses == 19, "{tally:?}");
    }
}

#[test]
fn a_server_that_speaks_something_else_is_told_so() {
    let puppet = crate::support::Puppet::start(|_| crate::support::Act::SendAndClose(crate::support::ok()));
    let mut plan = in_http2(open(&puppet.url(), 500.0, 10));
    let tally = run(&plan).snapshot.tally;
    assert_eq!((tally.planned, tally.responses), (10, 0), "{tally:?}");
    let asked = preflight(&mut plan.target, Nanos::from_secs(10)).unwrap_err().to_string();
    assert!(asked.contains("did not answer in HTTP/2"), "{asked}");
}

#[test]
fn nobody_listening_is_connect_failed_for_each_arrival() {
    let (_held, address) = crate::support::nobody();
    let measured = run(&in_http2(open(&format!("http://{address}/"), 1000.0, 50)));
    assert_eq!((measured.snapshot.tally.planned, measured.snapshot.tally.connect_failed), (50, 50));
    assert_eq!(measured.snapshot.causes.get(&Cause::Refused), Some(&50));
}

/// Relays one connection to `server`, and then closes the listener.
fn one_connection_to(server: std::net::SocketAddr) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut from = listener.accept().unwrap().0;
        let mut to = TcpStream::connect(server).unwrap();
        drop(listener);
        let mut back = to.try_clone().unwrap();
        let mut forth = from.try_clone().unwrap();
        thread::spawn(move || std::io::copy(&mut back, &mut forth));
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
    address
}

#[test]
fn a_failed_connect_costs_one_request_while_others_have_room() {
    let server = Honest::start(100, NOTHING, b"ok".to_vec());
    let mut plan = in_http2(open(&format!("http://{}/", one_connection_to(server.address)), 400.0, 100));
    (plan.workload.limits.connections, plan.threads) = (Some(2), Some(1));
    let tally = run(&plan).snapshot.tally;
    // The kernel may accept the second connection into the backlog and reset it with its requests, at most half of all.
    // The next attempt is a second later.
    assert!(tally.planned == 100 && tally.responses >= 50, "{tally:?}");
    assert!(tally.connect_failed + tally.reset >= 1, "{tally:?}");
}

/// Listens in front of `server`. The first connection receives `first` and is closed after a while without being read.
/// Later connections lead to the server.
fn behind_a_black_hole(server: SocketAddr, first: Vec<u8>, time: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut black_hole = listener.accept().unwrap().0;
        std::io::Write::write_all(&mut black_hole, &first).unwrap();
        thread::spawn(move || {
            thread::sleep(time);
            drop(black_hole);
        });
        for from in listener.incoming().flatten() {
            let to = TcpStream::connect(server).unwrap();
            let mut back = to.try_clone().unwrap();
            let mut forth = from.try_clone().unwrap();
            thread::spawn(move || std::io::copy(&mut back, &mut forth));
            thread::spawn(move || std::io::copy(&mut &from, &mut &to));
        }
    });
    address
}

#[test]
fn unsent_requests_of_a_lost_connection_go_to_the_next() {
    let server = Honest::start(1000, NOTHING, b"ok".to_vec());
    let address = behind_a_black_hole(server.address, settings(&[]), Duration::from_secs(3));
    // 16 MB of requests; the sockets take 10 MB and the session 1 MB.
    let mut plan = in_http2(open(&format!("http://{address}/"), 5000.0, 2000));
    let bulky = [format!("A: {}", "x".repeat(8000))];
    plan.target = Target::resolve(Method::Get, &format!("http://{address}/"), &bulky, Vec::new()).unwrap();
    plan.target.use_http2().unwrap();
    plan.workload.limits.timeout = Some(Nanos::from_secs(30));
    (plan.workload.limits.drain, plan.threads) = (Nanos::from_secs(30), Some(1));
    let measured = run(&plan);
    let tally = measured.snapshot.tally;
    let snapshot = &measured.snapshot;
    assert_eq!((tally.planned, tally.responses + tally.reset), (2000, 2000), "{tally:?}");
    assert!(tally.responses > 0 && tally.reset > 0, "{tally:?}");
    assert_eq!((tally.responses, measured.generator.connections_opened), (server.seen(), 2));
    // The kernel accepted both connections at once. Requests on the second had waited for the end of the first. Neither
    // that wait nor the wait of later requests is part of the time to connect. The wait is most of three seconds, minus
    // pauses of the machine, which may be part of connecting.
    let connect = snapshot.metric(Metric::ConnectTime);
    assert_eq!(connect.count(), 2);
    assert!(connect.max().unwrap() < Nanos::from_millis(1500), "{}", connect.max().unwrap());
    let waited = snapshot.metric(Metric::ConnectionWait).max().unwrap();
    let paused = measured.generator.paused_ns;
    assert!(waited + Nanos(paused) >= Nanos::from_millis(1500), "{waited}, paused {paused} ns");
}

#[test]
fn a_connection_that_never_opens_costs_only_its_opener() {
    let server = Honest::over(Some(crate::support::tls::usual()), 100, NOTHING, b"ok".to_vec());
    let address = behind_a_black_hole(server.address, Vec::new(), Duration::from_secs(60));
    // All requests are due within 0.3 s, and wait for the first, which waits for the end of its TLS handshake.
    let mut plan = in_http2(open(&format!("https://{address}/"), 200.0, 60));
    (plan.workload.limits.timeout, plan.workload.limits.drain) = (Some(Nanos::from_secs(3)), Nanos::from_secs(30));
    plan.threads = Some(1);
    let measured = run(&crate::support::tls::secured(plan, &TlsOptions { insecure: true, ..TlsOptions::default() }));
    let tally = measured.snapshot.tally;
    let snapshot = &measured.snapshot;
    assert_eq!((tally.planned, tally.responses, tally.timed_out), (60, 59, 1), "{tally:?}");
    let first = snapshot.samples.even().iter().find(|record| record.index == 0).unwrap();
    assert_eq!((first.outcome, first.connected), (Outcome::TimedOut, false));
    // The second request opened the next connection when the first was given up; that wait is not part of its time to
    // connect.
    let connect = snapshot.metric(Metric::ConnectTime);
    // The wait is most of three seconds, minus pauses of the machine, which may be part of connecting.
    assert!(connect.count() == 1 && connect.max().unwrap() < Nanos::from_millis(1500), "{connect:?}");
    let waited = snapshot.metric(Metric::ConnectionWait).max().unwrap();
    let paused = measured.generator.paused_ns;
    assert!(waited + Nanos(paused) >= Nanos::from_millis(1500), "{waited}, paused {paused} ns");
}

#[test]
fn a_server_that_does_not_read_gets_no_more_than_fits() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut socket = listener.accept().unwrap().0;
        std::io::Write::write_all(&mut socket, &settings(&[])).unwrap();
        thread::sleep(Duration::from_secs(30));
    });
    // 40 MB of requests; the sockets take 10 MB and the session 1 MB.
    let mut plan = in_http2(open(&url, 5000.0, 5000));
    let bulky = [format!("A: {}", "x".repeat(8000))];
    plan.target = Target::resolve(Method::Get, &url, &bulky, Vec::new()).unwrap();
    plan.target.use_http2().unwrap();
    (plan.workload.limits.timeout, plan.workload.limits.drain) =
        (Some(Nanos::from_millis(100)), Nanos::from_millis(300));
    plan.threads = Some(1);
    let tally = run(&plan).snapshot.tally;
    assert_eq!((tally.planned, tally.responses), (5000, 0), "{tally:?}");
    assert!(tally.timed_out > 100 && tally.never_issued > 1000, "{tally:?}");
}

#[test]
fn a_run_that_is_over_counts_out_what_is_in_flight() {
    let server = Raw::start(settings(&[]), |_, _| Say::Bytes(Vec::new()));
    let mut plan = in_http2(open(&server.url(), 1000.0, 30));
    plan.workload.limits.drain = DRAIN;
    let tally = run(&plan).snapshot.tally;
    assert_eq!((tally.planned, tally.in_flight_at_end), (30, 30));
    // The server allows no requests, and only the one that opened the connection is sent.
    let server = Raw::start(settings(&[(3, 0)]), |_, heard| answer(heard));
    let mut plan = in_http2(open(&server.url(), 1000.0, 30));
    plan.workload.limits.drain = DRAIN;
    let tally = run(&plan).snapshot.tally;
    assert_eq!((tally.planned, tally.responses, tally.never_issued), (30, 1, 29));
}
