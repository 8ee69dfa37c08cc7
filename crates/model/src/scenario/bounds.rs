//! The bounds of a workload in time and number. A fault outside them can never happen.

use crate::arrival::{RateProfile, Schedule, Spacing};
use crate::time::{Nanos, Timestamp};
use crate::workload::{LoadModel, Workload};

/// The bounds of a workload.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkloadBounds {
    /// No arrival is intended at or after this; `None` if that is not known beforehand.
    pub(super) end: Option<Timestamp>,
    /// No more arrivals than this; `None` if that is not known beforehand.
    pub(super) max_arrivals: Option<u64>,
}

impl WorkloadBounds {
    /// Those of a route. The sessions of a flow go on after the last of them has arrived, each with as many requests as it has steps.
    pub(super) const NOT_KNOWN: WorkloadBounds = WorkloadBounds { end: None, max_arrivals: None };

    pub(super) fn of(workload: &Workload) -> WorkloadBounds {
        let end = workload.model.horizon().duration.map(|duration| Timestamp(duration.0));
        match &workload.model {
            LoadModel::Open(schedule) => {
                WorkloadBounds { end: end.or_else(|| end_by_count(schedule)), max_arrivals: max_arrivals(schedule) }
            }
            LoadModel::Closed { horizon, .. } => WorkloadBounds { end, max_arrivals: horizon.requests },
            LoadModel::PartlyOpen { sessions, requests_per_session, .. } => WorkloadBounds {
                end,
                max_arrivals: max_arrivals(sessions).map(|n| n.saturating_mul(u64::from(*requests_per_session))),
            },
        }
    }
}

/// The instant just after the last arrival, where a count ends the schedule and that is cheap to know.
pub(super) fn end_by_count(schedule: &Schedule) -> Option<Timestamp> {
    schedule.horizon.requests.filter(|_| schedule.spacing == Spacing::Even)?;
    schedule.last_arrival().map(|last| last.intended_start + Nanos(1))
}

/// A bound from above on how many arrivals a schedule has. Exponential gaps stay within ten standard deviations of
/// their expectation, but for one seed in 10^20.
fn max_arrivals(schedule: &Schedule) -> Option<u64> {
    if schedule.spacing == Spacing::Even {
        return schedule.count();
    }
    let by_time = schedule.horizon.duration.map(|duration| {
        let expected = schedule.profile.cumulative(duration.as_secs_f64());
        (expected + 10.0 * expected.sqrt() + 10.0) as u64
    });
    by_time.into_iter().chain(schedule.horizon.requests).min()
}
