//! The bytes of a connection: those of its socket, or what TLS makes of them.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use rustls::ServerConnection;

/// Plaintext that is sealed and handed to the system before more is.
const MAX_SEALED: usize = 64 * 1024;

/// A connection, whose socket does not block.
#[derive(Debug)]
pub(crate) struct Transport {
    stream: TcpStream,
    tls: Option<Box<Tls>>,
}

/// The TLS session of a connection.
#[derive(Debug)]
struct Tls {
    session: ServerConnection,
    /// Plaintext bytes that were sealed, and of which the system has not taken all yet.
    sealed: usize,
}

impl Transport {
    /// `stream` as it is, or under TLS.
    pub(crate) fn new(stream: TcpStream, session: Option<ServerConnection>) -> Transport {
        Transport { stream, tls: session.map(|session| Box::new(Tls { session, sealed: 0 })) }
    }

    /// Its socket.
    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Reads as [`Read::read`] does: 0 bytes are the end, and [`ErrorKind::WouldBlock`] means that there is nothing now.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.stream.read(buffer),
            Some(tls) => tls.read(&self.stream, buffer),
        }
    }

    /// Hands bytes to the system and says how many it took. Where that is [`ErrorKind::WouldBlock`], the next call has to be with
    /// the same bytes, and may be with more behind them: some of them may have been sealed.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.stream.write(bytes),
            Some(tls) => tls.write(&self.stream, bytes),
        }
    }

    /// Hands the system what TLS has to say by itself, as far as it takes it.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.tls.as_mut().map_or(Ok(()), |tls| tls.flush(&self.stream))
    }

    /// Says that nothing more will be sent.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.session.send_close_notify();
            // What the system does not take now is lost to a client that does not read.
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
                // The client ended the connection without a word of TLS: its end all the same.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            let mut stream = stream;
            if self.session.read_tls(&mut stream)? == 0 {
                return Ok(0);
            }
            let state = self.session.process_new_packets();
            // Part of the handshake, or the alert that says what was wrong.
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
