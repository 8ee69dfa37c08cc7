//! A server that follows a test request by request, and plans to run against it.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod http2;
pub mod messages;
pub mod raw_http2;
pub mod script;
pub mod tls;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use truetail_engine::{Control, Method, Plan, RunOutput, Target};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::record::{Samples, SamplesOptions};
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_reactor::stamps;

/// A drain that ends only hanging requests: if the machine pauses for half a second, all others still have time.
pub const DRAIN: Nanos = Nanos::from_secs(2);
/// A timeout of the same length, for the same reason.
pub const TIMEOUT: Nanos = Nanos::from_secs(2);

/// The server's action for one request.
#[derive(Clone)]
pub enum Act {
    /// Sends these bytes and keeps the connection.
    Send(Vec<u8>),
    /// Sends these bytes in pieces of this size with a flush after each, and keeps the connection.
    Drip(Vec<u8>, usize),
    /// Sends these bytes and closes.
    SendAndClose(Vec<u8>),
    /// Sends these bytes and resets.
    SendAndReset(Vec<u8>),
    /// Sends nothing until the client closes.
    Hang,
    /// Waits, then sends these bytes.
    After(Duration, Vec<u8>),
    /// Waits until the server has seen this many requests, then sends these bytes.
    WhenSeen(u64, Vec<u8>),
}

pub fn ok() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec()
}

/// A server on a free port. It ends with the test process.
pub struct Puppet {
    pub address: SocketAddr,
    pub requests: Arc<AtomicU64>,
    pub connections: Arc<AtomicU64>,
}

impl Puppet {
    /// Handles request number n (from 0, over all connections) with `act(n)`.
    pub fn start(act: impl Fn(u64) -> Act + Send + Sync + 'static) -> Puppet {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicU64::new(0));
        let connections = Arc::new(AtomicU64::new(0));
        let act = Arc::new(act);
        let counts = (Arc::clone(&requests), Arc::clone(&connections));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counts.1.fetch_add(1, Ordering::SeqCst);
                let act = Arc::clone(&act);
                let requests = Arc::clone(&counts.0);
                std::thread::spawn(move || serve(stream, &*act, &requests));
            }
        });
        Puppet { address, requests, connections }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub fn seen(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }
}

fn serve(stream: TcpStream, act: &(dyn Fn(u64) -> Act + Send + Sync), requests: &AtomicU64) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while read_request(&mut reader) {
        let n = requests.fetch_add(1, Ordering::SeqCst);
        if !perform(act(n), &stream, requests) {
            return;
        }
    }
}

/// Reads a head, and a body if the head states its length.
pub fn read_request(reader: &mut impl BufRead) -> bool {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        match reader.read_line(&mut line) {
            Ok(0) | Err(_) => return false,
            Ok(_) if line == "\r\n" => break,
            Ok(_) => {}
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    std::io::copy(&mut reader.take(length), &mut std::io::sink()).is_ok_and(|n| n == length)
}

/// Performs `act`, and returns true if the connection continues.
fn perform(act: Act, mut stream: &TcpStream, requests: &AtomicU64) -> bool {
    match act {
        Act::Send(bytes) => stream.write_all(&bytes).is_ok(),
        Act::Drip(bytes, size) => bytes.chunks(size).all(|piece| {
            std::thread::sleep(Duration::from_micros(50));
            stream.write_all(piece).is_ok()
        }),
        Act::SendAndClose(bytes) => {
            let _ = stream.write_all(&bytes);
            let _ = stream.shutdown(std::net::Shutdown::Both);
            false
        }
        Act::SendAndReset(bytes) => {
            let _ = stream.write_all(&bytes);
            if !bytes.is_empty() {
                // Let the client read the bytes first, because a reset may overtake them.
                std::thread::sleep(Duration::from_millis(50));
            }
            let socket = socket2::SockRef::from(stream);
            socket.set_linger(Some(Duration::ZERO)).unwrap();
            // The clone in the reader keeps the socket open until this thread ends.
            false
        }
        Act::Hang => {
            let _ = stream.read(&mut [0; 16]);
            false
        }
        Act::After(time, bytes) => {
            std::thread::sleep(time);
            stream.write_all(&bytes).is_ok()
        }
        Act::WhenSeen(count, bytes) => {
            while requests.load(Ordering::SeqCst) < count {
                std::thread::sleep(Duration::from_millis(1));
            }
            stream.write_all(&bytes).is_ok()
        }
    }
}

pub fn open(url: &str, rate: f64, requests: u64) -> Plan {
    let schedule = Schedule {
        profile: Profile::constant(Rate::per_second(rate).unwrap()),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: None, requests: Some(requests) },
    };
    plan(url, LoadModel::Open(schedule))
}

pub fn closed(url: &str, users: u32, requests: u64) -> Plan {
    let horizon = Horizon { duration: None, requests: Some(requests) };
    plan(url, LoadModel::Closed { users: users.into(), think_time: Nanos::ZERO, horizon })
}

pub fn plan(url: &str, model: LoadModel) -> Plan {
    let limits = Limits {
        connections: None,
        timeout: Some(Nanos::from_secs(10)),
        drain: Nanos::from_secs(10),
        ..Limits::default()
    };
    let target = Target::resolve(Method::Get, url, &[], Vec::new()).unwrap();
    Plan::new(Workload { model, limits, warmup: Nanos::ZERO }, target)
}

/// Returns how much earlier than in truth answers may end in the records: without a stamp of the kernel, an end
/// excludes pauses of the machine.
pub fn ends_early_by(measured: &RunOutput) -> Nanos {
    if stamps::ARE_AVAILABLE { Nanos::ZERO } else { Nanos(measured.generator.paused_ns) }
}

/// Runs the plan and checks what must hold for every run: the books, and the parts of each delay.
pub fn run(plan: &Plan) -> RunOutput {
    run_with(plan, &Control::new())
}

pub fn run_with(plan: &Plan, control: &Control) -> RunOutput {
    let measured = truetail_engine::run(plan, control).unwrap();
    let tally = &measured.snapshot.tally;
    tally.check().unwrap();
    let samples: &Samples = &measured.snapshot.samples;
    if plan.samples != SamplesOptions::NONE {
        assert_eq!(samples.offered(), tally.planned);
    }
    for record in samples.even() {
        assert!(record.intended_start <= record.actual_start && record.actual_start <= record.end, "{record:?}");
        if record.outcome != truetail_model::record::Outcome::NeverIssued {
            assert_eq!(record.delay.total(), record.actual_start.since(record.intended_start), "{record:?}");
        }
    }
    measured
}

/// Returns an address without a listener. While the socket is held, no other process can bind to the address.
pub fn nobody() -> (socket2::Socket, std::net::SocketAddr) {
    let held = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    held.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    let address = held.local_addr().unwrap().as_socket().unwrap();
    (held, address)
}
