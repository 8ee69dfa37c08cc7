//! Values that differ from message to message of a channel.

use super::websocket::Masks;

/// The values of the next message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Varying {
    /// Masking keys of WebSocket.
    pub(super) masks: Masks,
    /// Number of messages so far.
    messages: u64,
}

impl Varying {
    /// Returns the values of a channel. `seed` differs from channel to channel.
    pub(super) fn new(seed: u64) -> Varying {
        Varying { masks: Masks::new(seed), messages: 0 }
    }

    /// Returns the number of the next message, from 1.
    pub(super) fn next_number(&mut self) -> u64 {
        self.messages += 1;
        self.messages
    }
}
