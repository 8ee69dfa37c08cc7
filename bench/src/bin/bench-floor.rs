//! The least work of a client with kernel timestamps. It does not parse, record or decide, and takes any read as one
//! answer. Costs above this floor are the load generator's; the floor itself is the cost of the system and the machine.
//!
//! - `bench-floor URL closed SECONDS`: 64 connections send again once they are answered. Reads all answers, then sends.
//! - `bench-floor URL RATE SECONDS [SPIN_US]`: sends request k at k/RATE on an idle connection. Sleeps between
//!   requests, and spins for the last SPIN_US microseconds (default 0).
//! - `bench-floor URL RATE SECONDS batches`: sends due requests and reads answers once a millisecond.
//!
//! Prints the number of answers, and answers per second.

use std::io::{self, IoSliceMut};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::process::ExitCode;

use nix::errno::Errno;
use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use rustix::net::{SendFlags, send};
use truetail_model::time::{Clock, NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_reactor::{MonotonicClock, Reactor, ReadinessEvents, minimize_timer_slack};

const CONNECTIONS: usize = 64;
const TICK: Nanos = Nanos::from_millis(1);
const DRAIN: Nanos = Nanos::from_secs(1);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |text: &str| text.parse::<u64>().ok().filter(|n| *n > 0);
    let ran = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [url, "closed", seconds] => {
            number(seconds).map(|s| Floor::connect(url).and_then(|f| f.closed(Nanos::from_secs(s))))
        }
        [url, rate, seconds] => open(url, number(rate), number(seconds), Some(Between::Sleep { spin: Nanos::ZERO })),
        [url, rate, seconds, "batches"] => open(url, number(rate), number(seconds), Some(Between::Batches)),
        [url, rate, seconds, spin_us] => {
            let spin = spin_us.parse().ok().map(|us| Between::Sleep { spin: Nanos::from_micros(us) });
            open(url, number(rate), number(seconds), spin)
        }
        _ => None,
    };
    match ran {
        None => eprintln!("usage: bench-floor URL closed SECONDS | bench-floor URL RATE SECONDS [SPIN_US | batches]"),
        Some(Err(error)) => eprintln!("bench-floor: {error}"),
        Some(Ok((responses, per_second))) => {
            println!("{{\"responses\": {responses}, \"per_second\": {per_second}}}");
            return ExitCode::SUCCESS;
        }
    }
    ExitCode::FAILURE
}

/// Activity between two requests.
#[derive(Clone, Copy, PartialEq)]
enum Between {
    /// Sleeps, and spins for the last `spin`. Answers end the sleep.
    Sleep { spin: Nanos },
    /// Sleeps until the next tick, and reads the answers then.
    Batches,
}

fn open(
    url: &str,
    rate: Option<u64>,
    seconds: Option<u64>,
    between: Option<Between>,
) -> Option<io::Result<(u64, f64)>> {
    let (rate, seconds, between) = (rate?, seconds?, between?);
    Some(Floor::connect(url).and_then(|floor| floor.open(rate, seconds, between)))
}

struct Floor {
    reactor: Reactor,
    clock: MonotonicClock,
    connections: Vec<TcpStream>,
    request: Vec<u8>,
    buffer: Vec<u8>,
    control: Vec<u8>,
    responses: u64,
}

impl Floor {
    fn connect(url: &str) -> io::Result<Floor> {
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        minimize_timer_slack();
        let (reactor, mut connections) = (Reactor::new()?, Vec::new());
        for token in 0..CONNECTIONS {
            let stream = TcpStream::connect(address)?;
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            setsockopt(&stream, ReceiveTimestampns, &true)?;
            reactor.add(&stream, token as u64)?;
            connections.push(stream);
        }
        Ok(Floor {
            reactor,
            clock: MonotonicClock::starting_now(),
            connections,
            request: format!("GET / HTTP/1.1\r\nHost: {address}\r\nUser-Agent: bench-floor\r\nAccept: */*\r\n\r\n")
                .into(),
            buffer: vec![0; 64 * 1024],
            control: nix::cmsg_space!(nix::sys::time::TimeSpec),
            responses: 0,
        })
    }

