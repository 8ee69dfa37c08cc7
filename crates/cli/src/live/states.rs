//! The newest state of a run, for any number of observers.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use truetail_model::time::Nanos;
use truetail_report::LiveState;

/// Slot for the newest state. A slow observer misses states but delays nothing. Clones share the slot.
#[derive(Clone, Default, Debug)]
pub(crate) struct LiveStates(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    content: Mutex<Content>,
    changed: Condvar,
}

#[derive(Default, Debug)]
struct Content {
    /// Number of states published.
    version: u64,
    newest: Option<Arc<LiveState>>,
    /// True if no state follows.
    closed: bool,
    /// Processor time that observers spent on drawing since [`LiveStates::take_spent`].
    spent: Nanos,
}

/// Result of [`LiveStates::newer_than`].
#[derive(Clone, Debug)]
pub(crate) enum Next {
    /// The newest state and its number, from 1.
    State(u64, Arc<LiveState>),
    /// No newer state exists yet.
    NotYet,
    /// No newer state will follow.
    Closed,
}

impl LiveStates {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.0.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the newest state; `None` before the first one.
    pub(crate) fn latest(&self) -> Option<Arc<LiveState>> {
        self.content().newest.clone()
    }

    /// Returns the newest state if its number is above `seen`; 0 means any state. Waits for at most `patience`.
    pub(crate) fn newer_than(&self, seen: u64, patience: Duration) -> Next {
        let nothing_new = |content: &mut Content| content.version <= seen && !content.closed;
        let waited = self.0.changed.wait_timeout_while(self.content(), patience, nothing_new);
        let content = waited.unwrap_or_else(PoisonError::into_inner).0;
        match &content.newest {
            Some(newest) if content.version > seen => Next::State(content.version, Arc::clone(newest)),
            _ if content.closed => Next::Closed,
            _ => Next::NotYet,
        }
    }

    /// Adds processor time that an observer spent on a state, so that the feed waits longer before the next.
    pub(crate) fn spent(&self, time: Nanos) {
        self.content().spent += time;
    }

    /// Returns the processor time that observers spent since the last call.
    pub(super) fn take_spent(&self) -> Nanos {
        std::mem::take(&mut self.content().spent)
    }

    pub(super) fn publish(&self, state: LiveState) {
        let mut content = self.content();
        content.version += 1;
        content.newest = Some(Arc::new(state));
        self.0.changed.notify_all();
    }

    pub(super) fn close(&self) {
        self.content().closed = true;
        self.0.changed.notify_all();
    }
}
