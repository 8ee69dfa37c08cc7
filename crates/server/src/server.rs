//! Starts and stops a server.

use std::fmt;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use socket2::{Domain, Protocol, Socket, Type};
use truetail_model::service::Service;
use truetail_model::time::Nanos;
use truetail_reactor::{Reactor, Waker, minimize_timer_slack};

use crate::event_loop::EventLoop;
use crate::shared_state::SharedState;
use crate::tls::Certificate;
use crate::truth::ServerTruth;
use crate::truth_log::TruthLog;
use crate::truth_recorder::{TruthLogs, TruthRecorder};

/// Connections that the system queues until they are accepted. It may queue fewer (Linux: `net.core.somaxconn`).
const BACKLOG: i32 = 4096;

/// What to serve, where, and what to record.
pub struct ServerOptions {
    /// How the server behaves.
    pub service: Service,
    /// The address to listen on; port 0: any free port.
    pub listen: SocketAddr,
    /// Where the truth log is written, if anywhere: CSV with a header line and a row for each request, in the order in
    /// which requests end.
    pub truth: Option<Box<dyn Write + Send>>,
    /// Where the events of streams are written, if anywhere: the same with a row for each event.
    pub events: Option<Box<dyn Write + Send>>,
    /// Keep rows in memory for [`Server::stop`] (about 64 bytes each, and 24 for each event of a stream).
    pub keep_truth: bool,
    /// A head that is not complete this long after its first byte is refused with 408.
    pub head_timeout: Nanos,
    /// The certificate with which connections are secured; `None`: they are not.
    pub certificate: Option<Certificate>,
}

impl ServerOptions {
    /// `service` at `listen`, with rows in memory, without truth logs and without TLS, and half a minute for a head.
    pub fn new(service: Service, listen: SocketAddr) -> ServerOptions {
        let head_timeout = Nanos::from_secs(30);
        ServerOptions { service, listen, truth: None, events: None, keep_truth: true, head_timeout, certificate: None }
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
    /// Listens, and starts serving in a thread of its own.
    ///
    /// # Errors
    /// When the address is not available: the message names it and says what would help, and the kind is the system's (such
    /// as [`io::ErrorKind::AddrInUse`]). When the header of a truth log cannot be written. When the system has no file
    /// descriptor or thread left.
    pub fn start(options: ServerOptions) -> io::Result<Server> {
        let ServerOptions { service, listen, truth, events, keep_truth, head_timeout, certificate } = options;
        let listener = bind(listen).map_err(|error| explain(listen, &error))?;
        let addr = listener.local_addr()?;
        let requests = truth.map(TruthLog::start).transpose()?;
        let logs = TruthLogs { requests, events: events.map(TruthLog::start).transpose()? };
        let recorder = TruthRecorder::new(keep_truth, logs);
        let reactor = Reactor::new()?;
        let waker = reactor.waker();
        let (admitted, stop) = (Arc::default(), Arc::default());
        let shared = SharedState::new(service, recorder, head_timeout, Arc::clone(&admitted));
        let event_loop = EventLoop::new(reactor, listener, certificate, shared, Arc::clone(&stop))?;
        let thread = thread::Builder::new().name("truetail-server".to_owned()).spawn(move || {
            minimize_timer_slack();
            event_loop.run()
        })?;
        Ok(Server { addr, admitted, stop, waker, thread: Some(thread) })
    }

    /// The address that it listens on, with its actual port.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// How many requests of the service have arrived so far, over all epochs.
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
    // A server that was stopped can be started again at once, whatever connections of the old one linger.
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
