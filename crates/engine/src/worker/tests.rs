//! Tests that drive a worker step by step and play the server too. So the test, and not the machine, decides what
//! happens while the worker does not look.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::driver::{Driver, WorkerShare};
use truetail_model::record::{Cause, Metric, RecorderOptions, Snapshot, Tally};
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::{CpuTime, Timing};

use super::*;
use crate::checkpoint::Mailbox;
use crate::connection::timestamps;
use crate::control::Control;
use crate::placement::OneEach;
use crate::protocol::http1::Http1;
use crate::start::SharedStart;
use crate::target::destination::DestinationSettings;
use crate::target::method::Method;
use crate::target::origin::Origin;
use crate::target::request_set::{FeedOrder, RequestSet};
use crate::target::target_requests::TargetRequests;
use crate::tls::{Tls, TlsOptions};

mod conversation;
mod noticing;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// Listens with room for all connections of a test, because a refused connect is retried only after a second.
fn listen() -> TcpListener {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into()).unwrap();
    socket.listen(2 * SEVERAL_REPORTS as i32).unwrap();
    socket.into()
}

fn one_request() -> RequestSet {
    let mut only = TargetRequests::new(Method::Get, "http://127.0.0.1/".to_owned(), 1);
    only.push_message(REQUEST);
    RequestSet::new(vec![only], 0, FeedOrder::InOrder, 1).unwrap()
}

/// Returns a workload whose `requests` are due within as many microseconds.
fn workload(requests: u64, timeout: Option<Nanos>) -> Workload {
    let schedule = Schedule {
        profile: Profile::constant(Rate::per_second(1e6).unwrap()),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: None, requests: Some(requests) },
    };
    let limits = Limits { timeout, ..Limits::default() };
    Workload { model: LoadModel::Open(schedule), limits, warmup: Nanos::ZERO }
}

struct Stage<P: Protocol = Http1, L: Placement<P> = OneEach> {
    worker: Worker<P, L>,
    reports: Reports,
    listener: TcpListener,
}

impl Stage {
    fn new(requests: u64, timeout: Option<Nanos>, stamped: bool) -> Stage {
        Stage::with_tls(requests, timeout, stamped, Timing::Balanced, None)
    }

    fn with_tls(requests: u64, timeout: Option<Nanos>, stamped: bool, timing: Timing, tls: Option<Tls>) -> Stage {
        let workload = workload(requests, timeout);
        Stage::speaking(Http1::new(one_request(), true), &workload, 100, stamped, timing, tls)
    }
}

impl<P: Protocol, L: Placement<P>> Stage<P, L> {
    fn speaking(
        protocol: P,
        workload: &Workload,
        most_connections: u64,
        stamped: bool,
        timing: Timing,
        tls: Option<Tls>,
    ) -> Stage<P, L> {
        let listener = listen();
        let options = RecorderOptions::default();
        let driver = Driver::new(workload, WorkerShare::WHOLE);
        let ledger = Ledger::new(options, &one_request(), workload, Arc::default(), Arc::new(Mailbox::new(options)));
        let config = WorkerConfig {
            share: WorkerShare::WHOLE,
            start: SharedStart::known(Start::with(MonotonicClock::starting_now())).for_worker(None),
            destinations: vec![DestinationSettings { endpoints: vec![listener.local_addr().unwrap().into()], tls }],
            requests: one_request(),
            makes_requests: false,
            most_connections,
            timeout: workload.limits.timeout,
            stamped,
            timing,
            model: workload.model.kind(),
            has_own_cap: false,
            control: Control::new(),
        };
        let reactor = Reactor::new().unwrap();
        let worker = Worker::new(config, driver, ledger, protocol, Events::default(), reactor);
        Stage { worker, reports: Reports::with_capacity(REPORTS), listener }
    }

