//! Detects saturation during a run.
//!
//! The verdict at the end of a run uses all of its data. This detector uses three counts of the last seconds, so that a
//! check once a second does not disturb the generator.

use std::collections::VecDeque;

use truetail_model::time::Nanos;

use crate::verdict::thresholds::{
    GROWN_FROM_SHARE, NEAR_TIMEOUT_SHARE, SATURATED_GROWTH_SHARE, SATURATED_NOISE, SATURATED_RISING_SHARE,
    SATURATED_SLOWER, SATURATED_STRETCHES, TIMED_OUT_SHARE,
};

/// Number of seconds considered. A stall shorter than three quarters of them cannot look like saturation.
const WINDOW: usize = 12;

/// The share of the capacity seen that is suggested as a rate. At 80 % of capacity, a queue of random arrivals is four
/// answers long on average (M/M/1: ρ/(1 − ρ)), and it drains after a stall.
pub const SUGGESTED_SHARE: f64 = 0.8;

/// The counts of a run from its origin to the end of a second.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RunCounts {
    /// Arrivals intended until then.
    pub planned: u64,
    /// Number of these arrivals that have ended, with or without an answer.
    pub ended: u64,
    /// Number of these arrivals that were answered.
    pub answered: u64,
    /// The median response time of these answers, if it is known.
    pub median: Option<Nanos>,
}

/// A backlog that grows without end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Saturation {
    /// Arrivals per second.
    pub offered_per_second: f64,
    /// Answers per second, which is the capacity of the service.
    pub capacity_per_second: f64,
    /// Arrivals that have not ended.
    pub outstanding: u64,
}

impl Saturation {
    /// Returns a rate that the service should hold.
    pub fn suggested_per_second(&self) -> f64 {
        self.capacity_per_second * SUGGESTED_SHARE
    }
}

/// Watches a run, second by second.
#[derive(Clone, Debug, Default)]
pub struct SaturationDetector {
    history: VecDeque<RunCounts>,
    timeout: Option<Nanos>,
    first_median: Option<Nanos>,
    most_answered: u64,
    /// Number of successive seconds with timeouts.
    giving_up: usize,
}

impl SaturationDetector {
    /// Creates a detector for a run with this request timeout, which ends the growth of a queue.
    pub fn with_timeout(timeout: Option<Nanos>) -> SaturationDetector {
        SaturationDetector { timeout, ..SaturationDetector::default() }
    }

    /// Takes the counts one second after the previous ones. Returns the saturation if the run is saturated.
    pub fn observe(&mut self, counts: RunCounts) -> Option<Saturation> {
        self.note_second(counts);
        self.history.push_back(counts);
        if self.history.len() > WINDOW + 1 {
            self.history.pop_front();
        }
        let growing = if self.history.len() <= WINDOW { None } else { self.judge() };
        growing.or_else(|| self.at_the_timeout(counts))
    }

    fn note_second(&mut self, counts: RunCounts) {
        let before = self.history.back().copied().unwrap_or_default();
        let ended = counts.ended - before.ended;
        let answered = counts.answered - before.answered;
        self.most_answered = self.most_answered.max(answered);
        self.first_median = self.first_median.or(counts.median);
        let given_up = ended.saturating_sub(answered) as f64;
        let gives_up = given_up > 0.0 && given_up >= ended as f64 * TIMED_OUT_SHARE;
        self.giving_up = if gives_up { self.giving_up + 1 } else { 0 };
    }

    /// Detects a queue that has reached the timeout: requests time out second after second, and the answers had grown
    /// old before. If their age grew evenly, the median over the whole run is half of the age of the last answers.
    fn at_the_timeout(&self, now: RunCounts) -> Option<Saturation> {
        let timeout = self.timeout?;
        let first = self.first_median?;
        let median = now.median?;
        let old = median.0 as f64 * 2.0 >= timeout.0 as f64 * NEAR_TIMEOUT_SHARE;
        let grown = first.0 as f64 <= median.0 as f64 * GROWN_FROM_SHARE;
        let planned = now.planned - self.history.front()?.planned;
        (self.giving_up >= SATURATED_STRETCHES && old && grown).then(|| Saturation {
            offered_per_second: planned as f64 / (self.history.len() - 1).max(1) as f64,
            capacity_per_second: self.most_answered as f64,
            outstanding: now.planned.saturating_sub(now.ended),
        })
    }

    fn judge(&self) -> Option<Saturation> {
        let first = self.history.front()?;
        let last = self.history.back()?;
        let seconds = (self.history.len() - 1) as f64;
        let planned = last.planned.saturating_sub(first.planned) as f64;
        let outstanding: Vec<f64> = self.history.iter().map(|s| s.planned as f64 - s.ended as f64).collect();
        let grown = outstanding[outstanding.len() - 1] - outstanding[0];
        let grows = grown > planned * SATURATED_GROWTH_SHARE && grown > SATURATED_NOISE * planned.sqrt();
        let saturated = grows && self.rises(&outstanding) && self.keeps_answering() && self.gets_older(&outstanding);
        saturated.then(|| Saturation {
            offered_per_second: planned / seconds,
            capacity_per_second: self.capacity(last.answered.saturating_sub(first.answered) as f64 / seconds),
            outstanding: last.planned.saturating_sub(last.ended),
        })
    }

    /// Returns `answered`, or once requests time out, the best second: a server may work for clients that have gone.
    fn capacity(&self, answered: f64) -> f64 {
        if self.giving_up > 0 { self.most_answered as f64 } else { answered }
    }

