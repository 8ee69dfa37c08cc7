use super::framing::TooLong;

/// Something that a client sent.
#[derive(Debug)]
pub(super) enum Incoming {
    Message(Payload),
    /// Bytes to send before further answers: the answer to a ping.
    Urgent(Vec<u8>),
    /// The last bytes of the channel, to send after all answers.
    Last(Vec<u8>),
}

/// A message: with its framing on TCP, without it in WebSocket.
#[derive(Debug)]
pub(super) struct Payload {
    pub(super) bytes: Vec<u8>,
    /// It is a text in WebSocket.
    pub(super) is_text: bool,
}

/// A client that does not keep to the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ProtocolError;

impl From<TooLong> for ProtocolError {
    fn from(_: TooLong) -> ProtocolError {
        ProtocolError
    }
}
