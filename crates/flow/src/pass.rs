//! One pass of a session through a step: its first request, and the requests that followed from its answers.

use truetail_model::time::{Nanos, Timestamp};
use truetail_run::SessionTime;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    /// Due time of its first request.
    pub(crate) due: Timestamp,
    /// Requests that followed a redirect.
    pub(crate) hops: u32,
    /// Hops of the current attempt.
    pub(crate) hops_in_a_row: u32,
    pub(crate) retries: u32,
    /// All requests of the pass.
    pub(crate) requests: u32,
}

impl Pass {
    /// Starts a pass whose first request goes out.
    pub(crate) const fn begin(due: Timestamp) -> Pass {
        Pass { requests: 1, ..Pass::never_begun(due) }
    }

    /// Creates a pass that was due, but never sent a request.
    pub(crate) const fn never_begun(due: Timestamp) -> Pass {
        Pass { due, hops: 0, hops_in_a_row: 0, retries: 0, requests: 0 }
    }

    /// Counts a request that follows a redirect.
    pub(crate) const fn hop(&mut self) {
        self.hops += 1;
        self.hops_in_a_row += 1;
        self.requests += 1;
    }

    /// Counts a retry.
    pub(crate) const fn retry(&mut self) {
        self.retries += 1;
        self.hops_in_a_row = 0;
        self.requests += 1;
    }
}

/// A pass that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedPass {
    pub(crate) pass: Pass,
    /// From its due time to its end.
    pub(crate) time: Nanos,
    pub(crate) how: SessionTime,
}

impl EndedPass {
    pub(crate) fn new(pass: Pass, how: SessionTime, end: Timestamp) -> EndedPass {
        EndedPass { pass, time: end.since(pass.due), how }
    }
}
