//! One session over one connection, without I/O of its own but for handing bytes to the socket.

use std::io::{self, Read, Write};

use rustls::ClientConnection;
use socket2::Socket;

use super::Tls;
use crate::since::Since;

/// One session.
#[derive(Debug)]
pub(crate) struct TlsSession {
    connection: ClientConnection,
    /// When its connection was there.
    pub(crate) began: Since,
    /// Something of the other side's was read that was not TLS's own.
    pub(crate) heard: bool,
    /// The other side has said that nothing more comes.
    pub(crate) ended: bool,
    /// Something came that cannot be read, or an alert.
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

    /// There are sealed bytes that the socket has not taken yet.
    pub(crate) fn has_more_to_send(&self) -> bool {
        self.connection.wants_write()
    }

    /// Hands sealed bytes to the socket, as many as it takes, and says how many those were.
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

    /// Takes sealed bytes of the other side and puts what was in them at the end of `opened`.
    ///
    /// # Errors
    /// When they cannot be read, or are an alert. What was read before is in `opened`.
    pub(crate) fn open(&mut self, mut sealed: &[u8], opened: &mut Vec<u8>) -> Result<(), rustls::Error> {
        let before = opened.len();
        while !sealed.is_empty() && !self.ended {
            // A reader that is a slice never fails, and what was opened before is always taken out: so there is room.
            self.connection.read_tls(&mut sealed).map_err(|error| rustls::Error::General(error.to_string()))?;
            let state = match self.connection.process_new_packets() {
                Ok(state) => state,
                Err(error) => {
                    // It ends with an error, since what comes after its last byte is not known.
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

    /// Says that nothing more comes, where there is room to say it.
    pub(crate) fn say_goodbye(&mut self, socket: &Socket) {
        if !self.connection.is_handshaking() && !self.connection.wants_write() {
            self.connection.send_close_notify();
            // Whoever is gone needs no goodbye.
            let _ = self.flush(socket);
        }
    }
}
