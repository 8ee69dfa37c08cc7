//! The protocol that a user asks for.

use super::exchange::Exchange;
use super::forms::Forms;
use super::framing::Framing;
use super::matching::{Key, Matching};
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
    /// JSON forms of the messages, if their bytes are no JSON.
    pub forms: Option<Forms>,
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
            forms: None,
        }
    }

    /// Returns true if channels are calls of gRPC.
    pub fn are_calls(&self) -> bool {
        matches!(self.opening, Opening::Call(_))
    }

    /// Returns true if channels are streams of HTTP/2.
    pub fn are_over_http2(&self) -> bool {
        match &self.opening {
            Opening::Call(_) => true,
            Opening::WebSocket(request) => request.is_over_http2(),
            Opening::Nothing | Opening::Redis(_) => false,
        }
    }

    /// Returns true if the server is asked to compress messages, and ours are compressed if it agrees.
    pub fn offer_deflate(&self) -> bool {
        matches!(&self.opening, Opening::WebSocket(request) if request.offers_deflate())
    }

    /// Returns the key of a message without its frame, but of FIX with it.
    pub(super) fn key_of_message(&self, message: &[u8]) -> Option<Key> {
        self.key_of(message, Forms::of_message)
    }

    /// Returns the key of a received message, as the splitter tells it.
    pub(super) fn key_of_reply(&self, reply: &[u8]) -> Option<Key> {
        self.key_of(self.framing.content(reply), Forms::of_reply)
    }

    fn key_of(&self, bytes: &[u8], form: fn(&Forms, &[u8]) -> Option<String>) -> Option<Key> {
        match (&self.forms, &self.matching) {
            (Some(forms), Matching::Json(_)) => self.matching.key_of(form(forms, bytes)?.as_bytes()),
            _ => self.matching.key_of(bytes),
        }
    }

    /// Returns true if a message has what its reply is found by.
    fn finds_key(&self, message: &[u8]) -> bool {
        match self.forms {
            Some(_) if matches!(self.matching, Matching::Json(_)) => self.key_of_message(message).is_some(),
            _ => self.matching.finds_key(message),
        }
    }

    /// Returns the reason why a message cannot be sent in this framing, or its reply could not be matched.
    pub fn refuses(&self, message: &[u8]) -> Option<String> {
        let problem = self.framing.refuses(message);
        problem.or_else(|| {
            let is_lost = !self.finds_key(message);
            is_lost.then(|| format!("the message has nothing at --match {}", self.matching))
        })
    }
}
