//! The exact answer of a scenario for an ideal open-loop client: one that starts every request at its intended start,
//! over a network that takes no time, and waits for ever.

use truetail_model::record::rank_of;
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Timestamp};

use crate::ideal_answers::each_ideal_answer;

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

/// What an ideal open-loop client would measure of streams.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct StreamTruth {
    /// From the intended start to the first event, of all streams that have one, ascending.
    pub first_event: Vec<Nanos>,
    /// Streams that have none, and requests that are not answered with a stream.
    pub without_event: u64,
    /// From each event to the next, where they do not come at once, ascending.
    pub gaps: Vec<Nanos>,
    /// Events, of which those count too that come at once.
    pub events: u64,
}

impl StreamTruth {
    /// The exact q-quantile of the time to the first event, over all arrivals; `None` where it falls among those without one.
    pub fn first_at(&self, q: f64) -> Option<u64> {
        at(&self.first_event, rank_of(q, self.first_event.len() as u64 + self.without_event))
    }

    /// The exact q-quantile of the gaps.
    pub fn gap_at(&self, q: f64) -> Option<u64> {
        at(&self.gaps, rank_of(q, self.gaps.len() as u64))
    }
}

fn at(ascending: &[Nanos], rank: u64) -> Option<u64> {
    ascending.get(usize::try_from(rank.checked_sub(1)?).ok()?).map(|time| time.0)
}

/// The truth of the streams of `scenario`, without its warm-up; `None` unless its load model is open and its service streams.
///
/// # Panics
/// When the schedule has no end.
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
