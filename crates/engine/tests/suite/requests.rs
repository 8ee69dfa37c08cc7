//! Tests that the server sees exactly the chosen requests: over TCP, over IPv6, and over a Unix socket.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::support::{DRAIN, closed, open, run};
use truetail_engine::{
    AddressOverrides, Endpoint, FeedOrder, Method, Plan, Request, RequestSet, Target, TargetRequests, preflight,
};
use truetail_model::record::{CompactHistogram, Tally, TargetTimes};
use truetail_model::time::Nanos;
use truetail_run::EndClock;

/// The heads that a server saw, with their counts.
type Seen = Arc<Mutex<BTreeMap<String, u64>>>;

/// Answers each request of a connection. `/missing` gets 404, and HEAD requests get no body.
fn serve(mut stream: impl Read + Write, seen: &Seen) {
    let mut unread = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        while let Some(end) = unread.windows(4).position(|bytes: &[u8]| bytes == b"\r\n\r\n") {
            let head = String::from_utf8(unread.drain(..end + 4).collect()).unwrap();
            let line = head.lines().next().unwrap().to_owned();
            let status = if line.contains("/missing") { "404 Not Found" } else { "200 OK" };
            let body = if line.starts_with("HEAD") { "" } else { "ok" };
            *seen.lock().unwrap().entry(head).or_default() += 1;
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{body}");
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(n) => unread.extend_from_slice(&buffer[..n]),
        }
    }
}

/// Starts a server on an address of this host. It ends with the test process.
fn listen(address: &str) -> (String, Seen) {
    let listener = TcpListener::bind(address).unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            stream.set_nodelay(true).unwrap();
            let seen = Arc::clone(&seen);
            thread::spawn(move || serve(stream, &seen));
        }
    });
    (origin, kept)
}

/// Three targets: weight 3 with five rows, weight 2 with HEAD, and weight 1 that is missing on the server.
fn three(origin: &str, order: FeedOrder, seed: u64) -> RequestSet {
    let request = |method: &Method, path: String| {
        Request::new(method.clone(), &format!("{origin}/{path}"), &[], Vec::new()).unwrap().parts()
    };
    let target = |method: Method, weight, paths: Vec<String>| {
        let mut target = TargetRequests::new(method.clone(), format!("{origin}/{{{{path}}}}"), weight);
        paths.into_iter().for_each(|path| target.push(&request(&method, path)));
        target
    };
    let targets = vec![
        target(Method::Get, 3, (0..5).map(|row| format!("item/{row}")).collect()),
        target(Method::Head, 2, vec!["head".to_owned()]),
        target(Method::Get, 1, vec!["missing".to_owned()]),
    ];
    RequestSet::new(targets, 5, order, seed).unwrap()
}

/// Returns the requests that the choice gives to `arrivals` arrivals, with their counts.
fn expected(requests: &RequestSet, arrivals: u64) -> BTreeMap<String, u64> {
    (0..arrivals).fold(BTreeMap::new(), |mut counts, index| {
        let head = String::from_utf8(requests.bytes(requests.choose(index)).to_vec()).unwrap();
        *counts.entry(head).or_default() += 1;
        counts
    })
}

fn asking(mut plan: Plan, requests: &RequestSet) -> Plan {
    let origin = Request::new(Method::Get, &plan.target.url(), &[], Vec::new()).unwrap().origin();
    plan.target = Target::for_origin(requests.clone(), origin, &AddressOverrides::default()).unwrap();
    plan
}

#[test]
fn the_server_sees_what_the_choice_says_however_many_hands_there_are() {
    for (threads, order, seed) in [(1, FeedOrder::InOrder, 1), (2, FeedOrder::Random, 2), (3, FeedOrder::InOrder, 3)] {
        let (origin, seen) = listen("127.0.0.1:0");
        let requests = three(&origin, order, seed);
        let mut plan = asking(open(&format!("{origin}/"), 3000.0, 600), &requests);
        plan.threads = Some(threads);
        plan.workload.limits.connections = Some(4);
        let measured = run(&plan);
        assert_eq!(measured.snapshot.tally.responses, 600, "{:?}", measured.snapshot.tally);
        assert_eq!(*seen.lock().unwrap(), expected(&requests, 600), "{threads} threads, seed {seed}");
        // Answers to HEAD have no body, so connections are kept only if the client knows that.
        assert!(measured.generator.connections_opened <= 4, "{}", measured.generator.connections_opened);
    }
}

#[test]
fn the_users_of_a_closed_loop_share_the_choice_too() {
    let (origin, seen) = listen("127.0.0.1:0");
    let requests = three(&origin, FeedOrder::Random, 7);
    let mut plan = asking(closed(&format!("{origin}/"), 4, 400), &requests);
    plan.threads = Some(2);
    assert_eq!(run(&plan).snapshot.tally.responses, 400);
    assert_eq!(*seen.lock().unwrap(), expected(&requests, 400));
}

