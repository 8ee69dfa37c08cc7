//! What a workload leaves room for: a fault outside it can never happen.

use crate::arrival::{Profile, RateProfile, Schedule, Spacing};
use crate::time::{Nanos, Timestamp};
use crate::workload::{LoadModel, Workload};

/// The room that a workload leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// No arrival is intended at or after this; `None` where that is not known beforehand.
    pub(super) end: Option<Timestamp>,
    /// No more arrivals than this; `None` where that is not known beforehand.
    pub(super) most_arrivals: Option<u64>,
}

impl Bounds {
    pub(super) fn of(workload: &Workload) -> Bounds {
        let end = workload.model.horizon().duration.map(|duration| Timestamp(duration.0));
        match &workload.model {
            LoadModel::Open(schedule) => {
                Bounds { end: end.or_else(|| end_by_count(schedule)), most_arrivals: most_arrivals(schedule) }
            }
            LoadModel::Closed { horizon, .. } => Bounds { end, most_arrivals: horizon.requests },
            LoadModel::PartlyOpen { sessions, requests_per_session, .. } => Bounds {
                end,
                most_arrivals: most_arrivals(sessions).map(|n| n.saturating_mul(u64::from(*requests_per_session))),
            },
        }
    }
}

/// The instant just after the last arrival, where a count ends the schedule and that is cheap to know.
pub(super) fn end_by_count(schedule: &Schedule) -> Option<Timestamp> {
    let requests = schedule.horizon.requests.filter(|n| *n > 0 && schedule.spacing == Spacing::Even)?;
    let last = schedule.stripe(requests - 1, requests).next()?;
    Some(last.intended_start + Nanos(1))
}

/// A bound from above on how many arrivals a schedule has. Exponential gaps stay within ten standard deviations of
/// their expectation, but for one seed in 10^20.
fn most_arrivals(schedule: &Schedule) -> Option<u64> {
    let within = |duration: Nanos| {
        if let (Profile::Trace(trace), Spacing::Even) = (&schedule.profile, schedule.spacing) {
            return trace.instants().partition_point(|instant| instant.0 < duration.0) as u64;
        }
        let expected = schedule.profile.cumulative(duration.as_secs_f64());
        match schedule.spacing {
            Spacing::Even => expected.ceil() as u64,
            Spacing::Poisson => (expected + 10.0 * expected.sqrt() + 10.0) as u64,
        }
    };
    let by_time = schedule.horizon.duration.map(within);
    by_time.into_iter().chain(schedule.horizon.requests).min()
}
