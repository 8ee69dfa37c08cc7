//! The only thread of a server. It reads the requests of clients, then sends the due answers, a few at a time.

use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::SockRef;
use truetail_model::time::{Nanos, Timestamp};
use truetail_reactor::{MAX_TOKEN, Reactor, Readiness, ReadinessEvents};

use crate::close_reason::CloseReason;
use crate::connection::AcceptedConnection;
use crate::messages::MessageFraming;
use crate::shared_state::SharedState;
use crate::slots::Slots;
use crate::tls::Certificate;
use crate::transport::Transport;
use crate::truth::{Ending, ServerTruth};

/// Token of the listening socket. No connection has this token.
const LISTENER: u64 = MAX_TOKEN;
/// Events per wait, and therefore the most connections that are read before due answers are sent.
const REPORTS_PER_TURN: usize = 256;
/// Timers per turn, before new requests are read.
const TIMERS_PER_TURN: usize = 32;
/// Accepted connections per turn.
const ACCEPTS_PER_TURN: usize = 16;
/// Pause before the next accept after the system had no room for another connection.
const ACCEPT_PAUSE: Nanos = Nanos::from_millis(20);
const READ_BYTES: usize = 64 * 1024;

/// The listening socket of a server, and what its connections are.
#[derive(Debug)]
pub(crate) struct Listener {
    /// Non-blocking.
    pub(crate) socket: TcpListener,
    /// Certificate for TLS, if the server uses TLS.
    pub(crate) certificate: Option<Certificate>,
    /// Framing of messages; `None` means HTTP.
    pub(crate) framing: Option<MessageFraming>,
}

/// The event loop of a server, with all the state that its thread owns.
#[derive(Debug)]
pub(crate) struct EventLoop {
    reactor: Reactor,
    listener: Listener,
    stop: Arc<AtomicBool>,
    shared: SharedState,
    connections: Slots<AcceptedConnection>,
    /// Time of the next accept; `None` if no client is known to wait.
    accept_at: Option<Timestamp>,
    /// Connections to read in the next turn without waiting for an event.
    read_next: Vec<u64>,
    buffer: Box<[u8]>,
}

impl EventLoop {
    /// Creates a loop that accepts from `listener` until `stop` is set and the reactor is woken. Fails if the reactor
    /// cannot watch the socket.
    pub(crate) fn new(
        reactor: Reactor,
        listener: Listener,
        shared: SharedState,
        stop: Arc<AtomicBool>,
    ) -> io::Result<EventLoop> {
        reactor.add(&listener.socket, LISTENER)?;
        Ok(EventLoop {
            reactor,
            listener,
            stop,
            shared,
            connections: Slots::new(),
            accept_at: None,
            read_next: Vec::new(),
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
        })
    }

    pub(crate) fn run(mut self) -> ServerTruth {
        let mut events = ReadinessEvents::with_capacity(REPORTS_PER_TURN);
        while !self.stop.load(Ordering::Acquire) {
            let timeout = self.timeout();
            self.reactor.wait(&mut events, timeout).expect("the reactor's only errors are bugs of its caller");
            self.turn(&events);
        }
        self.finish()
    }

    fn turn(&mut self, events: &ReadinessEvents) {
        let read_next = std::mem::take(&mut self.read_next);
        for event in events.iter() {
            self.on_report(event);
        }
        for token in read_next {
            self.read(token);
        }
        let now = self.shared.now();
        if self.accept_at.is_some_and(|at| at <= now) {
            self.accept();
        }
        self.serve_batches();
        self.serve_timers();
        self.shared.recorder.flush_due(now);
    }

    /// Returns the longest time to wait for events; `None` means without limit.
    fn timeout(&self) -> Option<Nanos> {
        if !self.read_next.is_empty() {
            return Some(Nanos::ZERO);
        }
        let batch = Some(self.shared.next_batch_event()).filter(|next| *next != Timestamp::NEVER);
        let next = [self.shared.timers.next(), self.accept_at, self.shared.recorder.flush_at(), batch];
        Some(next.into_iter().flatten().min()?.since(self.shared.now()))
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
            self.with(event.token, |connection, shared| connection.on_writable(shared));
        }
    }

    fn read(&mut self, token: u64) {
        let Some(connection) = self.connections.get(token) else { return };
        match connection.read(&mut self.shared, &mut self.buffer) {
            Ok(true) => self.read_next.push(token),
            Ok(false) => {}
            Err(over) => return self.close(token, over),
        }
        if connection.changes_protocol() {
            self.connections.replace(token, AcceptedConnection::in_its_protocol);
        }
    }

    /// Passes due events of batches to their streams, which then send them.
    fn serve_batches(&mut self) {
        let now = self.shared.now();
        for event in self.shared.batch_events(now) {
            if let Some(connection) = self.connections.get(event.key.token) {
                connection.on_step(&mut self.shared, &event);
            }
        }
    }

    fn serve_timers(&mut self) {
        let mut now = self.shared.now();
        for _ in 0..TIMERS_PER_TURN {
            let Some(token) = self.shared.timers.pop_due(now) else { return };
            self.with(token, |connection, shared| connection.on_timer(shared, now));
            now = self.shared.now();
        }
    }

    /// Calls `act` on the connection of `token` if it is open. Closes the connection if `act` returns an error.
    fn with(
        &mut self,
        token: u64,
        act: impl FnOnce(&mut AcceptedConnection, &mut SharedState) -> Result<(), CloseReason>,
    ) {
        let Some(connection) = self.connections.get(token) else { return };
        match act(connection, &mut self.shared) {
            Ok(()) if connection.wants_reading() => self.read_next.push(token),
            Ok(()) => {}
            Err(over) => self.close(token, over),
        }
    }

    fn close(&mut self, token: u64, over: CloseReason) {
        let Some(mut connection) = self.connections.remove(token) else { return };
        let ending = if over == CloseReason::ClientGone { Ending::ClientGone } else { Ending::Dropped };
        connection.abandon(&mut self.shared, ending);
        // Fails only for a socket that is not watched.
        let _ = self.reactor.remove(connection.stream());
        if over == CloseReason::Reset {
            let _ = SockRef::from(connection.stream()).set_linger(Some(Duration::ZERO));
        }
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS_PER_TURN {
            match self.listener.socket.accept() {
                Ok((stream, _)) => self.register(stream),
                Err(error) if is_client_error(error.kind()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.accept_at = None;
                    return;
                }
                Err(_) => {
                    self.accept_at = Some(self.shared.now() + ACCEPT_PAUSE);
                    return;
                }
            }
        }
    }

    /// Registers a new connection. Drops it if the system lacks a resource for it.
    fn register(&mut self, stream: TcpStream) {
        let ready = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
        let session = self.listener.certificate.as_ref().map(Certificate::session).transpose();
        let (Ok(()), Ok(session)) = (ready, session) else { return };
        let transport = Transport::new(stream, session);
        let framing = self.listener.framing;
        let token = self.connections.insert(|token| AcceptedConnection::new(transport, token, framing));
        let Some(connection) = self.connections.get(token) else { return };
        if self.reactor.add(connection.stream(), token).is_err() {
            self.connections.remove(token);
        }
    }

    fn finish(self) -> ServerTruth {
        let mut shared = self.shared;
        for mut connection in self.connections.into_values() {
            connection.abandon(&mut shared, Ending::Held);
        }
        shared.into_truth()
    }
}

/// Returns true for errors of a connection that ended before it was accepted. Other errors are the listener's.
fn is_client_error(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Interrupted | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
}
