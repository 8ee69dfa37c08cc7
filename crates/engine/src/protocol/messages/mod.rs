//! Messages on channels: a framing on a connection that stays open, many messages at once, and replies that are matched
//! by their order or by an id.
//!
//! | module | contents |
//! |---|---|
//! | `conversation` | one channel: what is sent, and what waits for a reply |
//! | `outbox` | the bytes to send, and the messages in them |
//! | `inbox` | the messages that wait, and the reply that arrives |
//! | `framing`, `splitter`, `redis` | the ends of messages |
//! | `matching` | the message that a reply belongs to |
//! | `built_in` | values that are filled in when a message begins |

mod built_in;
mod conversation;
mod framing;
mod inbox;
mod matching;
mod outbox;
mod redis;
mod splitter;

use std::sync::Arc;

use truetail_model::time::Timestamp;
use truetail_run::MessageBooks;

use crate::protocol::Protocol;
use crate::target::request_set::RequestSet;
use built_in::BuiltIns;
pub use built_in::with_sequence_number;
use conversation::Channel;
pub use framing::{Framing, UnknownFraming, bytes_of_hex, redis_command};
pub use matching::{Matching, UnknownMatching};

/// The protocol of a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageOptions {
    /// The end of each message.
    pub framing: Framing,
    /// The message that a reply belongs to.
    pub matching: Matching,
}

/// Messages for all channels of a worker.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    requests: RequestSet,
    options: Arc<MessageOptions>,
    built_ins: BuiltIns,
    /// Messages that were due before this are not counted in the books.
    measured_from: Timestamp,
    books: MessageBooks,
}

impl Messages {
    pub(crate) fn new(requests: &RequestSet, options: MessageOptions, measured_from: Timestamp) -> Messages {
        Messages {
            requests: requests.clone(),
            built_ins: BuiltIns::new(requests, &options.framing),
            options: Arc::new(options),
            measured_from,
            books: MessageBooks::default(),
        }
    }
}

impl Protocol for Messages {
    type Conversation = Channel;

    fn conversation(&self) -> Channel {
        Channel::new(&self.options)
    }

    fn carries_several(&self) -> bool {
        true
    }

    fn take_message_books(&mut self) -> Option<MessageBooks> {
        Some(std::mem::take(&mut self.books))
    }
}

#[cfg(test)]
mod tests;
