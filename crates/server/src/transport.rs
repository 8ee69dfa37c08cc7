//! The bytes of a connection: as on its socket, the plaintext of TLS, or a stream on a connection.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use rustls::ServerConnection;

/// Maximum plaintext that is encrypted before the system has taken the earlier bytes.
const MAX_SEALED: usize = 64 * 1024;

/// A stream on a connection, such as one of HTTP/2. Its methods behave as [`Transport`] has them.
#[cfg(feature = "http2")]
pub(crate) trait ByteStream: std::fmt::Debug + Send {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    fn finish(&mut self) -> io::Result<()>;
}

/// A connection with a non-blocking socket, or a stream on one.
#[derive(Debug)]
pub(crate) enum Transport {
    Socket {
        stream: TcpStream,
        tls: Option<Box<Tls>>,
    },
    #[cfg(feature = "http2")]
    Stream(Box<dyn ByteStream>),
}

#[derive(Debug)]
pub(crate) struct Tls {
    session: ServerConnection,
    /// Plaintext bytes that were encrypted, and that the system has not completely taken.
    sealed: usize,
}

impl Transport {
    /// Creates a transport over `stream`, with TLS if there is a `session`.
    pub(crate) fn new(stream: TcpStream, session: Option<ServerConnection>) -> Transport {
        Transport::Socket { stream, tls: session.map(|session| Box::new(Tls { session, sealed: 0 })) }
    }

    /// Returns the socket.
    ///
    /// # Panics
    /// If it is a stream on another connection, which nobody accepts.
    pub(crate) fn stream(&self) -> &TcpStream {
        match self {
            Transport::Socket { stream, .. } => stream,
            #[cfg(feature = "http2")]
            Transport::Stream(_) => unreachable!("a stream on a connection has no socket of its own"),
        }
    }

    /// Reads like [`Read::read`]: 0 bytes mean the end, and [`ErrorKind::WouldBlock`] means that no bytes wait.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Transport::Socket { stream, tls: None } => stream.read(buffer),
            Transport::Socket { stream, tls: Some(tls) } => tls.read(stream, buffer),
            #[cfg(feature = "http2")]
            Transport::Stream(stream) => stream.read(buffer),
        }
    }

    /// Hands bytes to the system and returns the number of bytes taken. After [`ErrorKind::WouldBlock`], the next call
    /// must pass the same bytes again, and may append more: some of them may already be encrypted.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Transport::Socket { stream, tls: None } => stream.write(bytes),
            Transport::Socket { stream, tls: Some(tls) } => tls.write(stream, bytes),
            #[cfg(feature = "http2")]
            Transport::Stream(stream) => stream.write(bytes),
        }
    }

    /// Hands pending messages of TLS to the system, as far as the system accepts them.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Transport::Socket { stream, tls: Some(tls) } => tls.flush(stream),
            _ => Ok(()),
        }
    }

    /// Announces that no more bytes will be sent.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        match self {
            Transport::Socket { stream, tls } => {
                if let Some(tls) = tls {
                    tls.session.send_close_notify();
                    // Bytes that the system does not accept now are lost. Only a client that does not read causes this.
                    let _ = tls.flush(stream);
                }
                stream.shutdown(Shutdown::Write)
            }
            #[cfg(feature = "http2")]
            Transport::Stream(stream) => stream.finish(),
        }
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
