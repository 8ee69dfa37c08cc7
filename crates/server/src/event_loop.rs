//! The one thread of a server: reads what clients sent, then writes what is due, a little at a time.

use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::SockRef;
use truetail_model::time::{Nanos, Timestamp};
use truetail_reactor::{Events, LARGEST_TOKEN, Reactor, Readiness};

use crate::connection::{Connection, Over};
use crate::house::House;
use crate::slots::Slots;
use crate::truth::{Ending, Truth};

/// The token of the listening socket; no connection ever has it.
const LISTENER: u64 = LARGEST_TOKEN;
/// Reports of one wait, and so the most connections that are read before what is due is written.
const REPORTS_PER_TURN: usize = 256;
/// Timers that are served before arrivals are looked for again.
const TIMERS_PER_TURN: usize = 32;
/// Connections that are accepted before the others have their turn.
const ACCEPTS_PER_TURN: usize = 16;
/// How long nothing is accepted after the system had no room for another connection.
const ACCEPT_PAUSE: Nanos = Nanos::from_millis(20);
/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// Everything the thread of a server owns.
#[derive(Debug)]
pub(crate) struct EventLoop {
    reactor: Reactor,
    listener: TcpListener,
    stop: Arc<AtomicBool>,
    house: House,
    connections: Slots<Connection>,
    /// When to accept again; `None`: nobody is known to wait.
    accept_at: Option<Timestamp>,
    /// Connections that are to be read in the next turn without waiting for a report.
    read_next: Vec<u64>,
    buffer: Box<[u8]>,
}

impl EventLoop {
    /// A loop that accepts from `listener`, which does not block, until `stop` is set and the reactor is woken.
    ///
    /// # Errors
    /// When the reactor cannot watch the listener.
    pub(crate) fn new(
        reactor: Reactor,
        listener: TcpListener,
        house: House,
        stop: Arc<AtomicBool>,
    ) -> io::Result<EventLoop> {
        reactor.add(&listener, LISTENER)?;
        Ok(EventLoop {
            reactor,
            listener,
            stop,
            house,
            connections: Slots::new(),
            accept_at: None,
            read_next: Vec::new(),
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
        })
    }

    /// Serves until it is told to stop.
    pub(crate) fn run(mut self) -> Truth {
        let mut events = Events::with_capacity(REPORTS_PER_TURN);
        while !self.stop.load(Ordering::Acquire) {
            let timeout = self.timeout();
            self.reactor.wait(&mut events, timeout).expect("the reactor's only errors are bugs of its caller");
            self.turn(&events);
        }
        self.finish()
    }

    fn turn(&mut self, events: &Events) {
        let read_next = std::mem::take(&mut self.read_next);
        for event in events.iter() {
            self.on_report(event);
        }
        for token in read_next {
            self.read(token);
        }
        let now = self.house.now();
        if self.accept_at.is_some_and(|at| at <= now) {
            self.accept();
        }
        self.serve_timers();
        self.house.ledger.tend(now);
    }

    /// How long nothing has to be done.
    fn timeout(&self) -> Option<Nanos> {
        if !self.read_next.is_empty() {
            return Some(Nanos::ZERO);
        }
        let next =
            [self.house.timers.next(), self.accept_at, self.house.ledger.tend_at()].into_iter().flatten().min()?;
        Some(next.since(self.house.now()))
    }

    fn on_report(&mut self, event: Readiness) {
        if event.token == LISTENER {
            self.accept_at.get_or_insert(Timestamp::ZERO);
            return;
        }
        if event.readable {
            self.read(event.token);
        }
        if event.writable {
            self.with(event.token, |connection, house| connection.on_writable(house));
        }
    }

    fn read(&mut self, token: u64) {
        let Some(connection) = self.connections.get(token) else { return };
        match connection.read(&mut self.house, &mut self.buffer) {
            Ok(true) => self.read_next.push(token),
            Ok(false) => {}
            Err(over) => self.close(token, over),
        }
    }

    fn serve_timers(&mut self) {
        let mut now = self.house.now();
        for _ in 0..TIMERS_PER_TURN {
            let Some(token) = self.house.timers.pop_due(now) else { return };
            self.with(token, |connection, house| connection.on_timer(house, now));
            now = self.house.now();
        }
    }

    /// Does something with the connection of `token`, if it is still open, and closes it where that was the outcome.
    fn with(&mut self, token: u64, act: impl FnOnce(&mut Connection, &mut House) -> Result<(), Over>) {
        let Some(connection) = self.connections.get(token) else { return };
        match act(connection, &mut self.house) {
            Ok(()) if connection.wants_reading() => self.read_next.push(token),
            Ok(()) => {}
            Err(over) => self.close(token, over),
        }
    }

    fn close(&mut self, token: u64, over: Over) {
        let Some(mut connection) = self.connections.remove(token) else { return };
        let ending = if over == Over::ClientGone { Ending::ClientGone } else { Ending::Dropped };
        connection.abandon(&mut self.house, ending);
        // Fails only for a socket that is not watched.
        let _ = self.reactor.remove(connection.stream());
        if over == Over::Reset {
            let _ = SockRef::from(connection.stream()).set_linger(Some(Duration::ZERO));
        }
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS_PER_TURN {
            match self.listener.accept() {
                Ok((stream, _)) => self.welcome(stream),
                Err(error) if is_of_one_client(error.kind()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.accept_at = None;
                    return;
                }
                Err(_) => {
                    self.accept_at = Some(self.house.now() + ACCEPT_PAUSE);
                    return;
                }
            }
        }
    }

    /// Takes a new connection in. One for which the system lacks something is closed again.
    fn welcome(&mut self, stream: TcpStream) {
        let ready = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
        if ready.is_err() {
            return;
        }
        let token = self.connections.insert(|token| Connection::new(stream, token));
        let Some(connection) = self.connections.get(token) else { return };
        if self.reactor.add(connection.stream(), token).is_err() {
            self.connections.remove(token);
        }
    }

    fn finish(self) -> Truth {
        let mut house = self.house;
        for mut connection in self.connections.into_values() {
            connection.abandon(&mut house, Ending::Held);
        }
        house.into_truth()
    }
}

/// Errors of a connection that ended before it was accepted, not of the listener.
fn is_of_one_client(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Interrupted | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
}