    fn rises(&self, outstanding: &[f64]) -> bool {
        let rising = outstanding.windows(2).filter(|pair| pair[1] > pair[0]).count();
        rising as f64 >= (outstanding.len() - 1) as f64 * SATURATED_RISING_SHARE
    }

    fn keeps_answering(&self) -> bool {
        let answers = self.answers();
        let answering = answers.iter().filter(|answered| **answered > 0.0).count();
        answering as f64 >= answers.len() as f64 * SATURATED_RISING_SHARE
    }

    /// Compares the age of the backlog. By Little's law, the number outstanding divided by the answers per second is
    /// the time to get through. A rate that rises makes more arrivals outstanding, but none older.
    fn gets_older(&self, outstanding: &[f64]) -> bool {
        let third = (outstanding.len() - 1) / 3;
        let answers = self.answers();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let age = |from: usize, to: usize| mean(&outstanding[from + 1..=to]) / mean(&answers[from..to]).max(1e-9);
        let end = answers.len();
        age(end - third, end) > age(0, third) * SATURATED_SLOWER
    }

    fn answers(&self) -> Vec<f64> {
        let pairs = self.history.iter().zip(self.history.iter().skip(1));
        pairs.map(|(before, after)| after.answered.saturating_sub(before.answered) as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::scenario::{Scenario, builtin};
    use truetail_run::Run;
    use truetail_sim::{SimOptions, simulate};

    use super::*;

    /// The first second that was called saturated, and its result.
    fn watched(run: &Run) -> Option<(usize, Saturation)> {
        let mut watch = SaturationDetector::default();
        let mut counts = RunCounts::default();
        run.snapshot.seconds.iter().enumerate().find_map(|(second, row)| {
            counts.planned += row.planned;
            counts.ended += row.completed + row.failed;
            counts.answered += row.completed;
            // After the last arrival there is nothing to watch.
            (row.planned > 0).then(|| watch.observe(counts)).flatten().map(|found| (second, found))
        })
    }

    fn watched_scenario(text: &str) -> Option<(usize, Saturation)> {
        watched(&simulate(&Scenario::parse(text, "test").unwrap(), SimOptions::default()).unwrap())
    }

    #[test]
    fn the_scenarios_are_saturated_where_they_are() {
        for name in builtin::names() {
            let found = watched(&simulate(&builtin::find(name).unwrap(), SimOptions::default()).unwrap());
            if name == "05-saturation" {
                let (second, found) = found.expect("saturated");
                assert!(second <= WINDOW, "as soon as there is a window: {second}");
                assert!((found.capacity_per_second - 500.0).abs() < 15.0, "{found:?}");
                assert!((found.suggested_per_second() - 400.0).abs() < 12.0 && found.offered_per_second == 1000.0);
            } else {
                assert_eq!(found, None, "{name}");
            }
        }
    }

    #[test]
    fn a_random_queue_below_its_capacity_is_not_and_above_it_is() {
        let queue = |rate: u32, seed: u32| {
            watched_scenario(&format!(
                "name = \"q\"\nabout = \"one server\"\n[workload]\nrate = {rate}\nspacing = \"poisson\"\nseed = {seed}\n\
                 duration = \"60s\"\ndrain = \"300s\"\n[service]\nbaseline = \"1ms\"\nvariation = \"exponential\"\n\
                 concurrency = 1\nseed = {seed}\n"
            ))
        };
        for seed in 1..=20 {
            assert_eq!(queue(800, seed), None, "80 %, seed {seed}");
            assert!(queue(1250, seed).is_some(), "125 %, seed {seed}");
        }
    }

    #[test]
    fn a_rate_that_rises_is_not_saturation() {
        let text = "name = \"r\"\nabout = \"a ramp\"\n[workload]\nprofile = \"ramp:100..2000/60s\"\n[service]\nbaseline = \"50ms\"\n";
        assert_eq!(watched_scenario(text), None);
    }

    /// 1 000/s into 500/s with a timeout of 5 s, second by second.
    fn to_the_timeout(median_s: impl Fn(u64) -> f64) -> Option<(u64, Saturation)> {
        let mut watch = SaturationDetector::with_timeout(Some(Nanos::from_secs(5)));
        (1..=30u64).find_map(|second| {
            let answered = 500 * second.min(10);
            let counts = RunCounts {
                planned: 1000 * second,
                ended: answered + 1000 * second.saturating_sub(10),
                answered,
                median: Some(Nanos::from_secs_f64(median_s(second))),
            };
            Some((second, watch.observe(counts)?))
        })
    }

    #[test]
    fn a_queue_at_the_timeout_is_saturation_and_a_dead_server_is_not() {
        let (second, found) = to_the_timeout(|second| 0.25 * second.min(10) as f64).expect("saturated");
        assert!(second <= 15, "{second}");
        assert_eq!((found.capacity_per_second, found.offered_per_second), (500.0, 1000.0));
        let mut died = SaturationDetector::with_timeout(Some(Nanos::from_secs(1)));
        for second in 1..=40u64 {
            let answered = 1000 * second.min(10);
            let ended = answered + 1000 * second.saturating_sub(11).min(second);
            let median = Some(Nanos::from_millis(10));
            assert_eq!(died.observe(RunCounts { planned: 1000 * second, ended, answered, median }), None, "{second}");
        }
    }

    #[test]
    fn a_server_that_answers_nothing_is_down_and_not_slow() {
        let mut watch = SaturationDetector::default();
        for second in 1..60 {
            assert_eq!(watch.observe(RunCounts { planned: 1000 * second, ..RunCounts::default() }), None);
        }
    }
}
