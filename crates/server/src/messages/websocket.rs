use std::fmt;
use std::io::{self, ErrorKind, Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};
use tungstenite::protocol::{Role, WebSocketConfig, WebSocketContext};
use tungstenite::{Bytes, Error, Message, Utf8Bytes};

use super::MAX_MESSAGE_BYTES;
use super::incoming::{Incoming, Payload, ProtocolError};

/// Suffix of the key in the hash of the answer (RFC 6455, section 4.2.2).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Bytes for the frames of a client that are read at once.
const READ_BUFFER: usize = 16 * 1024;

/// A client's request for WebSocket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Upgrade {
    /// Value of `Sec-WebSocket-Key`.
    pub(crate) key: String,
    /// The first subprotocol that the client offers.
    pub(crate) protocol: Option<String>,
}

impl Upgrade {
    /// Returns the answer that opens the channel.
    pub(super) fn answer(&self) -> Vec<u8> {
        let hash = Sha1::new().chain_update(self.key.as_bytes()).chain_update(GUID).finalize();
        let accept = STANDARD.encode(hash);
        let protocol = self.protocol.as_ref().map(|name| format!("Sec-WebSocket-Protocol: {name}\r\n"));
        let protocol = protocol.unwrap_or_default();
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
        format!("{head}Sec-WebSocket-Accept: {accept}\r\n{protocol}\r\n").into_bytes()
    }
}

/// Frames of one channel.
pub(super) struct WebSocket {
    context: WebSocketContext,
    bytes: Pipe,
}

impl fmt::Debug for WebSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocket").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl WebSocket {
    /// Creates a channel after its handshake.
    pub(super) fn new() -> WebSocket {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(0)
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        WebSocket { context: WebSocketContext::new(Role::Server, Some(config)), bytes: Pipe::default() }
    }

    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.bytes.received.drain(..self.bytes.taken);
        self.bytes.taken = 0;
        self.bytes.received.extend_from_slice(bytes);
    }

    pub(super) fn next(&mut self) -> Result<Option<Incoming>, ProtocolError> {
        loop {
            let message = match self.context.read(&mut self.bytes) {
                Ok(message) => message,
                Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(_) => return Err(ProtocolError),
            };
            let incoming = match message {
                Message::Text(text) => payload(text.as_str().as_bytes(), true),
                Message::Binary(bytes) => payload(&bytes, false),
                // The answers wait in the context until they are flushed.
                Message::Ping(_) => Incoming::Urgent(self.take_unsent()),
                Message::Close(_) => Incoming::Last(self.take_unsent()),
                Message::Pong(_) | Message::Frame(_) => continue,
            };
            return Ok(Some(incoming));
        }
    }

    pub(super) fn encode(&mut self, message: Payload) -> Vec<u8> {
        let bytes = Bytes::from(message.bytes);
        let message = match message.is_text.then(|| Utf8Bytes::try_from(bytes.clone())) {
            Some(Ok(text)) => Message::Text(text),
            _ => Message::Binary(bytes),
        };
        // Fails only after the end of the channel, and then nothing more is to be sent.
        let _ = self.context.write(&mut self.bytes, message);
        self.take_unsent()
    }

    fn take_unsent(&mut self) -> Vec<u8> {
        let _ = self.context.flush(&mut self.bytes);
        std::mem::take(&mut self.bytes.unsent)
    }
}

fn payload(bytes: &[u8], is_text: bool) -> Incoming {
    Incoming::Message(Payload { bytes: bytes.to_vec(), is_text })
}

/// Bytes in memory, in both directions.
#[derive(Default, Debug)]
struct Pipe {
    received: Vec<u8>,
    /// Length of the part of `received` that was read.
    taken: usize,
    unsent: Vec<u8>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.received[self.taken..];
        if rest.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.taken += length;
        Ok(length)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unsent.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 6455, section 1.3.
    #[test]
    fn the_answer_proves_the_key() {
        let upgrade = Upgrade { key: "dGhlIHNhbXBsZSBub25jZQ==".to_owned(), protocol: Some("chat".to_owned()) };
        let answer = String::from_utf8(upgrade.answer()).unwrap();
        assert!(answer.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), "{answer}");
        assert!(answer.ends_with("\r\nSec-WebSocket-Protocol: chat\r\n\r\n"), "{answer}");
    }
}
