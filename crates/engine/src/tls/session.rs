//! The TLS session of one connection. It writes to the socket; what is read is handed to it.

use std::io::{self, Read, Write};

use rustls::ClientConnection;
use socket2::Socket;

use super::config::Tls;
use crate::since::Since;

/// The TLS session of one connection.
#[derive(Debug)]
pub(crate) struct TlsSession {
    connection: ClientConnection,
    /// When its connection was there.
    pub(crate) began: Since,
    /// Something of the other side's was read that was not TLS's own.
    pub(crate) heard: bool,
    /// The peer has sent its close notification.
    pub(crate) ended: bool,
    /// Something unreadable or an alert was received.
    pub(crate) broken: bool,
}

impl TlsSession {
    /// A session over a connection that is there since `began`.
    pub(crate) fn new(tls: &Tls, began: Since) -> Result<TlsSession, rustls::Error> {
        Ok(TlsSession { connection: tls.connection()?, began, heard: false, ended: false, broken: false })
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// The protocol that was agreed on in the handshake.
    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.connection.alpn_protocol()
    }

    /// There are encrypted bytes that the socket has not taken yet.
    pub(crate) fn has_more_to_send(&self) -> bool {
        self.connection.wants_write()
    }

    /// Writes encrypted bytes to the socket, as many as it takes, and gives their number.
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

    /// Seals bytes and hands them to the socket, as many as it takes. Returns how many were sealed; none, where the socket
    /// fails before it took anything.
    pub(crate) fn write(&mut self, socket: &Socket, bytes: &[u8]) -> (usize, io::Result<()>) {
        let (mut sealed, mut taken) = (0, 0);
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

    /// Decrypts `sealed`, which was received, and appends the plaintext to `opened`.
    ///
    /// # Errors
    /// The bytes cannot be decrypted, or are an alert. What was decrypted before is in `opened`.
    pub(crate) fn open(&mut self, mut sealed: &[u8], opened: &mut Vec<u8>) -> Result<(), rustls::Error> {
        let before = opened.len();
        while !sealed.is_empty() && !self.ended {
            // It does not fail: reading from a slice cannot, and the plaintext buffer is emptied in each turn.
            self.connection.read_tls(&mut sealed).map_err(|error| rustls::Error::General(error.to_string()))?;
            let state = match self.connection.process_new_packets() {
                Ok(state) => state,
                Err(error) => {
                    // Fails after the last byte, because nobody knows what follows it.
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
