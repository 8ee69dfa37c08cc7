//! The TLS session of one connection. It writes to the socket itself; received bytes are passed to it.

use std::io::{self, Read, Write};

use rustls::ClientConnection;
use socket2::Socket;

use super::config::Tls;
use crate::worker_instant::WorkerInstant;

#[derive(Debug)]
pub(crate) struct TlsSession {
    connection: ClientConnection,
    /// Instant when the connection opened, before TLS.
    pub(crate) began: WorkerInstant,
    /// True if plain bytes of the peer were received.
    pub(crate) heard: bool,
    /// True if the peer has sent its close notification.
    pub(crate) ended: bool,
    /// True if unreadable bytes or an alert were received.
    pub(crate) broken: bool,
}

impl TlsSession {
    pub(crate) fn new(tls: &Tls, began: WorkerInstant) -> Result<TlsSession, rustls::Error> {
        Ok(TlsSession { connection: tls.connection()?, began, heard: false, ended: false, broken: false })
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Returns the protocol that was agreed on in the handshake.
    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.connection.alpn_protocol()
    }

    /// Returns true if the socket has not taken all encrypted bytes.
    pub(crate) fn has_more_to_send(&self) -> bool {
        self.connection.wants_write()
    }

    /// Writes encrypted bytes to the socket, as many as it takes, and returns their number.
    pub(crate) fn flush(&mut self, mut socket: &Socket) -> (usize, io::Result<()>) {
        let mut taken = 0;
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut socket) {
                Ok(0) => return (taken, Err(io::ErrorKind::WriteZero.into())),
                Ok(n) => taken += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (taken, Err(error)),
            }
        }
        (taken, Ok(()))
    }

    /// Encrypts bytes and hands them to the socket, as many as it takes. Returns the number of plain bytes that were
    /// encrypted, or 0 if the socket fails before it took anything.
    pub(crate) fn write(&mut self, socket: &Socket, bytes: &[u8]) -> (usize, io::Result<()>) {
        let mut sealed = 0;
        let mut taken = 0;
        loop {
            let (count, flushed) = self.flush(socket);
            taken += count;
            if let Err(error) = flushed {
                return (if taken > 0 { sealed } else { 0 }, Err(error));
            }
            if self.connection.wants_write() || sealed == bytes.len() {
                return (sealed, Ok(()));
            }
            match self.connection.writer().write(&bytes[sealed..]) {
                Ok(count) => sealed += count,
                Err(error) => return (sealed, Err(error)),
            }
        }
    }

    /// Decrypts `sealed`, which was received, and appends the plain bytes to `opened`.
    ///
    /// # Errors
    /// If the bytes cannot be decrypted, or are an alert. `opened` then holds what was decrypted before.
    pub(crate) fn open(&mut self, mut sealed: &[u8], opened: &mut Vec<u8>) -> Result<(), rustls::Error> {
        let before = opened.len();
        while !sealed.is_empty() && !self.ended {
            // This cannot fail: reading from a slice does not, and each turn empties the plaintext buffer.
            self.connection.read_tls(&mut sealed).map_err(|error| rustls::Error::General(error.to_string()))?;
            let state = match self.connection.process_new_packets() {
                Ok(state) => state,
                Err(error) => {
                    // The result is ignored: it is an error after the last byte, because the stream has not ended.
                    let _ = self.connection.reader().read_to_end(opened);
                    self.broken = true;
                    return Err(error);
                }
            };
            self.ended = state.peer_has_closed();
            let at = opened.len();
            opened.resize(at + state.plaintext_bytes_to_read(), 0);
            self.connection
                .reader()
                .read_exact(&mut opened[at..])
                .map_err(|e| rustls::Error::General(e.to_string()))?;
        }
        self.heard |= opened.len() > before;
        Ok(())
    }

    /// Sends the close notification, unless older bytes still wait for the socket.
    pub(crate) fn say_goodbye(&mut self, socket: &Socket) {
        if !self.connection.is_handshaking() && !self.connection.wants_write() {
            self.connection.send_close_notify();
            // A peer that is gone needs no notification.
            let _ = self.flush(socket);
        }
    }
}
