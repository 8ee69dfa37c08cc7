//! Options that a lab refuses.

use truetail_model::time::Nanos;

use crate::SimError;

/// Why a lab cannot be run as asked.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum LabError {
    /// An option that has to be above zero is zero.
    #[error("{option} is zero; it must be above zero")]
    Zero {
        /// Its name on the command line, without dashes.
        option: &'static str,
    },
    /// This lab counts in milliseconds.
    #[error("{option} is {value}; this lab counts in whole milliseconds, so write 10ms and not 10.5ms")]
    NotWholeMillis {
        /// Its name on the command line, without dashes.
        option: &'static str,
        /// What was given.
        value: Nanos,
    },
    /// Pauses that leave no time between them.
    #[error("a pause of {length} every {every} never ends; make the pause shorter or the time between pauses longer")]
    PauseNeverEnds {
        /// Length of a pause.
        length: Nanos,
        /// From the start of one pause to the start of the next.
        every: Nanos,
    },
    /// More requests than anybody waits for.
    #[error("that would be {requests} requests, and a lab does at most {MAX_REQUESTS}; lower the rate or the duration")]
    TooManyRequests {
        /// How many.
        requests: u64,
    },
    /// The service is so far behind that a day of virtual time does not suffice.
    #[error(
        "{requests} requests were not answered within a day after the last was sent; shorten the pauses or the work, or \
         lower the rate or the duration"
    )]
    Unanswered {
        /// How many.
        requests: u64,
    },
    /// The simulator refused.
    #[error(transparent)]
    Simulation(#[from] SimError),
}

impl LabError {
    /// True if an option is out of range; false if the options were accepted and the simulation itself failed.
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

/// The most requests in a series of a lab: about a minute of computing.
pub const MAX_REQUESTS: u64 = 1_000_000_000;

/// Refuses an option that is zero.
pub(super) fn above_zero(option: &'static str, value: u64) -> Result<(), LabError> {
    if value == 0 { Err(LabError::Zero { option }) } else { Ok(()) }
}

/// How many requests there are in `duration` at this rate; refused above [`MAX_REQUESTS`].
pub(super) fn requests_in(duration: Nanos, per_second: f64) -> Result<u64, LabError> {
    let requests = (duration.as_secs_f64() * per_second).round() as u64;
    if requests > MAX_REQUESTS { Err(LabError::TooManyRequests { requests }) } else { Ok(requests) }
}
