//! The protocol that a user asks for.

use super::exchange::Exchange;
use super::framing::Framing;
use super::matching::Matching;
use super::opening::Opening;

/// The protocol of a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageOptions {
    /// The exchange of the protocol itself that opens each channel.
    pub opening: Opening,
    /// The exchange that follows it, before the channel counts as open.
    pub hello: Exchange,
    /// The exchange after it, which asks for pushes.
    pub subscription: Exchange,
    /// The end of each message.
    pub framing: Framing,
    /// The message that a reply belongs to.
    pub matching: Matching,
}

impl MessageOptions {
    /// Returns the options of a channel that is open with its connection.
    pub fn new(framing: Framing, matching: Matching) -> MessageOptions {
        MessageOptions {
            opening: Opening::Nothing,
            hello: Exchange::default(),
            subscription: Exchange::default(),
            framing,
            matching,
        }
    }

    /// Returns the reason why a message cannot be sent in this framing, or its reply could not be matched.
    pub fn refuses(&self, message: &[u8]) -> Option<String> {
        let problem = self.framing.refuses(message);
        problem.or_else(|| {
            let is_lost = !self.matching.finds_key(message);
            is_lost.then(|| format!("the message has nothing at --match {}", self.matching))
        })
    }
}
