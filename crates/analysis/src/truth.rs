//! The exact answer of a scenario for an ideal open-loop client: a client that starts every request at its intended
//! start, over a network that takes no time, and waits for ever.

use truetail_model::record::rank_of;
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Timestamp};

use crate::ideal_answers::each_ideal_answer;

/// Result that an ideal open-loop client would measure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Truth {
    /// Response times of the arrivals that are answered, ascending.
    answered: Vec<Nanos>,
    /// Arrivals that are never answered: black holes, resets, broken answers.
    unanswered: u64,
    /// Intended starts of all measured arrivals, ascending.
    intended: Vec<Timestamp>,
}

/// Computes the truth of `scenario`, without its warm-up. Returns `None` unless its load model is open.
///
/// The fault clock starts at the first arrival. Memory grows with the number of arrivals.
///
/// # Panics
/// If the schedule has no end.
pub fn truth(scenario: &Scenario) -> Option<Truth> {
    let mut truth = Truth { answered: Vec::new(), unanswered: 0, intended: Vec::new() };
    let is_open = each_ideal_answer(scenario, |answer| {
        truth.intended.push(answer.intended_start);
        match answer.response_time() {
            Some(time) => truth.answered.push(time),
            None => truth.unanswered += 1,
        }
    });
    truth.answered.sort_unstable();
    is_open.then_some(truth)
}

impl Truth {
    /// Returns the number of arrivals.
    pub fn count(&self) -> u64 {
        self.answered.len() as u64 + self.unanswered
    }

    /// Returns the number of arrivals that are never answered.
    pub fn unanswered(&self) -> u64 {
        self.unanswered
    }

    /// Returns the exact q-quantile of the response time over all arrivals, q in [0, 1]. Returns `None` without
    /// arrivals, or if the quantile falls among arrivals that are never answered.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        let rank = rank_of(q, self.count());
        self.answered.get(usize::try_from(rank.checked_sub(1)?).ok()?).copied()
    }

    /// Returns the mean response time of the answered arrivals, or `None` without any.
    pub fn mean_ns(&self) -> Option<f64> {
        let sum: u128 = self.answered.iter().map(|time| u128::from(time.0)).sum();
        (!self.answered.is_empty()).then(|| sum as f64 / self.answered.len() as f64)
    }

    /// Returns the response times of the answered arrivals, ascending.
    pub fn answered(&self) -> &[Nanos] {
        &self.answered
    }

    /// Counts the arrivals intended from `from` to before `to`.
    pub fn planned_between(&self, from: Timestamp, to: Timestamp) -> u64 {
        let before = |instant: Timestamp| self.intended.partition_point(|intended| *intended < instant);
        before(to).saturating_sub(before(from)) as u64
    }
}

/// Result that an ideal open-loop client would measure of streams.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct StreamTruth {
    /// From the intended start to the first event, of all streams that have one, ascending.
    pub first_event: Vec<Nanos>,
    /// Number of streams without an event, and of requests that are not answered with a stream.
    pub without_event: u64,
    /// From each event to the next that does not come at the same time, ascending.
    pub gaps: Vec<Nanos>,
    /// Number of events. Events that come at the same time count separately.
    pub events: u64,
}

impl StreamTruth {
    /// Returns the exact q-quantile, over all arrivals, of the time to the first event; `None` if no event ever comes.
    pub fn first_at(&self, q: f64) -> Option<u64> {
        at(&self.first_event, rank_of(q, self.first_event.len() as u64 + self.without_event))
    }

    /// Returns the exact q-quantile of the gaps.
    pub fn gap_at(&self, q: f64) -> Option<u64> {
        at(&self.gaps, rank_of(q, self.gaps.len() as u64))
    }
}

fn at(ascending: &[Nanos], rank: u64) -> Option<u64> {
    ascending.get(usize::try_from(rank.checked_sub(1)?).ok()?).map(|time| time.0)
}

/// Computes the truth of the streams of `scenario`, without its warm-up, if the load model is open and the service
/// streams.
///
/// # Panics
/// If the schedule has no end.
pub fn stream_truth(scenario: &Scenario) -> Option<StreamTruth> {
    scenario.service.stream?;
    let mut truth = StreamTruth::default();
    let is_open = each_ideal_answer(scenario, |answer| {
        let times: Vec<Timestamp> = answer.events.iter().filter(|(_, n)| *n > 0).map(|(at, _)| *at).collect();
        truth.events += answer.events.iter().map(|(_, n)| n).sum::<u64>();
        match times.first() {
            Some(first) => truth.first_event.push(first.since(answer.arrived)),
            None => truth.without_event += 1,
        }
        let gaps = times.windows(2).map(|pair| pair[1].since(pair[0]));
        truth.gaps.extend(gaps.filter(|gap| !gap.is_zero()));
    });
    truth.first_event.sort_unstable();
    truth.gaps.sort_unstable();
    is_open.then_some(truth)
}
