//! One pass of a session through a step: its first request, and those that followed from its answers.

use truetail_model::time::{Nanos, Timestamp};
use truetail_run::SessionTime;

/// A pass through a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    /// When its first request was due.
    pub(crate) due: Timestamp,
    /// Requests that followed a redirect.
    pub(crate) hops: u32,
    /// The same since it was tried last.
    pub(crate) hops_in_a_row: u32,
    /// How often it was tried again.
    pub(crate) retries: u32,
    /// All its requests.
    pub(crate) requests: u32,
}

impl Pass {
    /// Its first request goes out.
    pub(crate) const fn begin(due: Timestamp) -> Pass {
        Pass { requests: 1, ..Pass::never_begun(due) }
    }

    /// It was due, and nothing of it was sent.
    pub(crate) const fn never_begun(due: Timestamp) -> Pass {
        Pass { due, hops: 0, hops_in_a_row: 0, retries: 0, requests: 0 }
    }

    /// A request that follows a redirect goes out.
    pub(crate) const fn hop(&mut self) {
        self.hops += 1;
        self.hops_in_a_row += 1;
        self.requests += 1;
    }

    /// It is tried again.
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
    /// From when it was due to its end.
    pub(crate) time: Nanos,
    pub(crate) how: SessionTime,
}

impl EndedPass {
    pub(crate) fn new(pass: Pass, how: SessionTime, end: Timestamp) -> EndedPass {
        EndedPass { pass, time: end.since(pass.due), how }
    }
}
