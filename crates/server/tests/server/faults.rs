//! Every fault, from the client's view and in the truth.

use truetail_model::service::{Fault, FaultKind, FaultSet, Gate, Route, Selector, Service};
use truetail_model::time::{Nanos, Timestamp};
use truetail_server::{Ending, TruthRow};

use crate::support::{Client, End, catch_up, endings, faulty, get, stall, start, stop_and_check};

/// Returns the only row of a server after one request, which was answered with 200.
fn ask_once(service: &Service) -> TruthRow {
    let server = start(service.clone());
    let answer = Client::connect(&server).ask(get("/api"));
    assert_eq!((answer.status, answer.body.len()), (200, service.body_bytes as usize));
    let truth = stop_and_check(server, service);
    assert_eq!(endings(&truth), [Ending::Answered]);
    truth.rows[0]
}

fn met(row: &TruthRow) -> Vec<FaultKind> {
    row.faults.iter().collect()
}

#[test]
fn nothing() {
    let row = ask_once(&faulty(vec![]));
    assert_eq!((row.arrived_ns, row.due_ns, row.status), (0, Some(1_000_000), Some(200)));
    assert_eq!(met(&row), []);
}

#[test]
fn a_stall_at_either_side() {
    let row = ask_once(&faulty(vec![stall(Nanos::from_millis(100))]));
    assert_eq!((row.due_ns, met(&row)), (Some(100_000_000), vec![FaultKind::Stall]));
    let entry = Fault::Stall { at: Timestamp::ZERO, length: Nanos::from_millis(100), gate: Gate::Arrivals };
    let row = ask_once(&faulty(vec![entry]));
    assert_eq!((row.due_ns, met(&row)), (Some(101_000_000), vec![FaultKind::Stall]));
}

#[test]
fn a_recurring_stall() {
    let fault = Fault::RecurringStall {
        first: Timestamp::ZERO,
        every: Nanos::from_secs(100),
        length: Nanos::from_millis(50),
        times: None,
        gate: Gate::Answers,
    };
    let row = ask_once(&faulty(vec![fault]));
    assert_eq!((row.due_ns, met(&row)), (Some(50_000_000), vec![FaultKind::RecurringStall]));
}

#[test]
fn a_ramp() {
    let fault = Fault::Ramp { from: Timestamp::ZERO, to: Timestamp(1), target: Nanos::from_millis(40) };
    let service = faulty(vec![fault]);
    let server = start(service.clone());
    let mut client = Client::connect(&server);
    client.ask(get("/api"));
    client.ask(get("/api"));
    let truth = stop_and_check(server, &service);
    let work: Vec<u64> = truth.rows.iter().map(|row| row.due_ns.unwrap() - row.arrived_ns).collect();
    assert_eq!(work, [1_000_000, 40_000_000]);
}

#[test]
fn every_nth() {
    let service = faulty(vec![Fault::EveryNth { every: 3, pause: Nanos::from_millis(30) }]);
    let server = start(service.clone());
    let mut client = Client::connect(&server);
    for _ in 0..7 {
        client.ask(get("/api"));
    }
    let truth = stop_and_check(server, &service);
    let paused: Vec<u64> = truth.rows.iter().filter(|row| row.faults != FaultSet::NONE).map(|row| row.number).collect();
    assert_eq!(paused, [3, 6]);
}

#[test]
fn an_error_status_at_once_or_after_the_work() {
    for immediately in [true, false] {
        let service = faulty(vec![Fault::ErrorStatus { status: 503, immediately, select: Selector::default() }]);
        let server = start(service.clone());
        let mut client = Client::connect(&server);
        assert_eq!(client.ask(get("/api")).status, 503);
        assert_eq!(client.ask(get("/api")).status, 503, "the connection stays open");
        let truth = stop_and_check(server, &service);
        assert!(truth.rows.iter().all(|row| row.status == Some(503) && row.ending == Ending::Answered));
        assert_eq!(truth.rows[0].due_ns, Some(if immediately { 0 } else { 1_000_000 }));
    }
}

#[test]
fn a_reset() {
    let service = faulty(vec![Fault::Reset { select: Selector { every: Some(2), ..Selector::default() } }]);
    let server = start(service.clone());
    let mut client = Client::connect(&server);
    assert_eq!(client.ask(get("/api")).status, 200);
    client.send(get("/api"));
    assert_eq!(client.until_end(), (vec![], End::Reset));
    let truth = stop_and_check(server, &service);
    assert_eq!(endings(&truth), [Ending::Answered, Ending::Reset]);
    assert_eq!((truth.rows[1].status, truth.rows[1].answered_ns), (None, None));
}

