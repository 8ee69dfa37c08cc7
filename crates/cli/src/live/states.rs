//! The newest state of a run, for any number of observers.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use truetail_model::time::Nanos;
use truetail_report::LiveState;

/// A place for the newest state. Observers look when they like; a slow one misses states and holds nothing up. Clones are of
/// the same place.
#[derive(Clone, Default, Debug)]
pub struct LiveStates(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    content: Mutex<Content>,
    changed: Condvar,
}

#[derive(Default, Debug)]
struct Content {
    /// How many states there were.
    version: u64,
    newest: Option<Arc<LiveState>>,
    /// No state follows.
    closed: bool,
    /// Processor time that observers spent on drawing since it was asked for.
    spent: Nanos,
}

/// What [`LiveStates::newer_than`] found.
#[derive(Clone, Debug)]
pub enum Next {
    /// The newest state, and its number, from 1.
    State(u64, Arc<LiveState>),
    /// There is none newer yet.
    NotYet,
    /// No newer one will follow.
    Closed,
}

impl LiveStates {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.0.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest state; `None` before the first one.
    pub fn latest(&self) -> Option<Arc<LiveState>> {
        self.content().newest.clone()
    }

    /// The newest state, if its number is above `seen`; waits for it no longer than `patience`. 0 asks for any.
    pub fn newer_than(&self, seen: u64, patience: Duration) -> Next {
        let nothing_new = |content: &mut Content| content.version <= seen && !content.closed;
        let waited = self.0.changed.wait_timeout_while(self.content(), patience, nothing_new);
        let content = waited.unwrap_or_else(PoisonError::into_inner).0;
        match &content.newest {
            Some(newest) if content.version > seen => Next::State(content.version, Arc::clone(newest)),
            _ if content.closed => Next::Closed,
            _ => Next::NotYet,
        }
    }

    /// Tells the feed that an observer spent this much processor time on a state, so that it takes more time for the next.
    pub fn spent(&self, time: Nanos) {
        self.content().spent += time;
    }

    /// What observers spent since this was last called.
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
