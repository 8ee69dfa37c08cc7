//! Durations, instants and rates. These types carry their unit; raw numbers have it in their names: `response_time_ns`.

mod calendar;
mod duration;
mod instant;
mod rate;

pub use calendar::days_since_1970;
pub use duration::{DurationError, NANOS_PER_SECOND, Nanos};
pub use instant::{Clock, Timestamp};
pub(crate) use rate::parse_number;
pub use rate::{Rate, RateError};
