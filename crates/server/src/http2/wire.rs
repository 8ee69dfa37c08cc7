//! The bytes of a connection on their way between its socket and h2.

use std::io::ErrorKind;
use std::net::TcpStream;

use super::pipe::Pipe;
use crate::close_reason::CloseReason;
use crate::transport::Transport;

/// Nothing is read while so many bytes wait for a client to read them.
const MAX_UNREAD: usize = 1024 * 1024;
/// Reads of one connection before the other connections have their turn.
const READS_PER_TURN: usize = 8;

/// How far the bytes that came were read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Received {
    /// There may be more.
    Some,
    All,
    /// No more will come.
    End,
}

/// A socket, the pipe to h2, and what is between the two.
#[derive(Debug)]
pub(super) struct Wire {
    transport: Transport,
    pipe: Pipe,
    /// What h2 has written.
    leaving: Vec<u8>,
    /// How much of it the system has taken.
    taken: usize,
}

impl Wire {
    /// A wire on which `received` came already, and the other end of its pipe.
    pub(super) fn new(transport: Transport, received: &[u8]) -> (Wire, Pipe) {
        let pipe = Pipe::default();
        pipe.receive(received);
        (Wire { transport, pipe: pipe.clone(), leaving: Vec::new(), taken: 0 }, pipe)
    }

    /// Its socket.
    pub(super) fn stream(&self) -> &TcpStream {
        self.transport.stream()
    }

    /// Hands h2 what has come, through `buffer`.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> Received {
        for _ in 0..READS_PER_TURN {
            match self.transport.read(buffer) {
                Ok(0) => return Received::End,
                Ok(length) => self.pipe.receive(&buffer[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Received::All,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Received::End,
            }
        }
        Received::Some
    }

    /// Hands to the system what h2 has written. Returns false when it takes no more for now.
    pub(super) fn flush(&mut self) -> Result<bool, CloseReason> {
        loop {
            while self.taken < self.leaving.len() {
                match self.transport.write(&self.leaving[self.taken..]) {
                    Ok(length) => self.taken += length,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => return Err(CloseReason::ClientGone),
                }
            }
            self.leaving.clear();
            self.taken = 0;
            self.pipe.take_unsent(&mut self.leaving);
            if self.leaving.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Hands to the system what TLS has to say by itself.
    pub(super) fn flush_tls(&mut self) -> Result<(), CloseReason> {
        self.transport.flush().map_err(|_| CloseReason::ClientGone)
    }

    /// The client does not read what it is sent.
    pub(super) fn is_unread(&self) -> bool {
        self.leaving.len() - self.taken + self.pipe.unsent() >= MAX_UNREAD
    }

    /// Says that nothing more will be sent.
    pub(super) fn finish(&mut self) {
        // A client that is gone need not be told.
        let _ = self.transport.finish();
    }
}
