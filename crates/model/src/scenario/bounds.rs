//! The bounds of a workload in time and number.

use crate::arrival::{RateProfile, Schedule, Spacing};
use crate::time::{Nanos, Timestamp};
use crate::workload::{LoadModel, Workload};

/// Bounds of a workload in time and number. A fault outside them can never happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkloadBounds {
    /// No arrival is intended at or after this instant; `None` if unknown beforehand.
    pub(super) end: Option<Timestamp>,
    /// Maximum number of arrivals; `None` if unknown beforehand.
    pub(super) max_arrivals: Option<u64>,
    /// True if the requests are messages on channels.
    pub(super) has_channels: bool,
}

impl WorkloadBounds {
    /// Bounds for faults of a route: unknown, because sessions continue after the last arrival with any number of
    /// requests.
    pub(super) const NOT_KNOWN: WorkloadBounds = WorkloadBounds { end: None, max_arrivals: None, has_channels: false };

    pub(super) fn new(workload: &Workload) -> WorkloadBounds {
        let end = workload.model.horizon().duration.map(|duration| Timestamp(duration.0));
        let has_channels = workload.limits.channels.is_some();
        let (end, max_arrivals) = match &workload.model {
            LoadModel::Open(schedule) => (end.or_else(|| end_by_count(schedule)), max_arrivals(schedule)),
            LoadModel::Closed { horizon, .. } => (end, horizon.requests),
            LoadModel::PartlyOpen { sessions, requests_per_session, .. } => {
                (end, max_arrivals(sessions).map(|n| n.saturating_mul(u64::from(*requests_per_session))))
            }
        };
        WorkloadBounds { end, max_arrivals, has_channels }
    }
}

/// Returns the instant just after the last arrival, if a count ends the schedule and the instant is cheap to know.
pub(super) fn end_by_count(schedule: &Schedule) -> Option<Timestamp> {
    schedule.horizon.requests.filter(|_| schedule.spacing == Spacing::Even)?;
    schedule.last_arrival().map(|last| last.intended_start + Nanos(1))
}

/// Returns an upper bound on the number of arrivals. With random gaps, one seed in 10^19 exceeds it.
///
/// n arrivals take Gamma(nk)/k, which is below its mean by d/k with a probability of at most e^(−d²/2nk). So with
/// exponential gaps one seed in 10^20 exceeds it.
fn max_arrivals(schedule: &Schedule) -> Option<u64> {
    let (shape, more) = match schedule.spacing {
        Spacing::Even => return schedule.count(),
        Spacing::Poisson => (1.0, 10.0),
        Spacing::Gamma(shape) => (shape.value(), 100.0),
    };
    let by_time = schedule.horizon.duration.map(|duration| {
        let expected = schedule.profile.cumulative(duration.as_secs_f64());
        (expected + 10.0 * (expected / shape).sqrt() + more / shape) as u64
    });
    by_time.into_iter().chain(schedule.horizon.requests).min()
}
