//! Errors of a simulation.

use truetail_model::time::Timestamp;

/// Error of a workload that cannot be simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SimError {
    /// The workload has no horizon, and virtual time has no Ctrl-C: the simulation would never end.
    #[error("the workload has no end: give it a duration or a number of requests")]
    NoEnd,
    /// The workload is larger than the maximum.
    #[error(
        "{requests} requests{} are more than can be simulated, which is {most}: lower the rate or shorten the duration",
        if *events > 0 { format!(" of {events} events each") } else { String::new() }
    )]
    TooLarge {
        /// Number of requests.
        requests: u64,
        /// Number of events of each stream.
        events: u64,
        /// Maximum number of requests and events together.
        most: u64,
    },
    /// The requests so far are more than can be simulated. Their number depends on answers, so it was not known before.
    #[error(
        "{requests} requests began by {at:?} of virtual time, and more cannot be simulated: shorten the duration, or give \
         the users a think time"
    )]
    TooLong {
        /// Instant of the first request above the maximum.
        at: Timestamp,
        /// Maximum number of requests.
        requests: u64,
    },
    /// Requests and think time of closed users take no time, so virtual time never advances.
    #[error(
        "virtual time stands still at {at:?}: {starts} requests of the closed users began and ended there; give the \
         service a baseline, the users a think time, or the workload a number of requests"
    )]
    NoProgress {
        /// Instant of the standstill.
        at: Timestamp,
        /// Number of requests that were started at that instant.
        starts: u64,
    },
}