#[test]
fn a_black_hole() {
    let service = faulty(vec![Fault::BlackHole { select: Selector { every: Some(2), ..Selector::default() } }]);
    let server = start(service.clone());
    let mut client = Client::connect(&server);
    assert_eq!(client.ask(get("/api")).status, 200);
    client.send(get("/api"));
    let mut other = Client::connect(&server);
    assert_eq!(other.ask(get("/api")).status, 200);
    assert!(client.hears_nothing());
    let truth = stop_and_check(server, &service);
    assert_eq!(endings(&truth), [Ending::Answered, Ending::BlackHole, Ending::Answered]);
}

/// The client must read within two seconds after the first half was sent.
#[test]
fn a_slow_body() {
    let asked = [0, 2, 100_000].map(|body_bytes| {
        let fault = Fault::SlowBody { over: Nanos::from_secs(2), select: Selector::default() };
        let service = Service { body_bytes, ..faulty(vec![fault]) };
        let server = start(service.clone());
        let mut client = Client::connect(&server);
        client.send(get("/api"));
        let early = client.some_bytes();
        (body_bytes, service, server, client, early)
    });
    for (body_bytes, service, server, mut client, early) in asked {
        let answer = client.answer();
        assert_eq!((answer.status, answer.body.len()), (200, body_bytes as usize));
        assert!(early < answer.head.len() + answer.body.len(), "all came at once");
        let truth = stop_and_check(server, &service);
        assert_eq!(truth.rows[0].due_ns, Some(2_001_000_000));
        assert_eq!(endings(&truth), [Ending::Answered]);
    }
}

#[test]
fn a_short_body() {
    for body_bytes in [0, 1, 2, 200_000] {
        let service = Service { body_bytes, ..faulty(vec![Fault::ShortBody { select: Selector::default() }]) };
        let server = start(service.clone());
        let mut client = Client::connect(&server);
        client.send(get("/api"));
        let (bytes, end) = client.until_end();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body_bytes.max(1))), "{head}");
        assert_eq!((body.len() as u32, end), (body_bytes / 2, End::Closed));
        let truth = stop_and_check(server, &service);
        assert_eq!(endings(&truth), [Ending::ShortBody]);
    }
}

#[test]
fn garbage() {
    let service = faulty(vec![Fault::Garbage { select: Selector::default() }]);
    let server = start(service.clone());
    let mut client = Client::connect(&server);
    client.send(get("/api"));
    let (bytes, end) = client.until_end();
    assert!(!bytes.is_empty() && !bytes.starts_with(b"HTTP/"));
    assert_eq!(end, End::Closed);
    let truth = stop_and_check(server, &service);
    assert_eq!((endings(&truth), truth.rows[0].status), (vec![Ending::Garbage], None));
}

#[test]
fn a_queue() {
    let service = Service { concurrency: Some(1), ..Service::healthy(Nanos::from_millis(50)) };
    let server = start(service.clone());
    let mut clients: Vec<Client> = (0..4).map(|_| Client::connect(&server)).collect();
    clients.iter_mut().for_each(|client| client.send(get("/api")));
    clients.iter_mut().for_each(|client| assert_eq!(client.answer().status, 200));
    let truth = stop_and_check(server, &service);
    let answered: Vec<_> = truth.rows.iter().map(|row| row.answered_ns).collect();
    assert!(answered.is_sorted(), "first in, first out: {answered:?}");
    assert!(truth.rows[3].due_ns >= Some(200_000_000), "one after the other");
}

/// An answer that ends the connection also ends the requests after it, and these are recorded.
#[test]
fn what_was_behind_the_end_of_a_connection() {
    let first = Selector { length: Some(Nanos(1)), ..Selector::default() };
    for fault in [Fault::Reset { select: first }, Fault::Garbage { select: first }, Fault::ShortBody { select: first }]
    {
        let service = faulty(vec![fault]);
        let server = start(service.clone());
        let mut client = Client::connect(&server);
        client.send(get("/api").repeat(3));
        client.until_end();
        catch_up(&server);
        let truth = stop_and_check(server, &service);
        assert_eq!(endings(&truth)[1..], [Ending::Dropped, Ending::Dropped]);
    }
}

#[test]
fn a_path_with_a_route_has_faults_of_its_own() {
    let select = Selector { every: Some(2), ..Selector::default() };
    let refuses = Fault::ErrorStatus { status: 503, immediately: false, select };
    let route = Route { path: "/login".to_owned(), baseline: Nanos::from_millis(3), faults: vec![refuses] };
    let service = Service { routes: vec![route], ..Service::healthy(Nanos::from_millis(1)) };
    let server = start(service);
    let mut client = Client::connect(&server);
    let statuses = ["/", "/login", "/", "/login?a", "/log", "http://h/login"].map(|path| client.ask(get(path)).status);
    assert_eq!(statuses, [200, 200, 200, 503, 200, 200]);
    let works = server.stop().rows.iter().map(|row| row.due_ns.unwrap() - row.arrived_ns).collect::<Vec<_>>();
    assert_eq!(works, [1, 3, 1, 3, 1, 3].map(|ms| ms * 1_000_000));
}