#[test]
fn each_target_has_its_books_and_they_add_up() {
    let (origin, _) = listen("127.0.0.1:0");
    let requests = three(&origin, FeedOrder::InOrder, 5);
    let mut plan = asking(open(&format!("{origin}/"), 2000.0, 300), &requests);
    plan.workload.warmup = Nanos::from_millis(50);
    plan.threads = Some(2);
    let measured = run(&plan);
    let mut sum = Tally::default();
    for (number, books) in measured.by_target.iter().enumerate() {
        books.tally.check().unwrap();
        sum.merge(&books.tally);
        // 2,000/s for 50 ms: the first hundred are warm-up.
        let mine = (100..300).filter(|index| requests.choose(*index).target == number as u32).count() as u64;
        assert_eq!(books.tally.planned, mine, "{}", books.url);
        let status = if number == 2 { 404 } else { 200 };
        assert_eq!(books.statuses, BTreeMap::from([(status, mine)]), "{}", books.url);
    }
    assert_eq!((sum, measured.by_target.len()), (measured.snapshot.tally, 3));
    for metric in TargetTimes::METRICS {
        let of_targets = measured.snapshot.targets.iter().filter_map(|times| times.metric(metric));
        let sum = of_targets.map(CompactHistogram::count).sum::<u64>();
        assert_eq!(sum, measured.snapshot.metric(metric).count(), "{}", metric.name());
    }
    let offered = plan.offered();
    let mix = offered.mix.expect("a mix");
    assert_eq!(mix.targets.iter().map(|target| target.weight).collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!((mix.rows, mix.seed, offered.method), (5, Some(5), None));
    assert_eq!(offered.url, Some(origin));
}

/// Arrivals that are never issued also belong to a target.
#[test]
fn books_by_target_hold_what_was_never_issued() {
    let silent = crate::support::Puppet::start(|_| crate::support::Act::Hang);
    let requests = three(silent.url().trim_end_matches('/'), FeedOrder::InOrder, 1);
    let mut plan = asking(open(&silent.url(), 1000.0, 60), &requests);
    plan.workload.limits.connections = Some(2);
    plan.workload.limits.timeout = None;
    plan.workload.limits.drain = DRAIN;
    let measured = run(&plan);
    assert_eq!(measured.snapshot.tally.never_issued, 58);
    let never: u64 = measured.by_target.iter().map(|books| books.tally.never_issued).sum();
    let in_flight: u64 = measured.by_target.iter().map(|books| books.tally.in_flight_at_end).sum();
    assert_eq!((never, in_flight), (58, 2));
}

#[test]
fn one_request_for_all_has_no_books_by_target() {
    let (origin, seen) = listen("127.0.0.1:0");
    let plan = open(&format!("{origin}/x"), 1000.0, 20);
    let measured = run(&plan);
    assert!(measured.by_target.is_empty() && plan.offered().mix.is_none());
    assert_eq!(*seen.lock().unwrap(), expected(plan.target.requests(), 20));
}

#[test]
fn the_request_before_the_load_is_that_of_arrival_0_and_marked() {
    let (origin, seen) = listen("127.0.0.1:0");
    let requests = three(&origin, FeedOrder::InOrder, 1);
    let mut plan = asking(open(&format!("{origin}/"), 1.0, 1), &requests);
    preflight(&mut plan.target, Nanos::from_secs(10)).unwrap();
    let first = String::from_utf8(requests.bytes(requests.choose(0)).to_vec()).unwrap();
    let marked = first.replace("\r\n\r\n", "\r\ntruetail-preflight: 1\r\n\r\n");
    assert_eq!(*seen.lock().unwrap(), BTreeMap::from([(marked, 1)]));
}

#[test]
fn ipv6_is_asked_by_its_address() {
    let (origin, seen) = listen("[::1]:0");
    let mut plan = open(&format!("{origin}/six"), 1000.0, 30);
    preflight(&mut plan.target, Nanos::from_secs(10)).unwrap();
    assert_eq!(run(&plan).snapshot.tally.responses, 30);
    let host = origin.trim_start_matches("http://").to_owned();
    assert!(seen.lock().unwrap().keys().all(|head| head.contains(&format!("Host: {host}\r\n"))));
}

/// Listens on a socket in this folder, which the test removes at its end.
fn listen_in(folder: &std::path::Path) -> (std::path::PathBuf, Seen) {
    let path = folder.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = Arc::clone(&seen);
            thread::spawn(move || serve(stream, &seen));
        }
    });
    (path, kept)
}

#[test]
fn a_socket_in_the_file_system_is_asked_whatever_the_url_says() {
    let folder = tempfile::tempdir().unwrap();
    let (path, seen) = listen_in(folder.path());
    let request = Request::new(Method::Get, "http://no-such-host.invalid/x", &[], Vec::new()).unwrap();
    let way = AddressOverrides { unix_socket: Some(path.clone()), ..AddressOverrides::default() };
    let mut plan = open("http://127.0.0.1:9/", 1000.0, 50);
    plan.target = Target::for_origin(RequestSet::single(&request), request.origin(), &way).unwrap();
    assert_eq!(preflight(&mut plan.target, Nanos::from_secs(10)).unwrap().status, Some(200));
    let measured = run(&plan);
    assert_eq!((measured.snapshot.tally.responses, plan.target.endpoint()), (50, &Endpoint::Unix(path)));
    // The kernel does not stamp data from Unix sockets, and is not asked to.
    assert_eq!((measured.generator.end_clock, measured.generator.unstamped), (EndClock::User, 0));
    assert_eq!(seen.lock().unwrap().values().sum::<u64>(), 51);
}

#[test]
fn a_socket_that_nobody_listens_on_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    drop(UnixListener::bind(&path).unwrap());
    let request = Request::new(Method::Get, "http://a/", &[], Vec::new()).unwrap();
    let way = AddressOverrides { unix_socket: Some(path), ..AddressOverrides::default() };
    let mut plan = open("http://127.0.0.1:9/", 1000.0, 10);
    plan.target = Target::for_origin(RequestSet::single(&request), request.origin(), &way).unwrap();
    let error = preflight(&mut plan.target, Nanos::from_secs(10)).unwrap_err().to_string();
    assert!(error.contains("the socket ") && error.contains("connection refused"), "{error}");
    assert_eq!(run(&plan).snapshot.tally.connect_failed, 10);
}
