//! The bytes of a connection: as on its socket, or the plaintext of TLS.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use rustls::ServerConnection;

/// Maximum plaintext that is encrypted before the system has taken the earlier bytes.
const MAX_SEALED: usize = 64 * 1024;

/// A connection with a non-blocking socket.
#[derive(Debug)]
pub(crate) struct Transport {
    stream: TcpStream,
    tls: Option<Box<Tls>>,
}

#[derive(Debug)]
struct Tls {
    session: ServerConnection,
    /// Plaintext bytes that were encrypted, and that the system has not completely taken.
    sealed: usize,
}

impl Transport {
    /// Creates a transport over `stream`, with TLS if there is a `session`.
    pub(crate) fn new(stream: TcpStream, session: Option<ServerConnection>) -> Transport {
        Transport { stream, tls: session.map(|session| Box::new(Tls { session, sealed: 0 })) }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Reads like [`Read::read`]: 0 bytes mean the end, and [`ErrorKind::WouldBlock`] means that no bytes wait.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.stream.read(buffer),
            Some(tls) => tls.read(&self.stream, buffer),
        }
    }

    /// Hands bytes to the system and returns the number of bytes taken. After [`ErrorKind::WouldBlock`], the next call
    /// must pass the same bytes again, and may append more: some of them may already be encrypted.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.stream.write(bytes),
            Some(tls) => tls.write(&self.stream, bytes),
        }
    }

    /// Hands pending messages of TLS to the system, as far as the system accepts them.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.tls.as_mut().map_or(Ok(()), |tls| tls.flush(&self.stream))
    }

    /// Announces that no more bytes will be sent.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.session.send_close_notify();
            // Bytes that the system does not accept now are lost. Only a client that does not read causes this.
            let _ = tls.flush(&self.stream);
        }
        self.stream.shutdown(Shutdown::Write)
    }
}

impl Tls {
    fn read(&mut self, stream: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.session.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The client ended the connection without a TLS notification, which counts as an end too.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            let mut stream = stream;
            if self.session.read_tls(&mut stream)? == 0 {
                return Ok(0);
            }
            let state = self.session.process_new_packets();
            // Part of the handshake, or an alert about an error.
            self.flush(stream)?;
            state.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        }
    }

    fn write(&mut self, stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
        if self.sealed == 0 {
            self.sealed = self.session.writer().write(&bytes[..bytes.len().min(MAX_SEALED)])?;
        }
        self.flush(stream)?;
        if self.session.wants_write() {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(std::mem::take(&mut self.sealed))
    }

    fn flush(&mut self, mut stream: &TcpStream) -> io::Result<()> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut stream) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
