//! What cannot be simulated.

use truetail_model::time::Timestamp;

/// Why a workload cannot be simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SimError {
    /// Virtual time has no Ctrl-C: without a horizon the simulation would never end.
    #[error("the workload has no end: give it a duration or a number of requests")]
    NoEnd,
    /// Closed users whose requests and think time take no time at all never let the clock move.
    #[error(
        "virtual time stands still at {at:?}: {starts} requests of the closed users began and ended there; give the \
         service a baseline, the users a think time, or the workload a number of requests"
    )]
    NoProgress {
        /// Where.
        at: Timestamp,
        /// How many were started there.
        starts: u64,
    },
}
