use super::framing::MessageFraming;
use super::incoming::{Incoming, Payload, ProtocolError};
use super::websocket::WebSocket;

/// Reads the messages of a channel and writes answers.
#[derive(Debug)]
pub(super) enum Codec {
    Framed(Framed),
    WebSocket(Box<WebSocket>),
}

impl Codec {
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        match self {
            Codec::Framed(framed) => framed.receive(bytes),
            Codec::WebSocket(websocket) => websocket.receive(bytes),
        }
    }

    /// Returns what the client sent next, if it is complete.
    pub(super) fn next(&mut self) -> Result<Option<Incoming>, ProtocolError> {
        match self {
            Codec::Framed(framed) => framed.next(),
            Codec::WebSocket(websocket) => websocket.next(),
        }
    }

    /// Returns the bytes of the answer to a message: the same message, or an error with this status.
    pub(super) fn answer(&mut self, message: Payload, error: Option<u16>) -> Vec<u8> {
        let text = error.map(|status| format!("error {status}"));
        match self {
            Codec::Framed(framed) => text.map_or(message.bytes, |text| framed.framing.encode(text.as_bytes())),
            Codec::WebSocket(websocket) => match text {
                Some(text) => websocket.encode(Payload { bytes: text.into_bytes(), is_text: true }),
                None => websocket.encode(message),
            },
        }
    }
}

/// Messages on TCP.
#[derive(Debug)]
pub(super) struct Framed {
    framing: MessageFraming,
    input: Vec<u8>,
    /// Length of the part of `input` that was returned.
    taken: usize,
    /// Length of the part behind it that holds no end of a message.
    scanned: usize,
}

impl Framed {
    pub(super) fn new(framing: MessageFraming) -> Framed {
        Framed { framing, input: Vec::new(), taken: 0, scanned: 0 }
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.input.drain(..self.taken);
        self.taken = 0;
        self.input.extend_from_slice(bytes);
    }

    fn next(&mut self) -> Result<Option<Incoming>, ProtocolError> {
        let rest = &self.input[self.taken..];
        let Some(length) = self.framing.end(rest, self.scanned)? else {
            self.scanned = rest.len();
            return Ok(None);
        };
        let bytes = rest[..length].to_vec();
        self.taken += length;
        self.scanned = 0;
        Ok(Some(Incoming::Message(Payload { bytes, is_text: false })))
    }
}
