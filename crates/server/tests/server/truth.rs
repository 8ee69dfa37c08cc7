//! The truth log, starting and stopping.

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex};

use truetail_model::service::{Fault, FaultKind, FaultSet, Selector, Service};
use truetail_model::time::Nanos;
use truetail_server::{Ending, Server, ServerOptions, TruthRow};

use crate::support::{
    Client, FOR_EVER, catch_up, endings, faulty, get, options, stall, start, stop_and_check, wait_for_admitted,
};

/// Parses a truth log, in order of arrival.
fn read_log(text: &str) -> Vec<TruthRow> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = "epoch,number,arrived_ns,due_ns,answered_ns,status,ending,faults";
    assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>().join(","), names);
    let mut rows: Vec<_> = reader.records().map(|record| row(&record.unwrap())).collect();
    rows.sort_by_key(|row| (row.epoch, row.number));
    rows
}

fn row(record: &csv::StringRecord) -> TruthRow {
    let optional = |field: &str| (!field.is_empty()).then(|| field.parse::<u64>().unwrap());
    let mut faults = FaultSet::NONE;
    for name in record[7].split('+').filter(|name| !name.is_empty()) {
        faults.insert(FaultKind::ALL.into_iter().find(|kind| kind.name() == name).unwrap());
    }
    TruthRow {
        epoch: record[0].parse().unwrap(),
        number: record[1].parse().unwrap(),
        arrived_ns: record[2].parse().unwrap(),
        due_ns: optional(&record[3]),
        answered_ns: optional(&record[4]),
        status: optional(&record[5]).map(|status| status as u16),
        ending: Ending::ALL.into_iter().find(|ending| ending.name() == &record[6]).unwrap(),
        faults,
    }
}

/// Returns a service on which requests end in many ways.
fn varied() -> Service {
    let every = |n, at_most| Selector { every: Some(n), length: Some(at_most), ..Selector::default() };
    let faults = vec![
        Fault::Reset { select: every(7, FOR_EVER) },
        Fault::BlackHole { select: every(11, FOR_EVER) },
        Fault::ErrorStatus { status: 503, immediately: true, select: every(5, FOR_EVER) },
        Fault::Garbage { select: every(13, FOR_EVER) },
        Fault::EveryNth { every: 2, pause: Nanos::from_millis(2) },
        stall(Nanos::from_millis(20)),
    ];
    Service { concurrency: Some(3), ..faulty(faults) }
}

#[test]
fn the_log_says_what_the_rows_say() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let service = varied();
    let server =
        Server::start(ServerOptions { truth: Some(Box::new(file.reopen().unwrap())), ..options(service.clone()) })
            .unwrap();
    let mut clients: Vec<Client> = (0..60).map(|_| Client::connect(&server)).collect();
    clients.iter_mut().for_each(|client| client.send(get("/api")));
    wait_for_admitted(&server, 60);
    Client::connect(&server).ask("POST /clock HTTP/1.1\r\n\r\n");
    let mut later: Vec<Client> = (0..20).map(|_| Client::connect(&server)).collect();
    later.iter_mut().for_each(|client| client.send(get("/api")));
    wait_for_admitted(&server, 80);
    let truth = stop_and_check(server, &service);
    assert_eq!(truth.clock_starts_unix_ns.len(), 2);
    assert_eq!(read_log(&std::fs::read_to_string(file.path()).unwrap()), truth.rows);
}

#[test]
fn a_server_that_is_stopped_while_requests_are_held() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let service = faulty(vec![stall(FOR_EVER)]);
    let server =
        Server::start(ServerOptions { truth: Some(Box::new(file.reopen().unwrap())), ..options(service.clone()) })
            .unwrap();
    let mut clients: Vec<Client> = (0..50).map(|_| Client::connect(&server)).collect();
    clients.iter_mut().for_each(|client| client.send(get("/api").repeat(2)));
    wait_for_admitted(&server, 100);
    let truth = stop_and_check(server, &service);
    assert!(endings(&truth).iter().all(|ending| *ending == Ending::Held));
    let log = read_log(&std::fs::read_to_string(file.path()).unwrap());
    assert_eq!((log.len(), &log), (100, &truth.rows));
}

/// A buffer that a test can read while the server writes it.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn lines(&self) -> usize {
        self.0.lock().unwrap().iter().filter(|byte| **byte == b'\n').count()
    }
}

#[test]
fn the_log_grows_while_the_server_runs() {
    let sink = Shared::default();
    let server = Server::start(ServerOptions {
        truth: Some(Box::new(sink.clone())),
        keep_truth: false,
        ..options(faulty(vec![]))
    })
    .unwrap();
    assert_eq!(sink.lines(), 1, "the header is there from the start");
    Client::connect(&server).ask(get("/api"));
    let started = std::time::Instant::now();
    while sink.lines() < 2 {
        assert!(started.elapsed().as_secs() < 20, "the row never came");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let truth = server.stop();
    assert!(truth.rows.is_empty(), "rows were not to be kept");
    assert!(truth.totals.is_balanced());
    assert_eq!(truth.totals.count(Ending::Answered), 1);
}

#[test]
fn a_truth_log_that_cannot_be_begun() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = Server::start(ServerOptions { truth: Some(Box::new(Full)), ..options(faulty(vec![])) }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
}

#[test]
fn a_port_that_is_taken() {
    let server = start(faulty(vec![]));
    let error = Server::start(ServerOptions::new(faulty(vec![]), server.addr())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert!(error.to_string().contains(&server.addr().to_string()), "{error}");
}

#[test]
fn a_server_that_is_dropped_gives_its_port_back() {
    let server = start(faulty(vec![]));
    let addr = server.addr();
    let mut client = Client::connect(&server);
    client.ask(get("/api"));
    drop(server);
    let again = Server::start(ServerOptions::new(faulty(vec![]), addr)).unwrap();
    catch_up(&again);
}

#[test]
fn arrivals_are_counted_in_half_open_spans() {
    let service = faulty(vec![]);
    let server = start(service.clone());
    let mut client = Client::connect(&server);
    for _ in 0..5 {
        client.ask(get("/api"));
    }
    let truth = stop_and_check(server, &service);
    let at = |index: usize| truth.rows[index].arrived_ns;
    assert_eq!(truth.arrivals_between(0, u64::MAX), 5);
    assert_eq!(truth.arrivals_between(at(1), at(3)), 2);
    assert_eq!(truth.arrivals_between(at(3), at(1)), 0);
}
