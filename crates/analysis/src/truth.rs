//! The exact answer of a scenario for an ideal open-loop client: one that starts every request at its intended start,
//! over a network that takes no time, and waits for ever.

use truetail_model::record::rank_of;
use truetail_model::scenario::Scenario;
use truetail_model::service::{Action, ServiceState};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModel;

/// What an ideal open-loop client would measure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Truth {
    /// Response times of the arrivals that are answered, ascending.
    answered: Vec<Nanos>,
    /// Arrivals that never are: black holes, resets, broken answers.
    unanswered: u64,
    /// Intended starts of all measured arrivals, ascending.
    intended: Vec<Timestamp>,
}

/// The truth of `scenario`, without its warm-up; `None` unless its load model is open, because otherwise the arrivals
/// themselves depend on the answers.
///
/// The fault clock starts at the first arrival. Memory grows with the number of arrivals.
///
/// # Panics
/// When the schedule has no end.
pub fn truth(scenario: &Scenario) -> Option<Truth> {
    let LoadModel::Open(schedule) = &scenario.workload.model else { return None };
    let horizon = schedule.horizon;
    assert!(horizon.duration.is_some() || horizon.requests.is_some(), "a schedule without an end has no truth");
    let mut service = ServiceState::new(scenario.service.clone());
    let mut truth = Truth { answered: Vec::new(), unanswered: 0, intended: Vec::new() };
    let mut clock_starts = None;
    for arrival in schedule.arrivals() {
        let started = *clock_starts.get_or_insert(arrival.intended_start);
        let arrived = Timestamp(arrival.intended_start.since(started).0);
        let response = service.admit(arrived);
        if arrival.intended_start.0 < scenario.workload.warmup.0 {
            continue;
        }
        truth.intended.push(arrival.intended_start);
        match response.action {
            Action::Answer { .. } | Action::SlowBody { .. } => truth.answered.push(response.completed().since(arrived)),
            Action::ShortBody | Action::Garbage | Action::Reset | Action::BlackHole => truth.unanswered += 1,
        }
    }
    truth.answered.sort_unstable();
    Some(truth)
}

impl Truth {
    /// How many arrivals there are.
    pub fn count(&self) -> u64 {
        self.answered.len() as u64 + self.unanswered
    }

    /// How many of them are never answered.
    pub fn unanswered(&self) -> u64 {
        self.unanswered
    }

    /// The exact q-quantile of the response time over all arrivals, q in [0, 1]; `None` where it falls among those that
    /// are never answered, and when there are none.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        let rank = rank_of(q, self.count());
        self.answered.get(usize::try_from(rank.checked_sub(1)?).ok()?).copied()
    }

    /// The mean response time of the answered; `None` when there are none.
    pub fn mean_ns(&self) -> Option<f64> {
        let sum: u128 = self.answered.iter().map(|time| u128::from(time.0)).sum();
        (!self.answered.is_empty()).then(|| sum as f64 / self.answered.len() as f64)
    }

    /// The response times of the answered, ascending.
    pub fn answered(&self) -> &[Nanos] {
        &self.answered
    }

    /// Arrivals intended from `from` on and before `to`.
    pub fn planned_between(&self, from: Timestamp, to: Timestamp) -> u64 {
        let before = |instant: Timestamp| self.intended.partition_point(|intended| *intended < instant);
        before(to).saturating_sub(before(from)) as u64
    }
}
