//! Errors of labs.

use truetail_model::time::Nanos;

use crate::SimError;

/// Error of a lab that cannot run as asked.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum LabError {
    /// An option that must be above zero is zero.
    #[error("{option} is zero; it must be above zero")]
    Zero {
        /// Name on the command line, without dashes.
        option: &'static str,
    },
    /// A time is not a whole number of milliseconds.
    #[error("{option} is {value}; this lab counts in whole milliseconds, so write 10ms and not 10.5ms")]
    NotWholeMillis {
        /// Name on the command line, without dashes.
        option: &'static str,
        /// The given value.
        value: Nanos,
    },
    /// The pauses leave no time between them.
    #[error("a pause of {length} every {every} never ends; make the pause shorter or the time between pauses longer")]
    PauseNeverEnds {
        /// Length of a pause.
        length: Nanos,
        /// Time from the start of one pause to the start of the next.
        every: Nanos,
    },
    /// The lab would send more than [`MAX_REQUESTS`].
    #[error("that would be {requests} requests, and a lab does at most {MAX_REQUESTS}; lower the rate or the duration")]
    TooManyRequests {
        /// Number of requests.
        requests: u64,
    },
    /// A day of virtual time does not suffice to work off the backlog.
    #[error(
        "{requests} requests were not answered within a day after the last was sent; shorten the pauses or the work, or \
         lower the rate or the duration"
    )]
    Unanswered {
        /// Number of unanswered requests.
        requests: u64,
    },
    /// The simulation failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

impl LabError {
    /// Returns true if an option is out of range, and false if the simulation itself failed.
    pub fn is_invalid_option(&self) -> bool {
        match self {
            LabError::Zero { .. }
            | LabError::NotWholeMillis { .. }
            | LabError::PauseNeverEnds { .. }
            | LabError::TooManyRequests { .. } => true,
            LabError::Unanswered { .. } | LabError::Simulation(_) => false,
        }
    }
}

/// Maximum number of requests in a series of a lab: about a minute of computing.
pub const MAX_REQUESTS: u64 = 1_000_000_000;

pub(super) fn above_zero(option: &'static str, value: u64) -> Result<(), LabError> {
    if value == 0 { Err(LabError::Zero { option }) } else { Ok(()) }
}

/// Returns the number of requests in `duration` at this rate; refuses more than [`MAX_REQUESTS`].
pub(super) fn requests_in(duration: Nanos, per_second: f64) -> Result<u64, LabError> {
    let requests = (duration.as_secs_f64() * per_second).round() as u64;
    if requests > MAX_REQUESTS { Err(LabError::TooManyRequests { requests }) } else { Ok(requests) }
}
