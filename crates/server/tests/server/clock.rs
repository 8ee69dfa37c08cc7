//! The fault clock, health checks and preflights.

use truetail_model::service::{Fault, Selector};
use truetail_model::time::Nanos;
use truetail_server::Ending;

use crate::support::{Client, FOR_EVER, endings, faulty, get, stall, start, stop_and_check, wait_for_admitted};

const START_CLOCK: &str = "POST /clock HTTP/1.1\r\nHost: server\r\nContent-Length: 0\r\n\r\n";

#[test]
fn health_checks_suffer_no_fault_and_do_not_start_the_clock() {
    let service = faulty(vec![stall(FOR_EVER), Fault::Reset { select: Selector::default() }]);
    let server = start(service.clone());
    let mut checker = Client::connect(&server);
    assert_eq!(checker.ask(get("/healthy")).status, 200);
    assert_eq!(checker.ask("GET /api HTTP/1.1\r\nTruetail-Preflight: 1\r\n\r\n").status, 200);
    assert_eq!(server.admitted(), 0);
    let mut held = Client::connect(&server);
    held.send(get("/api"));
    wait_for_admitted(&server, 1);
    assert_eq!(checker.ask(get("/healthy")).status, 200);
    assert_eq!(checker.ask("GET /other HTTP/1.1\r\ntruetail-preflight:\r\n\r\n").status, 200);
    assert!(held.hears_nothing());
    let truth = stop_and_check(server, &service);
    assert_eq!((truth.totals.control, truth.rows[0].arrived_ns), (4, 0));
    assert_eq!(endings(&truth), [Ending::Held]);
}

#[test]
fn a_health_check_takes_no_place_in_the_queue() {
    let service = truetail_model::service::Service { concurrency: Some(1), ..faulty(vec![stall(FOR_EVER)]) };
    let server = start(service.clone());
    Client::connect(&server).send(get("/api"));
    assert_eq!(Client::connect(&server).ask(get("/healthy")).status, 200);
    stop_and_check(server, &service);
}

#[test]
fn a_server_that_was_only_checked_has_no_truth() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    Client::connect(&server).ask(get("/healthy"));
    let truth = stop_and_check(server, &service);
    assert!(truth.rows.is_empty() && truth.clock_starts_unix_ns.is_empty());
    assert_eq!((truth.last_epoch().len(), truth.arrivals_between(0, u64::MAX)), (0, 0));
}

#[test]
fn the_clock_can_be_started_anew() {
    let service = faulty(vec![Fault::EveryNth { every: 2, pause: Nanos::from_millis(5) }]);
    let server = start(service.clone());
    let mut client = Client::connect(&server);
    for requests in [3, 2, 1] {
        for _ in 0..requests {
            assert_eq!(client.ask(get("/api")).status, 200);
        }
        let answer = client.ask(START_CLOCK);
        assert_eq!((answer.status, answer.field("Content-Length")), (204, None));
    }
    let truth = stop_and_check(server, &service);
    let numbers: Vec<_> = truth.rows.iter().map(|row| (row.epoch, row.number)).collect();
    assert_eq!(numbers, [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1)]);
    assert_eq!(truth.clock_starts_unix_ns.len(), 4, "the last one without a request");
    assert!(truth.clock_starts_unix_ns.is_sorted());
    assert!(truth.rows[3].arrived_ns > 0, "the clock was started before the request came");
    assert_eq!((truth.epoch(1).len(), truth.epoch(9).len(), truth.last_epoch().len()), (3, 0, 1));
}

/// Requests of an earlier epoch keep their fate.
#[test]
fn a_new_start_releases_nobody() {
    let service = faulty(vec![stall(Nanos::from_millis(300))]);
    let server = start(service.clone());
    let mut held = Client::connect(&server);
    held.send(get("/api"));
    wait_for_admitted(&server, 1);
    let mut client = Client::connect(&server);
    assert_eq!(client.ask(START_CLOCK).status, 204);
    assert_eq!(client.ask(get("/api")).status, 200);
    assert_eq!(held.answer().status, 200);
    let truth = stop_and_check(server, &service);
    let [first, second] = &truth.rows[..] else { panic!("{:?}", truth.rows) };
    assert_eq!((first.epoch, first.due_ns, second.epoch), (1, Some(300_000_000), 2));
    // The stall of the second request's own epoch holds it, or it arrives after that stall.
    assert!(second.due_ns >= Some(300_000_000), "{second:?}");
    assert_eq!(truth.arrivals_between(0, second.arrived_ns + 1), 1);
}

#[test]
fn the_clock_wants_post() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    let mut client = Client::connect(&server);
    let answer = client.ask(get("/clock"));
    assert_eq!((answer.status, answer.field("Allow")), (405, Some("POST")));
    assert_eq!(client.ask(get("/api")).status, 200, "the connection stays open");
    assert_eq!(stop_and_check(server, &service).clock_starts_unix_ns.len(), 1);
}