    fn accept(&self) -> TcpStream {
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    fn start_due(&mut self) -> NextAction {
        self.worker.start_due()
    }

    fn poll(&mut self) {
        self.worker.poll(&mut self.reports, Timestamp::ZERO).unwrap();
    }

    /// Starts and polls until `done`.
    fn run_until(&mut self, mut done: impl FnMut(&Worker<P, L>) -> bool) {
        let since = Instant::now();
        while !done(&self.worker) {
            assert!(since.elapsed().as_secs() < 20, "{:?}", self.tally());
            let until = match self.start_due() {
                NextAction::Sleep(until) => until,
                NextAction::Poll | NextAction::Finish => Timestamp::ZERO,
            };
            self.worker.flush_all();
            self.worker.poll(&mut self.reports, until).unwrap();
        }
    }

    fn tally(&mut self) -> Tally {
        self.worker.ledger.so_far().tally
    }
}

impl Stage {
    /// Connects and sends everything. Returns the server's connections, after reading the requests.
    fn send_all(&mut self, requests: u64) -> Vec<TcpStream> {
        let mut streams = Vec::new();
        while (streams.len() as u64) < requests {
            self.start_due();
            while (streams.len() as u64) < self.worker.connections.pool.opened {
                streams.push(self.accept());
            }
            self.poll();
        }
        self.run_until(all_connected);
        streams.iter_mut().for_each(|stream| stream.read_exact(&mut [0; REQUEST.len()]).unwrap());
        streams
    }

    /// Accepts connections that are being opened, and polls until they are open.
    fn send_all_opened(&mut self, connections: u64) -> Vec<TcpStream> {
        let streams = (0..connections).map(|_| self.accept()).collect();
        while !all_connected(&self.worker) {
            self.poll();
        }
        streams
    }

