//! JSON forms of messages whose bytes are no JSON.

use std::fmt;
use std::sync::Arc;

/// JSON forms of the messages of a channel.
pub trait JsonForms: Send + Sync {
    /// Returns the JSON of a message that is sent; `None` without one.
    fn of_message(&self, message: &[u8]) -> Option<String>;
    /// Returns the JSON of a received message; `None` without one.
    fn of_reply(&self, reply: &[u8]) -> Option<String>;
}

/// Shared forms. Equal to their clones only.
#[derive(Clone)]
pub struct Forms(Arc<dyn JsonForms>);

impl Forms {
    /// Creates them.
    pub fn new(forms: impl JsonForms + 'static) -> Forms {
        Forms(Arc::new(forms))
    }

    pub(super) fn of_message(&self, message: &[u8]) -> Option<String> {
        self.0.of_message(message)
    }

    pub(super) fn of_reply(&self, reply: &[u8]) -> Option<String> {
        self.0.of_reply(reply)
    }
}

impl PartialEq for Forms {
    fn eq(&self, other: &Forms) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Forms {}

impl fmt::Debug for Forms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Forms")
    }
}
