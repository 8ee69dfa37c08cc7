//! The protocol that a user asks for.

use super::framing::Framing;
use super::greeting::Opening;
use super::matching::Matching;

/// The protocol of a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageOptions {
    /// The exchange that opens each channel.
    pub opening: Opening,
    /// The end of each message.
    pub framing: Framing,
    /// The message that a reply belongs to.
    pub matching: Matching,
}
