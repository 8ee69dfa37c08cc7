//! Elapsed time without the pauses of a worker.

use truetail_model::time::{Nanos, Timestamp};

/// An instant, and the total length of the worker's pauses until then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WorkerInstant {
    pub(crate) instant: Timestamp,
    pub(crate) paused: Nanos,
}

impl WorkerInstant {
    /// Returns the time from here to `now` without the pauses: a paused worker cannot notice that something has ended.
    pub(crate) fn elapsed_without_pauses(self, now: WorkerInstant) -> Nanos {
        now.instant.since(self.instant).saturating_sub(now.paused.saturating_sub(self.paused))
    }
}
