//! Listening, and ending.

use std::io::{self, PipeWriter, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::connections::{Connections, MAX_CONNECTIONS};
use super::hosts::Hosts;
use super::{Handler, exchange};

/// Time that an ending server waits for threads whose connections it has closed.
const LAST_PATIENCE: Duration = Duration::from_millis(500);
/// Time until the next attempt if a connection cannot be accepted, for example without a free file descriptor.
const RETRY: Duration = Duration::from_millis(100);

/// A server on a listener. When dropped, it ends and closes its connections.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    pub(super) connections: Arc<Connections>,
    /// Dropped to end the listening.
    end: Option<PipeWriter>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    /// Maximum number of open files besides the listener: connections, one that is being refused, and a pipe.
    pub const MAX_FILES: u64 = MAX_CONNECTIONS as u64 + 3;

    /// Serves `listener` with `handler`, in a thread per connection. Requests may name an address or `localhost`.
    ///
    /// # Errors
    /// If the system provides no pipe or no thread.
    pub fn start(listener: TcpListener, handler: Arc<dyn Handler>) -> io::Result<Server> {
        Server::start_named(listener, Vec::new(), || {}, handler)
    }

    /// Serves `listener` with `handler`, in a thread per connection. Requests may also name one of `names`. Each thread
    /// calls `prepare` first, for example to lower its priority.
    ///
    /// # Errors
    /// If the system provides no pipe or no thread.
    pub fn start_named(
        listener: TcpListener,
        names: Vec<String>,
        prepare: fn(),
        handler: Arc<dyn Handler>,
    ) -> io::Result<Server> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let (ended, end) = io::pipe()?;
        let connections = Arc::new(Connections::default());
        let service =
            Arc::new(Service { connections: Arc::clone(&connections), hosts: Hosts(names), handler, prepare });
        let listen = move || {
            (service.prepare)();
            while wait(&listener, &ended) {
                match listener.accept() {
                    Ok((stream, _)) => service.take(stream),
                    Err(error) if is_harmless(&error) => {}
                    Err(_) => thread::sleep(RETRY),
                }
            }
        };
        let listening = thread::Builder::new().name("truetail-web".to_owned()).spawn(listen)?;
        Ok(Server { address, connections, end: Some(end), listening: Some(listening) })
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns true if any client is connected.
    pub fn has_connections(&self) -> bool {
        !self.connections.is_empty()
    }

    /// Ends the server: no connection is accepted, and no request begins. Responses in progress have `patience` to
    /// finish.
    pub fn end(mut self, patience: Duration) {
        self.end_within(patience);
    }

    fn end_within(&mut self, patience: Duration) {
        drop(self.end.take());
        let Some(listening) = self.listening.take() else { return };
        let _ = listening.join();
        self.connections.end(patience);
        self.connections.wait_until_empty(LAST_PATIENCE);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end_within(Duration::ZERO);
    }
}

struct Service {
    connections: Arc<Connections>,
    hosts: Hosts,
    handler: Arc<dyn Handler>,
    prepare: fn(),
}

impl Service {
    fn take(self: &Arc<Service>, stream: TcpStream) {
        // On some systems, accepted connections inherit the non-blocking mode of the listener.
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        let stream = Arc::new(stream);
        let Some(number) = self.connections.enter(&stream, Instant::now()) else {
            let _ = stream.set_nonblocking(true);
            let _ =
                (&*stream).write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            return;
        };
        let leaving = ConnectionGuard { connections: Arc::clone(&self.connections), number };
        let service = Arc::clone(self);
        let serve = move || {
            let leaving = leaving;
            (service.prepare)();
            exchange::serve(&stream, leaving.number, &service.connections, &service.hosts, &*service.handler);
        };
        // If no thread can be started, the closure is dropped, and the connection with it.
        drop(thread::Builder::new().name("truetail-web".to_owned()).spawn(serve));
    }
}

/// Frees the place of a connection when it is dropped, even after a panic of the handler.
struct ConnectionGuard {
    connections: Arc<Connections>,
    number: u64,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.connections.leave(self.number);
    }
}

/// Waits for a connection. Returns false when the server ends.
fn wait(listener: &TcpListener, ended: &io::PipeReader) -> bool {
    let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(ended, PollFlags::IN)];
    loop {
        match poll(&mut ready, None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
            Ok(_) => return ready[1].revents().is_empty(),
        }
    }
}

/// Returns true if the client left before it was accepted.
fn is_harmless(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
}
