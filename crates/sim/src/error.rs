//! Why a workload cannot be simulated.

use truetail_model::time::Timestamp;

/// Why a workload cannot be simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SimError {
    /// The workload has no horizon, and virtual time has no Ctrl-C: the simulation would never end.
    #[error("the workload has no end: give it a duration or a number of requests")]
    NoEnd,
    /// The workload is larger than any that is simulated.
    #[error(
        "{requests} requests{} are more than can be simulated, which is {most}: lower the rate or shorten the duration",
        if *events > 0 { format!(" of {events} events each") } else { String::new() }
    )]
    TooLarge {
        /// How many requests it has.
        requests: u64,
        /// How many events each of their streams has.
        events: u64,
        /// The most of both that are simulated.
        most: u64,
    },
    /// Requests and think time of closed users take no time, so virtual time never advances.
    #[error(
        "virtual time stands still at {at:?}: {starts} requests of the closed users began and ended there; give the \
         service a baseline, the users a think time, or the workload a number of requests"
    )]
    NoProgress {
        /// The instant at which time stood still.
        at: Timestamp,
        /// Requests that were started at that instant.
        starts: u64,
    },
}