    fn closed(mut self, duration: Nanos) -> io::Result<(u64, f64)> {
        let (mut events, mut answered) = (ReadinessEvents::with_capacity(256), (0..CONNECTIONS).collect::<Vec<_>>());
        let begin = self.clock.now();
        let end = begin + duration;
        while self.clock.now() < end {
            for connection in answered.drain(..) {
                self.send(connection)?;
            }
            self.reactor.wait(&mut events, Some(Nanos::from_millis(20)))?;
            self.read_all(&events, &mut answered)?;
        }
        Ok(self.result(self.clock.now().since(begin)))
    }

    fn open(mut self, rate: u64, seconds: u64, between: Between) -> io::Result<(u64, f64)> {
        let (mut events, mut idle) = (ReadinessEvents::with_capacity(256), (0..CONNECTIONS).collect::<Vec<_>>());
        let (origin, planned) = (self.clock.now(), rate * seconds);
        let due = |k: u64| {
            let after = (u128::from(k) * u128::from(NANOS_PER_SECOND) / u128::from(rate)) as u64;
            let ticks = if between == Between::Batches { TICK.0 } else { 1 };
            origin + Nanos(after.div_ceil(ticks) * ticks)
        };
        let (mut sent, end) = (0, due(planned) + DRAIN);
        while self.responses < planned && self.clock.now() < end {
            let now = self.clock.now();
            let next = if sent < planned { due(sent) } else { end.min(now + TICK) };
            if next > now || idle.is_empty() {
                self.pause(&mut events, now, next, between)?;
                self.read_all(&events, &mut idle)?;
            } else if let Some(connection) = idle.pop() {
                self.send(connection)?;
                sent += 1;
            }
        }
        Ok(self.result(self.clock.now().since(origin)))
    }

    fn result(&self, took: Nanos) -> (u64, f64) {
        (self.responses, self.responses as f64 * NANOS_PER_SECOND as f64 / took.0.max(1) as f64)
    }

    /// Waits until `next`, less the time to spin. If every connection is busy, waits until one is idle.
    fn pause(&self, events: &mut ReadinessEvents, now: Timestamp, next: Timestamp, between: Between) -> io::Result<()> {
        let left = next.since(now);
        match between {
            _ if left.is_zero() => self.reactor.wait(events, Some(Nanos::from_millis(20))),
            Between::Sleep { spin } => self.reactor.wait(events, Some(left.saturating_sub(spin))),
            Between::Batches => {
                std::thread::sleep(left.into());
                self.reactor.wait(events, Some(Nanos::ZERO))
            }
        }
    }

    fn send(&mut self, connection: usize) -> io::Result<()> {
        // Any generator must know the time of each send and each read.
        self.clock.now();
        send(&self.connections[connection], &self.request, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    fn read_all(&mut self, events: &ReadinessEvents, answered: &mut Vec<usize>) -> io::Result<()> {
        for event in events.iter().filter(|event| event.readable) {
            let mut parts = [IoSliceMut::new(&mut self.buffer)];
            let socket = self.connections[event.token as usize].as_raw_fd();
            match recvmsg::<()>(socket, &mut parts, Some(&mut self.control), MsgFlags::empty()) {
                Ok(message) if message.bytes > 0 => {
                    let stamped = |part| matches!(part, ControlMessageOwned::ScmTimestampns(_));
                    std::hint::black_box(message.cmsgs()?.any(stamped));
                    self.clock.now();
                    self.responses += 1;
                    answered.push(event.token as usize);
                }
                Err(Errno::EAGAIN) => {}
                Ok(_) => return Err(io::Error::other("the server closed a connection")),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
