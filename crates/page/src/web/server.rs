//! Listening, and ending.

use std::io::{self, PipeWriter, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use super::connections::{Connections, MOST};
use super::hosts::Hosts;
use super::{Handler, exchange};

/// How long a server that ends waits for threads whose connections it has closed.
const LAST_PATIENCE: Duration = Duration::from_millis(500);
/// The time until the next attempt, where a connection cannot be accepted, such as for want of a file descriptor.
const RETRY: Duration = Duration::from_millis(100);

/// A server on a listener. It ends when it is dropped, and closes its connections then.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    pub(super) connections: Arc<Connections>,
    /// Dropped to end the listening.
    end: Option<PipeWriter>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    /// The most files that a server has open besides its listener: its connections, one that is being refused, and a pipe.
    pub const MAX_FILES: u64 = MOST as u64 + 3;

    /// Answers requests on `listener` by `handler`, with a thread for each connection. Requests may name an address or
    /// `localhost` in `Host`.
    ///
    /// # Errors
    /// If the system gives no pipe or no thread.
    pub fn start(listener: TcpListener, handler: Arc<dyn Handler>) -> io::Result<Server> {
        Server::start_named(listener, Vec::new(), || {}, handler)
    }

    /// The same. Requests may name one of `names` too, and each thread calls `prepare` first, such as to lower its
    /// priority.
    ///
    /// # Errors
    /// As [`Server::start`].
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether anyone is connected.
    pub fn has_connections(&self) -> bool {
        !self.connections.is_empty()
    }

    /// Ends it: no connection is accepted and no request is begun any more. Responses under way, event streams among
    /// them, are finished if that takes no longer than `patience`.
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

/// What the threads of the connections share.
struct Service {
    connections: Arc<Connections>,
    hosts: Hosts,
    handler: Arc<dyn Handler>,
    prepare: fn(),
}

impl Service {
    /// Serves a new connection in a thread of its own.
    fn take(self: &Arc<Service>, stream: TcpStream) {
        // Accepted connections are non-blocking on some systems, where the listener is.
        if stream.set_nonblocking(false).is_err() {
            return;
        }
        let stream = Arc::new(stream);
        let Some(number) = self.connections.enter(&stream) else {
            let _ = stream.set_nonblocking(true);
            let _ =
                (&*stream).write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            return;
        };
        let leaving = Leaving { connections: Arc::clone(&self.connections), number };
        let service = Arc::clone(self);
        let serve = move || {
            let leaving = leaving;
            (service.prepare)();
            exchange::serve(&stream, leaving.number, &service.connections, &service.hosts, &*service.handler);
        };
        // Without a thread the closure is dropped, and the connection with it.
        drop(thread::Builder::new().name("truetail-web".to_owned()).spawn(serve));
    }
}

/// Gives the place of a connection free when it is dropped, after a panic of the handler too.
struct Leaving {
    connections: Arc<Connections>,
    number: u64,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.connections.leave(self.number);
    }
}

/// Waits for a connection. False when the server ends.
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

/// The client has gone before it was accepted.
fn is_harmless(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
}
