//! How long the steps wait, and what comes of them.

use truetail_model::time::Nanos;

use crate::clock::ClockOffset;

/// How long the steps wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// From the moment at which all pods are ready to the origin of the schedule.
    pub lead: Nanos,
    /// How long pods may take to be ready.
    pub ready_within: Nanos,
    /// How long the load lasts, without what waits for answers; `None` if its end is not known.
    pub length: Option<Nanos>,
    /// From the end of the load to the end of the last pod.
    pub end_within: Nanos,
}

/// What became of a load that had begun.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The origin of the schedule, nanoseconds since 1970 UTC.
    pub at_unix_ns: u64,
    /// Of each stripe, in order.
    pub shards: Vec<ShardOutcome>,
    /// The user ended it.
    pub stopped: bool,
}

/// What became of a shard.
#[derive(Clone, PartialEq, Debug)]
pub struct ShardOutcome {
    /// Its number, from 1.
    pub stripe: u32,
    /// Whether its result is here.
    pub fate: Fate,
    /// Its clock; `None` if that is not known.
    pub clock: Option<ClockOffset>,
}

/// Whether the result of a shard is here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It was kept.
    Gathered,
    /// It is lost: which one, and why.
    Lost(String),
}

/// Why no load was offered, or nothing is known of it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DriveError {
    /// There is no Job.
    #[error("the Job was not created: {0}")]
    Refused(String),
    /// Not all pods were ready in time.
    #[error("not all pods were ready within {within_s}s: {why}; nothing was sent")]
    NotReady {
        /// How long they had.
        within_s: u64,
        /// What they waited for.
        why: String,
    },
    /// A shard ended before the start.
    #[error("{0}; nothing was sent")]
    Died(String),
    /// The user ended it before anything was measured.
    #[error("stopped before there was a result")]
    Stopped,
    /// Nothing came back.
    #[error("no shard has a result: {0}")]
    AllLost(String),
}
