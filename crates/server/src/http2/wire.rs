//! The bytes of a connection between its socket and h2.

use std::io::ErrorKind;
use std::net::TcpStream;

use super::pipe::Pipe;
use crate::close_reason::CloseReason;
use crate::transport::Transport;

/// Limit of bytes that wait for the client. Above the limit, the server reads no requests.
const MAX_UNREAD: usize = 1024 * 1024;
/// Reads of one connection per turn.
const READS_PER_TURN: usize = 8;

/// Extent of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Received {
    /// There may be more.
    Some,
    All,
    /// The client sends no more.
    End,
}

/// A socket, the pipe to h2, and the bytes between the two.
#[derive(Debug)]
pub(super) struct Wire {
    transport: Transport,
    pipe: Pipe,
    /// Bytes that h2 has written.
    leaving: Vec<u8>,
    /// Number of these bytes that the system has taken.
    taken: usize,
    /// True if reading was skipped because the client does not read its answers.
    is_paused: bool,
}

impl Wire {
    /// Creates a wire that has already received `received`, and returns it with the other end of its pipe.
    pub(super) fn new(transport: Transport, received: &[u8]) -> (Wire, Pipe) {
        let pipe = Pipe::default();
        pipe.receive(received);
        (Wire { transport, pipe: pipe.clone(), leaving: Vec::new(), taken: 0, is_paused: false }, pipe)
    }

    pub(super) fn stream(&self) -> &TcpStream {
        self.transport.stream()
    }

    /// Passes the received bytes to h2, through `buffer`.
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

    /// Hands the bytes of h2 to the system. Returns false if the system accepts no more for now.
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

    /// Hands the messages of TLS itself to the system.
    pub(super) fn flush_tls(&mut self) -> Result<(), CloseReason> {
        self.transport.flush().map_err(|_| CloseReason::ClientGone)
    }

    /// Returns true if too many bytes wait for the client to read them.
    pub(super) fn is_unread(&self) -> bool {
        self.leaving.len() - self.taken + self.pipe.unsent() >= MAX_UNREAD
    }

    /// Returns true, until the next call, if nothing is to be read because the client does not read its answers.
    pub(super) fn pause_if_unread(&mut self) -> bool {
        self.is_paused = self.is_unread();
        self.is_paused
    }

    /// Returns true if reading was skipped.
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Announces that no more bytes will be sent.
    pub(super) fn finish(&mut self) {
        // Fails only if the client is gone, and then need not be told.
        let _ = self.transport.finish();
    }
}
