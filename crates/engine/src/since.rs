//! Elapsed time that leaves out what a worker was paused.

use truetail_model::time::{Nanos, Timestamp};

/// An instant, and how long the worker had been paused by then, all its pauses together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Since {
    pub(crate) instant: Timestamp,
    pub(crate) paused: Nanos,
}

impl Since {
    /// From here to `now`, without the pauses in between: while the worker was paused it could not see that something was
    /// over.
    pub(crate) fn elapsed(self, now: Since) -> Nanos {
        now.instant.since(self.instant).saturating_sub(now.paused.saturating_sub(self.paused))
    }
}