    fn service_time(&mut self) -> Nanos {
        self.worker.ledger.so_far().metric(Metric::ServiceTime).max().unwrap()
    }
}

fn answer_all(streams: &mut [TcpStream]) {
    streams.iter_mut().for_each(|stream| stream.write_all(ANSWER).unwrap());
}

fn all_connected(worker: &Worker<Http1, OneEach>) -> bool {
    worker.connections.pool.iter().all(|connection| connection.phase == Phase::Open)
}

fn all_ended<P: Protocol, L: Placement<P>>(worker: &Worker<P, L>) -> bool {
    worker.driver.in_flight() == 0
}

const SEVERAL_REPORTS: u64 = 3 * REPORTS as u64;

#[test]
fn many_answers_in_time_are_not_timed_out() {
    let timeout = Nanos::from_millis(1500);
    let mut stage = Stage::new(SEVERAL_REPORTS, Some(timeout), true);
    let mut streams = stage.send_all(SEVERAL_REPORTS);
    answer_all(&mut streams);
    // The worker does not run until all requests are overdue.
    sleep(timeout.into());
    stage.run_until(all_ended);
    assert_eq!((stage.tally().responses, stage.tally().timed_out), (SEVERAL_REPORTS, 0));
}

#[test]
fn many_answers_before_the_end_are_not_in_flight() {
    let mut stage = Stage::new(SEVERAL_REPORTS, None, true);
    let mut streams = stage.send_all(SEVERAL_REPORTS);
    let (answered, hung) = streams.split_at_mut(SEVERAL_REPORTS as usize - 5);
    answer_all(answered);
    let tally = stage.worker.finish(CpuTime::default()).recorder.tally();
    assert_eq!((tally.responses, tally.in_flight_at_end), (SEVERAL_REPORTS - 5, hung.len() as u64));
}

/// Fills 40 permits while as many arrivals wait. All 40 answers are there when the worker looks.
fn started_between_answers(timing: Timing) -> (u64, u64) {
    const PLACES: u64 = 40;
    let mut stage = Stage::with_tls(2 * PLACES, None, true, timing, None);
    stage.worker.driver.set_cap(Some(PLACES), Timestamp::ZERO);
    let mut streams = stage.send_all(PLACES);
    answer_all(&mut streams);
    // A turn ends after 2 ms, so a slow machine reads the answers in several.
    while stage.tally().responses < PLACES {
        stage.poll();
    }
    let started = stage.worker.driver.in_flight();
    let opened = stage.worker.connections.pool.opened;
    assert_eq!((stage.tally().responses, opened), (PLACES, PLACES), "{timing:?}");
    stage.start_due();
    (started, stage.worker.connections.pool.opened)
}

#[test]
fn batches_send_after_all_answers_and_other_timings_after_each() {
    assert_eq!(started_between_answers(Timing::Cheap), (0, 40));
    assert_eq!(started_between_answers(Timing::Balanced), (40, 40));
}

#[test]
fn a_server_that_speaks_before_it_is_asked_is_heard() {
    let mut stage = Stage::new(1, None, true);
    stage.start_due();
    // The handshake, the answer and its end are there when the worker looks for the first time.
    let mut stream = stage.accept();
    stream.write_all(b"HTTP/1.1 503 Busy\r\nConnection: close\r\n\r\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    stage.run_until(all_ended);
    assert_eq!(stage.tally().responses, 1);
}

/// Requests one answer. Another answer arrives after the worker has looked, and before it sends the next request.
fn one_answer_too_early() -> Snapshot {
    let mut stage = Stage::new(1, None, true);
    let mut stream = stage.send_all(1).pop().unwrap();
    stream.write_all(ANSWER).unwrap();
    stage.run_until(all_ended);
    stream.write_all(ANSWER).unwrap();
    sleep(Duration::from_millis(1));
    stage.worker.driver = Driver::new(&workload(1, None), WorkerShare::WHOLE);
    stage.start_due();
    stage.run_until(all_ended);
    let early = stage.worker.ledger.so_far().causes.contains_key(&Cause::EarlyAnswer);
    assert_eq!(
        stage.worker.connections.pool.open(),
        u64::from(!early),
        "what comes next on it would answer another request"
    );
    let result = stage.worker.finish(CpuTime::default());
    result.recorder.finish(result.driver.schedule_hash())
}

#[test]
fn an_answer_that_had_come_before_its_request_was_sent_is_none() {
    let _stamping = timestamps::switch_on();
    // The kernel begins to stamp a moment after it was asked to, and an early answer shows only in its stamp.
    for _ in 0..1000 {
        let snapshot = one_answer_too_early();
        if let Some(early) = snapshot.causes.get(&Cause::EarlyAnswer) {
            return assert_eq!((snapshot.tally.responses, *early), (1, 1), "{:?}", snapshot.tally);
        }
        assert_eq!(snapshot.tally.responses, 2, "{:?}", snapshot.tally);
        if !timestamps::ARE_AVAILABLE {
            return;
        }
    }
    panic!("an answer that came too early was taken for one a thousand times");
}

/// Three requests are due at once, as after a pause, and the server answers fast: one connection suffices.
#[test]
fn an_answer_that_came_frees_its_connection_before_another_is_opened() {
    let mut stage = Stage::new(3, None, true);
    stage.worker.connections.pool.reuses = true;
    stage.start_due();
    let mut stream = stage.accept();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    for _ in 0..3 {
        while !all_connected(&stage.worker) {
            stage.poll();
        }
        stream.read_exact(&mut [0; REQUEST.len()]).unwrap();
        stream.write_all(ANSWER).unwrap();
        // The answer is there, and the next request is due.
        stage.poll();
        stage.start_due();
    }
    assert_eq!((stage.tally().responses, stage.worker.connections.pool.opened), (3, 1));
}

/// If an answer arrives during a pause of the worker, its service time does not include the pause.
#[test]
fn a_pause_between_sending_and_looking_is_not_the_servers() {
    const PAUSE: Duration = Duration::from_millis(300);
    for stamped in [false, true] {
        for answer in [ANSWER, b"HTTP/1.1 200 OK\r\n\r\nuntil the end"] {
            let mut stage = Stage::new(1, None, stamped);
            let mut streams = stage.send_all(1);
            streams[0].write_all(answer).unwrap();
            drop(streams);
            sleep(PAUSE);
            stage.start_due();
            stage.run_until(all_ended);
            // A delay of this test is a pause of the worker too, unless the answer has a stamp.
            assert!(stage.service_time() < PAUSE.into(), "{stamped} {}", stage.service_time());
        }
    }
}

#[test]
fn a_failure_in_a_pause_is_not_as_late_as_the_pause() {
    let mut stage = Stage::new(1, None, true);
    drop(stage.send_all(1));
    sleep(Duration::from_millis(300));
    stage.run_until(all_ended);
    let waited = stage.worker.ledger.so_far().metric(Metric::Failed).max().unwrap();
    assert!(stage.tally().reset == 1 && waited < Nanos::from_millis(300), "{waited}");
}

#[test]
fn a_pause_before_sending_is_not_subtracted_from_the_service_time() {
    const SERVICE: Duration = Duration::from_millis(20);
    let mut stage = Stage::new(2, None, false);
    stage.poll();
    sleep(Duration::from_millis(100));
    let mut streams = stage.send_all(2);
    let answering = std::thread::spawn(move || {
        sleep(SERVICE);
        answer_all(&mut streams);
        streams
    });
    stage.run_until(all_ended);
    answering.join().unwrap();
    let fastest = stage.worker.ledger.so_far().metric(Metric::ServiceTime).min().unwrap();
    // The service begins when the server has read, a moment after the actual start. Only later pauses count.
    let paused_since = stage.worker.clock.pauses.total().saturating_sub(Nanos::from_millis(100));
    assert!(fastest + paused_since >= SERVICE.into(), "{fastest}");
}

/// Returns a client configuration that trusts a server on this host, and the server's half.
fn over_tls() -> (Tls, ServerConnection) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = builder.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    let origin = Origin { scheme: "https".to_owned(), host: "127.0.0.1".to_owned(), port: 443 };
    let options = TlsOptions { authorities: Some(made.cert.pem().into_bytes()), ..TlsOptions::default() };
    (Tls::new(&origin, &options).unwrap(), ServerConnection::new(Arc::new(config)).unwrap())
}

/// The stamp is that of the encrypted bytes. The time until this host decrypts them is not the server's.
#[test]
fn a_pause_before_an_answer_is_opened_is_not_the_servers() {
    const PAUSE: Duration = Duration::from_millis(300);
    for stamped in [false, true] {
        let (tls, server) = over_tls();
        let mut stage = Stage::with_tls(1, None, stamped, Timing::Balanced, Some(tls));
        stage.start_due();
        let socket = stage.accept();
        let answering = std::thread::spawn(move || {
            let mut stream = StreamOwned::new(server, socket);
            stream.read_exact(&mut [0; REQUEST.len()]).unwrap();
            stream.write_all(ANSWER).unwrap();
            stream
        });
        stage.run_until(all_connected);
        // The answer is there before the worker looks again, unless it arrived during the handshake's last read.
        let stream = answering.join().unwrap();
        sleep(PAUSE);
        stage.run_until(all_ended);
        assert_eq!(stage.tally().responses, 1);
        assert!(stage.service_time() < PAUSE.into(), "{stamped} {}", stage.service_time());
        drop(stream);
    }
}

#[test]
fn of_many_waiting_requests_the_next_turn_places_the_rest() {
    const REQUESTS: u64 = 300;
    let mut stage = Stage::new(REQUESTS, None, true);
    let _streams = stage.send_all(REQUESTS);
    // As if all connections had been lost before the server acted on their requests.
    let worker = &mut stage.worker;
    worker.in_flight.tags().into_iter().for_each(|tag| worker.unassign(tag));
    worker.connections.note_room();
    worker.place_waiting();
    assert_eq!(worker.connections.waiting(), REQUESTS - u64::from(placing::PLACED_IN_A_ROW));
    assert!(worker.connections.may_place(), "the loop does not sleep");
    worker.place_waiting();
    assert_eq!((worker.connections.waiting(), worker.connections.pool.opened), (0, 2 * REQUESTS));
    assert!(!worker.connections.may_place());
}
