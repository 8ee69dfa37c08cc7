//! JSON forms of messages whose bytes are no JSON.

use std::sync::Arc;

use crate::opaque::Opaque;

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

    pub(super) fn of_message(&self, message: &[u8]) -> Option<String> {
        self.0.0.of_message(message)
    }

    pub(super) fn of_reply(&self, reply: &[u8]) -> Option<String> {
        self.0.0.of_reply(reply)
    }
}
