//! Many requests and connections at once.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use truetail_model::service::Service;
use truetail_model::time::Nanos;
use truetail_server::Ending;

use crate::support::{Client, catch_up, faulty, get, stall, start, stop_and_check, wait_for_admitted};

/// Number of clients. Both ends of a connection are in this process, so it needs twice as many descriptors.
const CROWD: usize = 2500;

fn allow_many_files() {
    const FILES: u64 = 8000;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < FILES) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(FILES), ..limit }).unwrap();
    }
}

/// All answers are held and leave together. Three seconds are enough to send all requests, even on a busy machine.
#[test]
fn a_crowd_that_is_released_together() {
    allow_many_files();
    let stalled = Nanos::from_secs(3);
    let service = faulty(vec![stall(stalled)]);
    let server = start(service.clone());
    let mut clients: Vec<Client> = (0..CROWD).map(|_| Client::connect(&server)).collect();
    clients.iter_mut().for_each(|client| client.send(get("/api")));
    wait_for_admitted(&server, CROWD as u64);
    clients.iter_mut().for_each(|client| assert_eq!(client.answer().status, 200));
    let truth = stop_and_check(server, &service);
    assert_eq!(truth.totals.count(Ending::Answered), CROWD as u64);
    assert_eq!(truth.arrivals_between(0, stalled.0), CROWD);
    assert!(truth.rows.iter().all(|row| row.due_ns == Some(stalled.0)));
    assert!(truth.rows.is_sorted_by_key(|row| row.answered_ns), "they leave in the order in which they came");
}

/// Ten thousand requests are held at once, a hundred on each connection, while other requests are served.
#[test]
fn ten_thousand_held() {
    let service = faulty(vec![stall(Nanos::from_secs(2))]);
    let server = start(service.clone());
    let mut clients: Vec<Client> = (0..100).map(|_| Client::connect(&server)).collect();
    clients.iter_mut().for_each(|client| client.send(get("/api").repeat(100)));
    wait_for_admitted(&server, 10_000);
    catch_up(&server);
    for client in &mut clients {
        (0..100).for_each(|_| assert_eq!(client.answer().status, 200));
    }
    assert_eq!(stop_and_check(server, &service).totals.count(Ending::Answered), 10_000);
}

/// Connections come and go, and slots are reused.
#[test]
fn connections_that_come_and_go() {
    let service = Service::healthy(Nanos::from_micros(100));
    let server = start(service.clone());
    for round in 0..100 {
        let mut clients: Vec<Client> = (0..10).map(|_| Client::connect(&server)).collect();
        clients.iter_mut().for_each(|client| client.send(get("/api")));
        // Some clients leave without waiting for their answers.
        for client in clients.iter_mut().skip(round % 3) {
            assert_eq!(client.answer().status, 200);
        }
    }
    wait_for_admitted(&server, 1000);
    catch_up(&server);
    let truth = stop_and_check(server, &service);
    assert_eq!(truth.totals.count(Ending::Answered) + truth.totals.count(Ending::ClientGone), 1000);
}
