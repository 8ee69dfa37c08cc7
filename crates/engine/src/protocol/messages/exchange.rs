//! Messages that are exchanged on a channel before the load uses it, such as a login.

use std::fmt;
use std::sync::Arc;

use memchr::memmem;
use truetail_model::time::Nanos;

/// A step of an exchange.
#[derive(Clone, PartialEq, Eq)]
pub enum ExchangeStep {
    /// Sends a message.
    Send {
        /// Content of the message.
        message: Vec<u8>,
        /// True for a binary message of a WebSocket.
        is_binary: bool,
    },
    /// Waits for a message.
    Expect(Expectation),
}

/// A message to wait for.
#[derive(Clone, PartialEq, Eq)]
pub struct Expectation {
    /// Bytes that the message contains.
    pub content: Vec<u8>,
    /// True if other messages may come before it. Otherwise the next one must be it.
    pub passes_over: bool,
    /// Longest wait for it.
    pub within: Nanos,
}

impl Expectation {
    pub(super) fn is_met_by(&self, message: &[u8]) -> bool {
        memmem::find(message, &self.content).is_some()
    }
}

/// Steps in their order. Clones share them.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Exchange(Arc<[ExchangeStep]>);

impl Exchange {
    /// Creates an exchange of these steps.
    pub fn new(steps: Vec<ExchangeStep>) -> Exchange {
        Exchange(steps.into())
    }

    /// Returns true if there is nothing to exchange.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the messages that are sent, in their order.
    pub fn messages(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().filter_map(|step| match step {
            ExchangeStep::Send { message, .. } => Some(message.as_slice()),
            ExchangeStep::Expect(_) => None,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn step(&self, nth: usize) -> Option<&ExchangeStep> {
        self.0.get(nth)
    }
}

/// Leaves out the messages, which may have a password.
impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exchange({} steps)", self.len())
    }
}
