//! Time limits of the steps, and their outcome.

use truetail_model::time::Nanos;

use crate::clock::ClockOffset;

/// Time limits of the steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeLimits {
    /// Time from the moment when all pods are ready to the origin of the schedule.
    pub lead: Nanos,
    /// Time that the pods have to become ready.
    pub ready_within: Nanos,
    /// Length of the load without its drain; `None` if it is unknown.
    pub length: Option<Nanos>,
    /// Time that the pods have from the end of the load to their own end.
    pub end_within: Nanos,
}

/// Outcome of a load that has begun.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Origin of the schedule, in nanoseconds since 1970 UTC.
    pub at_unix_ns: u64,
    /// Outcome of each stripe, in order.
    pub shards: Vec<ShardOutcome>,
    /// True if the user ended the load.
    pub stopped: bool,
}

/// Outcome of a shard.
#[derive(Clone, PartialEq, Debug)]
pub struct ShardOutcome {
    /// Number of its stripe, from 1.
    pub stripe: u32,
    /// Fate of its result.
    pub fate: Fate,
    /// Offset of its clock; `None` if unknown.
    pub clock: Option<ClockOffset>,
}

/// Fate of the result of a shard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The result was kept.
    Gathered,
    /// The result is lost. The text names the stripe and the reason.
    Lost(String),
}

/// Reason that no load was offered, or that nothing is known about it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DriveError {
    /// The Job was not created.
    #[error("the Job was not created: {0}")]
    Refused(String),
    /// Not all pods were ready in time.
    #[error("not all pods were ready within {within_s}s: {why}; nothing was sent")]
    NotReady {
        /// Time that they had, in seconds.
        within_s: u64,
        /// Reason that they were not ready.
        why: String,
    },
    /// A shard ended before the start.
    #[error("{0}; nothing was sent")]
    Died(String),
    /// The user ended the load before it had a result.
    #[error("stopped before there was a result")]
    Stopped,
    /// No shard returned a result.
    #[error("no shard has a result: {0}")]
    AllLost(String),
}
