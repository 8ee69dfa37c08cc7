//! Values that differ from message to message of a channel.

use super::websocket::{DeflateTerms, Deflater, Masks};

/// The values of the next message.
#[derive(Debug)]
pub(super) struct Varying {
    /// Masking keys of WebSocket.
    pub(super) masks: Masks,
    /// Compresses messages of WebSocket, if both sides agreed on it.
    pub(super) deflater: Option<Box<Deflater>>,
    /// Number of messages so far.
    messages: u64,
}

impl Varying {
    /// Returns the values of a channel. `seed` differs from channel to channel.
    pub(super) fn new(seed: u64) -> Varying {
        Varying { masks: Masks::new(seed), deflater: None, messages: 0 }
    }

    /// Compresses further messages of WebSocket on these terms.
    pub(super) fn deflate(&mut self, terms: DeflateTerms) {
        self.deflater = Some(Box::new(Deflater::new(terms)));
    }

    /// Returns the number of the next message, from 1.
    pub(super) fn next_number(&mut self) -> u64 {
        self.messages += 1;
        self.messages
    }
}
