//! Starts and stops a server.

use std::fmt;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use socket2::{Domain, Protocol, Socket, Type};
use truetail_model::service::Service;
use truetail_model::time::Nanos;
use truetail_reactor::{Reactor, Waker, minimize_timer_slack};

use crate::event_loop::{EventLoop, Listener};
use crate::messages::MessageFraming;
use crate::shared_state::SharedState;
use crate::tls::Certificate;
use crate::truth::ServerTruth;
use crate::truth_log::TruthLog;
use crate::truth_recorder::{TruthLogs, TruthRecorder};

/// Connections that the system queues until they are accepted. Linux: at most `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// Options of a server.
pub struct ServerOptions {
    /// Behaviour of the server.
    pub service: Service,
    /// Address to listen on. Port 0 means any free port.
    pub listen: SocketAddr,
    /// Sink of the truth log: CSV with a header line and a row for each request, in order of their ends.
    pub truth: Option<Box<dyn Write + Send>>,
    /// Sink of the event log: CSV with a header line and a row for each event of a stream.
    pub events: Option<Box<dyn Write + Send>>,
    /// Keep rows in memory for [`Server::stop`] (about 64 bytes each, and 24 for each event of a stream).
    pub keep_truth: bool,
    /// Time limit of a head, from its first byte. A head that exceeds it is refused with 408.
    pub head_timeout: Nanos,
    /// Certificate for TLS; `None` means no TLS.
    pub certificate: Option<Certificate>,
    /// Framing of messages on TCP; `None` means HTTP and WebSocket.
    pub framing: Option<MessageFraming>,
}

impl ServerOptions {
    /// Loopback address with a port that the system chooses.
    pub const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

    /// Creates options for `service` at `listen`: rows in memory, no logs, no TLS, and half a minute for a head.
    pub fn new(service: Service, listen: SocketAddr) -> ServerOptions {
        let head_timeout = Nanos::from_secs(30);
        ServerOptions {
            service,
            listen,
            truth: None,
            events: None,
            keep_truth: true,
            head_timeout,
            certificate: None,
            framing: None,
        }
    }
}

impl fmt::Debug for ServerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerOptions")
            .field("service", &self.service)
            .field("listen", &self.listen)
            .field("truth", &self.truth.is_some())
            .field("events", &self.events.is_some())
            .field("keep_truth", &self.keep_truth)
            .field("head_timeout", &self.head_timeout)
            .field("certificate", &self.certificate.is_some())
            .field("framing", &self.framing)
            .finish()
    }
}

/// A running server. It stops when it is dropped.
#[derive(Debug)]
pub struct Server {
    addr: SocketAddr,
    admitted: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    waker: Waker,
    thread: Option<JoinHandle<ServerTruth>>,
}

impl Server {
    /// Listens, and starts a thread that serves.
    ///
    /// # Errors
    /// - The address is not available. The message names it and suggests a remedy; the kind is the system's, such as
    ///   [`io::ErrorKind::AddrInUse`].
    /// - The header of a log cannot be written.
    /// - The system has no file descriptor or thread left.
    pub fn start(options: ServerOptions) -> io::Result<Server> {
        let ServerOptions { service, listen, truth, events, keep_truth, head_timeout, certificate, framing } = options;
        let socket = bind(listen).map_err(|error| explain(listen, &error))?;
        let addr = socket.local_addr()?;
        let listener = Listener { socket, certificate, framing };
        let requests = truth.map(TruthLog::start).transpose()?;
        let logs = TruthLogs { requests, events: events.map(TruthLog::start).transpose()? };
        let recorder = TruthRecorder::new(keep_truth, logs);
        let reactor = Reactor::new()?;
        let waker = reactor.waker();
        let admitted = Arc::default();
        let stop = Arc::default();
        let shared = SharedState::new(service, recorder, head_timeout, Arc::clone(&admitted));
        let event_loop = EventLoop::new(reactor, listener, shared, Arc::clone(&stop))?;
        let thread = thread::Builder::new().name("truetail-server".to_owned()).spawn(move || {
            minimize_timer_slack();
            event_loop.run()
        })?;
        Ok(Server { addr, admitted, stop, waker, thread: Some(thread) })
    }

    /// Returns the address that the server listens on, with its actual port.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the number of requests that the service has admitted, over all epochs.
    pub fn admitted(&self) -> u64 {
        self.admitted.load(Ordering::Relaxed)
    }

    /// Closes all connections, completes the truth log and returns the truth. Requests that are still held end as
    /// [`Ending::Held`](crate::Ending::Held).
    pub fn stop(mut self) -> ServerTruth {
        match self.end().expect("a server that was not stopped has its thread") {
            Ok(truth) => truth,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    fn end(&mut self) -> Option<thread::Result<ServerTruth>> {
        let thread = self.thread.take()?;
        self.stop.store(true, Ordering::Release);
        self.waker.wake();
        Some(thread.join())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

fn bind(listen: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(listen), Type::STREAM, Some(Protocol::TCP))?;
    // Without this, lingering connections of a stopped server would prevent a restart.
    socket.set_reuse_address(true)?;
    socket.bind(&listen.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

fn explain(listen: SocketAddr, error: &io::Error) -> io::Error {
    let help = match error.kind() {
        io::ErrorKind::AddrInUse => "; something else listens there: choose another port, or 0 for any that is free",
        io::ErrorKind::PermissionDenied => "; choose a port from 1024 up",
        io::ErrorKind::AddrNotAvailable => "; choose an address of this machine, such as 127.0.0.1",
        _ => "",
    };
    io::Error::new(error.kind(), format!("cannot listen on {listen}: {error}{help}"))
}
