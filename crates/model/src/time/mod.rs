//! Durations, instants and rates. Units live in these types. At raw edges they are part of names, last:
//! `response_time_ns`.

mod duration;
mod instant;
mod rate;

pub use duration::{DurationError, NANOS_PER_SECOND, Nanos};
pub use instant::{Clock, Timestamp};
pub(crate) use rate::number_of;
pub use rate::{Rate, RateError};
