//! JSON forms of messages whose bytes are no JSON.

use std::sync::Arc;

use crate::opaque::Opaque;
use crate::protocol::http2::content_of;

/// JSON forms of the messages of a channel.
pub trait JsonForms: Send + Sync {
    /// Returns the JSON of a message that is sent; `None` without one.
    fn of_message(&self, message: &[u8]) -> Option<String>;
    /// Returns the JSON of a received message; `None` without one.
    fn of_reply(&self, reply: &[u8]) -> Option<String>;
}

/// Opaque forms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forms(Opaque<dyn JsonForms>);

impl Forms {
    /// Creates them.
    pub fn new(forms: impl JsonForms + 'static) -> Forms {
        Forms(Opaque(Arc::new(forms)))
    }

    /// Returns the JSON of a message as it was received, with its prefix; `None` without one.
    pub fn of_received(&self, received: &[u8]) -> Option<String> {
        self.of_reply(content_of(received))
    }

    pub(super) fn of_message(&self, message: &[u8]) -> Option<String> {
        self.0.0.of_message(message)
    }

    pub(super) fn of_reply(&self, reply: &[u8]) -> Option<String> {
        self.0.0.of_reply(reply)
    }
}
