//! Schedules of requests: a rate [`Profile`] × a [`Spacing`] is a [`Schedule`].
//!
//! Let L(t) be the integral of the profile's rate from 0 to t. Even spacing puts arrival k (k = 0, 1, 2 …) at the
//! solution of L(t) = k, exponential spacing at L(t) = the k-th point of a unit Poisson process, and gamma spacing at
//! that of a renewal process with other random gaps. No rounded intervals are added up, so a schedule does not drift,
//! and (profile, spacing, seed, horizon) replays it exactly.

mod constant;
mod profile;
mod profile_error;
mod rate_profile;
mod renewal;
mod schedule;
mod sine;
mod spacing;
mod stages;
mod trace;

pub use constant::Constant;
pub use profile::Profile;
pub use profile_error::ProfileError;
pub use rate_profile::RateProfile;
pub use schedule::{Arrival, ArrivalBlock, Arrivals, Horizon, Schedule, ScheduleHash};
pub use sine::Sine;
pub use spacing::{GammaShape, Spacing, SpacingError};
pub use stages::{Stage, Stages};
pub use trace::Trace;
