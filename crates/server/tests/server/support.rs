//! A client that is simple enough to trust, and checks that hold for every truth.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use truetail_model::service::{Fault, Service, ServiceState};
use truetail_model::time::{Nanos, Timestamp};
use truetail_server::{Ending, Server, ServerOptions, ServerTruth, TruthRow};

/// Time limit that only a hanging server exceeds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Length of a stall that outlasts every test.
pub(crate) const FOR_EVER: Nanos = Nanos::from_secs(3600);

pub(crate) fn options(service: Service) -> ServerOptions {
    ServerOptions::new(service, SocketAddr::from(([127, 0, 0, 1], 0)))
}

pub(crate) fn start(service: Service) -> Server {
    Server::start(options(service)).unwrap()
}

/// Returns a service of 1 ms with these faults.
pub(crate) fn faulty(faults: Vec<Fault>) -> Service {
    Service { faults, ..Service::healthy(Nanos::from_millis(1)) }
}

/// Returns a stall of the default gate from the start of the clock.
pub(crate) fn stall(length: Nanos) -> Fault {
    Fault::Stall { at: Timestamp::ZERO, length, gate: Default::default() }
}

pub(crate) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: server\r\n\r\n")
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().filter_map(|line| line.split_once(": ")).find(|(n, _)| *n == name).map(|(_, value)| value)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    Closed,
    Reset,
}

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    input: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(server: &Server) -> Client {
        let stream = TcpStream::connect(server.addr()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream, input: Vec::new() }
    }

    pub(crate) fn send(&mut self, text: impl AsRef<[u8]>) {
        self.stream.write_all(text.as_ref()).unwrap();
    }

    /// Sends `text` and returns the answer.
    pub(crate) fn ask(&mut self, text: impl AsRef<[u8]>) -> Answer {
        self.send(text);
        self.answer()
    }

    pub(crate) fn answer(&mut self) -> Answer {
        self.answer_to(false)
    }

    /// Returns the next answer, to a HEAD request.
    pub(crate) fn answer_to_head(&mut self) -> Answer {
        self.answer_to(true)
    }

    fn answer_to(&mut self, is_head: bool) -> Answer {
        let head_length = loop {
            if let Some(at) = self.input.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            assert!(self.receive() > 0, "ended in a head: {:?}", String::from_utf8_lossy(&self.input));
        };
        let head = String::from_utf8(self.input.drain(..head_length).collect()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer { status, head, body: Vec::new() };
        let length = answer.field("Content-Length").map_or(0, |length| length.parse().unwrap());
        let length = if is_head { 0 } else { length };
        while self.input.len() < length {
            assert!(self.receive() > 0, "ended in the body of {answer:?}");
        }
        answer.body = self.input.drain(..length).collect();
        answer
    }

    /// Returns the bytes up to the end of the connection, and the kind of end.
    pub(crate) fn until_end(&mut self) -> (Vec<u8>, End) {
        let end = loop {
            match self.try_receive() {
                Ok(0) => break End::Closed,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => break End::Reset,
                Err(error) => panic!("neither closed nor reset: {error}"),
            }
        };
        (std::mem::take(&mut self.input), end)
    }

    /// Waits for some bytes, and returns the number of unread bytes.
    pub(crate) fn some_bytes(&mut self) -> usize {
        self.receive();
        self.input.len()
    }

    /// Returns true if no bytes wait at the moment.
    pub(crate) fn hears_nothing(&mut self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let heard = self.try_receive();
        self.stream.set_nonblocking(false).unwrap();
        self.input.is_empty() && heard.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    fn receive(&mut self) -> usize {
        self.try_receive().unwrap()
    }

    fn try_receive(&mut self) -> std::io::Result<usize> {
        let mut buffer = [0; 16 * 1024];
        let length = self.stream.read(&mut buffer)?;
        self.input.extend_from_slice(&buffer[..length]);
        Ok(length)
    }
}

/// Returns after the server has handled all input that reached it before.
pub(crate) fn catch_up(server: &Server) {
    assert_eq!(Client::connect(server).ask(get("/healthy")).status, 200);
}

/// Waits until the server has admitted `count` requests.
pub(crate) fn wait_for_admitted(server: &Server, count: u64) {
    let started = std::time::Instant::now();
    while server.admitted() < count {
        assert!(started.elapsed() < PATIENCE, "{} of {count} admitted", server.admitted());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Stops the server and checks what must hold for every truth of `service`: the counts balance, each request has one
/// row, its fate is that of the model for its arrival, and no answer left before it was due.
pub(crate) fn stop_and_check(server: Server, service: &Service) -> ServerTruth {
    let admitted = server.admitted();
    let truth = server.stop();
    assert!(truth.log_error.is_none(), "{:?}", truth.log_error);
    assert!(truth.totals.is_balanced(), "{:?}", truth.totals);
    assert_eq!(truth.totals.admitted, admitted);
    assert_eq!(truth.rows.len() as u64, admitted);
    for ending in Ending::ALL {
        let rows = truth.rows.iter().filter(|row| row.ending == ending).count();
        assert_eq!(truth.totals.count(ending), rows as u64, "{ending:?}");
    }
    for epoch in 1..=truth.clock_starts_unix_ns.len() as u32 {
        check_against_model(truth.epoch(epoch), service);
    }
    truth
}

fn check_against_model(rows: &[TruthRow], service: &Service) {
    let mut state = ServiceState::new(service.clone());
    for row in rows {
        let plan = state.admit(Timestamp(row.arrived_ns));
        let due = Some(plan.completed()).filter(|due| *due != Timestamp::NEVER);
        assert_eq!((row.number, row.due_ns, row.faults), (plan.number, due.map(|due| due.0), plan.faults), "{row:?}");
        assert_eq!(row.answered_ns.is_some(), row.ending.sent_something(), "{row:?}");
        assert!(row.answered_ns.is_none_or(|answered| Some(answered) >= row.due_ns), "too early: {row:?}");
    }
}

/// Returns the endings of all rows, in order of arrival.
pub(crate) fn endings(truth: &ServerTruth) -> Vec<Ending> {
    truth.rows.iter().map(|row| row.ending).collect()
}
