//! Times within a request: the first byte of its answer, the wait of its own bytes for the transport, and the parts
//! that an observer sees. The servers use raw sockets, to control when each byte is sent and read.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::support::http2::{Honest, in_http2};
use crate::support::{open, run};
use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, Method, ObserverFactory, Plan, RunOutput, Target};
use truetail_model::record::{Metric, Outcome};
use truetail_model::time::Nanos;

const PAUSE: Duration = Duration::from_millis(200);
/// More bytes than both sockets of a connection hold.
const LARGE: usize = 32 << 20;

/// Starts a server for one connection.
fn serve(act: impl FnOnce(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || act(listener.accept().unwrap().0));
    url
}

fn post(url: &str, rate: f64, requests: u64, body: Vec<u8>) -> Plan {
    let mut plan = open(url, rate, requests);
    plan.target = Target::resolve("POST".parse::<Method>().unwrap(), url, &[], body).unwrap();
    plan
}

fn only(output: &RunOutput, metric: Metric) -> Nanos {
    assert_eq!(output.snapshot.metric(metric).count(), 1, "{}", metric.name());
    output.snapshot.metric(metric).max().unwrap()
}

#[test]
fn the_first_byte_comes_before_the_last() {
    // The server continues when the head was read, so that one read cannot get both.
    let seen = Seen::default();
    let observer = seen.clone();
    let url = serve(move |mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").unwrap();
        while seen.0.lock().unwrap().0 == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(PAUSE);
        stream.write_all(b"bbbbb").unwrap();
        let _ = stream.read(&mut [0; 1]);
    });
    let mut plan = open(&url, 100.0, 1);
    plan.observer = Some(ObserverFactory::new(move || Box::new(observer.clone())));
    let output = run(&plan);
    let first = only(&output, Metric::FirstByteTime);
    let last = only(&output, Metric::ResponseTime);
    // The server slept at least this long between the two.
    assert!(first + PAUSE.into() <= last + Nanos::from_millis(1), "{first} {last}");
    assert_eq!(output.snapshot.metric(Metric::SendWait).count(), 0);
}

#[test]
fn no_first_byte_comes_after_the_last() {
    let server = Honest::start(100, Duration::ZERO, b"hello".to_vec());
    let records = run(&in_http2(open(&server.url(), 500.0, 50))).snapshot.samples.even().to_vec();
    assert_eq!(records.len(), 50);
    assert!(records.iter().all(|record| record.first_byte.is_some_and(|first| first <= record.end)), "{records:?}");
}

#[test]
fn the_send_wait_is_a_part_of_the_service_time() {
    let url = serve(|mut stream| {
        stream.peek(&mut [0]).unwrap();
        thread::sleep(PAUSE);
        let mut seen = 0;
        let mut buffer = vec![0; 1 << 20];
        while seen < LARGE {
            seen += stream.read(&mut buffer).unwrap();
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        let _ = stream.read(&mut buffer);
    });
    let output = run(&post(&url, 100.0, 1, vec![b'x'; LARGE]));
    let waited = only(&output, Metric::SendWait);
    let service = only(&output, Metric::ServiceTime);
    // Pauses of the machine are not part of it.
    let paused = Nanos(output.generator.paused_ns);
    assert!(waited + paused >= (PAUSE / 2).into() && waited <= service, "{waited} of {service}, paused {paused}");
}

/// Requests begin while a body fills the connection. Until the socket takes their first byte they wait for the
/// connection, which is not generator lag. The first of them may still fit into the socket.
#[test]
fn a_request_behind_one_that_is_not_read_waits_for_the_connection() {
    const WIDE: u32 = 0x7fff_0000;
    let url = serve(|mut stream| {
        // Settings with large windows and many streams, and the window of the connection.
        let setting = |id: u16, value: u32| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
        let settings = [setting(4, WIDE), setting(3, 100)].concat();
        let head = [0, 0, settings.len() as u8, 4, 0, 0, 0, 0, 0];
        let window = [&[0, 0, 4, 8, 0, 0, 0, 0, 0][..], &(WIDE - 65_535).to_be_bytes()].concat();
        stream.write_all(&[&head[..], &settings, &window].concat()).unwrap();
        thread::sleep(3 * PAUSE);
        let mut read = stream.try_clone().unwrap();
        let reading = thread::spawn(move || std::io::copy(&mut read, &mut std::io::sink()));
        thread::sleep(PAUSE);
        for id in [1, 3, 5, 7] {
            let _ = stream.write_all(&[0, 0, 1, 1, 5, 0, 0, 0, id, 0x88]);
        }
        let _ = reading.join();
    });
    let mut plan = in_http2(post(&url, 10.0, 4, vec![b'x'; LARGE]));
    // All requests share one connection.
    plan.workload.limits.connections = Some(1);
    plan.workload.limits.timeout = Some(Nanos::from_secs(20));
    let output = run(&plan);
    let records = output.snapshot.samples.even().to_vec();
    let paused = Nanos(output.generator.paused_ns);
    assert!(records.iter().all(|record| record.outcome == Outcome::response(200)), "{records:?}");
    let waited = records.iter().max_by_key(|record| record.delay.connection_wait).unwrap();
    // The third request is due after 0.2 s, and the server reads after 0.6 s. Pauses of the machine are generator lag.
    let Nanos(wait) = waited.delay.connection_wait;
    assert!(wait + paused.0 >= Nanos::from(PAUSE).0, "{paused} {records:?}");
    assert!(waited.delay.generator_lag.0 < wait + paused.0, "{paused} {records:?}");
}

/// Counts what it observes.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<(u64, usize, u64)>>);

impl AnswerReader for Seen {
    fn head(&mut self, _: u32, head: AnswerHead<'_>) {
        assert_eq!(head.status, Some(200));
        self.0.lock().unwrap().0 += 1;
    }

    fn body(&mut self, _: u32, part: &[u8]) {
        assert!(part.iter().all(|byte| *byte == b'b'));
        self.0.lock().unwrap().1 += part.len();
    }

    fn end(&mut self, _: u32, ended: EndedRequest) {
        assert_eq!(ended.outcome, Outcome::response(200));
        self.0.lock().unwrap().2 += 1;
    }
}

#[test]
fn an_observer_sees_every_head_and_body() {
    let puppet = crate::support::Puppet::start(|_| {
        crate::support::Act::Drip(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbbb\r\n4\r\nbbbb\r\n0\r\n\r\n".to_vec(),
            9,
        )
    });
    let honest = Honest::start(100, Duration::ZERO, vec![b'b'; 7]);
    for mut plan in [open(&puppet.url(), 200.0, 20), in_http2(open(&honest.url(), 200.0, 20))] {
        let seen = Seen::default();
        let observer = seen.clone();
        plan.observer = Some(ObserverFactory::new(move || Box::new(observer.clone())));
        assert_eq!(run(&plan).snapshot.tally.responses, 20);
        assert_eq!(*seen.0.lock().unwrap(), (20, 20 * 7, 20));
    }
}
