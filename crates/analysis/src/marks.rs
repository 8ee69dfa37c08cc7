//! Marks of a run, such as a restart of the service: the requests that each mark harmed, and the time until the harm
//! was over.
//!
//! The band of p99 comes from the calm time before the mark. That time begins at the recovery from the mark before; if
//! that recovery is unknown, it is the calm time of the mark before. A request is *over the band* if it took longer
//! than the upper end of the band, or got no good answer.
//!
//! The model has two parts: from the mark to the recovery, requests over the band come with one probability, and then
//! with the probability from before the mark. The most likely end of the first part is the recovery. Its 95 % interval
//! has every end with a likelihood ratio of at most exp(1.92) (Pawitan, *In All Likelihood*, section 2.6).

use std::ops::Range;

use truetail_model::record::{RequestRecord, rank_of};
use truetail_run::{Mark, MarkFinding, MarkState, Run};

use crate::figures::time;
use crate::support::min_sample_size;

/// Percentile that has to come back.
const Q: f64 = 0.99;
/// Deviation of a normal distribution with 2.5 % on either side.
const DEVIATION: f64 = 1.96;
/// Difference of log-likelihoods at the ends of a 95 % interval.
const WITHIN: f64 = 1.92;
/// An effect is shown if it improves the log-likelihood by more than this plus the logarithm of the number of possible
/// ends. The logarithm pays for trying all of them.
const SHOWN: f64 = 5.0;

/// Returns a finding for each mark.
pub(crate) fn marks(run: &Run) -> Vec<MarkFinding> {
    let records = in_order(run);
    let marks = &run.facts.marks;
    let one_in = run.snapshot.samples.one_in().max(1);
    let mut calm = 0..marks.first().map_or(0, |mark| mark.at_ns);
    let finding = |(place, mark): (usize, &Mark)| {
        let next = marks.get(place + 1).map_or(u64::MAX, |next| next.at_ns);
        let before = between(&records, &calm);
        let after = between(&records, &(mark.at_ns..next));
        let finding = Window { at_ns: mark.at_ns, before, after, one_in }.finding();
        if let Some(recovery_ns) = finding.recovery_high_ns {
            calm = mark.at_ns.saturating_add(recovery_ns)..next;
        }
        finding
    };
    marks.iter().enumerate().map(finding).collect()
}

fn in_order(run: &Run) -> Vec<&RequestRecord> {
    let mut records: Vec<&RequestRecord> = run.snapshot.samples.even().iter().collect();
    records.sort_unstable_by_key(|record| (record.intended_start, record.index));
    records
}

fn between<'a>(records: &'a [&'a RequestRecord], times: &Range<u64>) -> &'a [&'a RequestRecord] {
    let place = |ns: u64| records.partition_point(|record| record.intended_start.0 < ns);
    &records[place(times.start)..place(times.end).max(place(times.start))]
}

/// The kept requests before and after a mark.
struct Window<'a> {
    at_ns: u64,
    before: &'a [&'a RequestRecord],
    after: &'a [&'a RequestRecord],
    /// The run keeps one request in this many.
    one_in: u64,
}

impl Window<'_> {
    fn finding(&self) -> MarkFinding {
        let needed = min_sample_size(Q);
        let known = self.before.len() as u64;
        if known < needed {
            let why = format!("{known} requests are known from before it, and the band of p99 needs {needed}");
            return open(why);
        }
        let Some(limit_ns) = upper_end(self.before) else {
            return open("more than 1 % of the requests before it had no good answer".to_owned());
        };
        let over = |record: &&RequestRecord| is_over(record, limit_ns);
        let usual = self.before.iter().filter(|record| over(record)).count() as f64;
        let usual = (usual + 0.5) / (self.before.len() as f64 + 1.0);
        let ends = Ends::new(self.after.iter().map(over), usual);
        let known = MarkFinding {
            limit_ns: Some(limit_ns),
            requests: self.after.len() as u64 * self.one_in,
            ..open(String::new())
        };
        if ends.is_shown() {
            return self.with_effect(&ends, limit_ns, known);
        }
        let came = self.after.len() as u64;
        if came < needed {
            return open(format!("{came} requests are known from after it, and p99 needs {needed}"));
        }
        MarkFinding {
            state: MarkState::NoEffect,
            harmed: Some(0),
            recovery_ns: Some(0),
            recovery_low_ns: Some(0),
            recovery_high_ns: Some(0),
            message: format!("no effect shown: p99 stayed within {}", time(limit_ns as f64)),
            ..known
        }
    }

    fn with_effect(&self, ends: &Ends, limit_ns: u64, known: MarkFinding) -> MarkFinding {
        let [low, best, high] = ends.interval();
        let since = |place: usize| self.after.get(place).map(|record| record.intended_start.0 - self.at_ns);
        let last = self.after.last().map_or(0, |record| record.intended_start.0 - self.at_ns);
        // As many calm requests as p99 needs.
        let has_recovered = (self.after.len() - high) as u64 >= min_sample_size(Q);
        let harmed = (ends.harmed(best) * self.one_in as f64).round() as u64;
        let answered = self.after[..best].iter().filter(|record| record.outcome.is_response());
        let peak_ns = answered.map(|record| record.response_time().0).max();
        // A part ends after its last request, and before the first of the next.
        let recovery_ns = since(best).filter(|_| has_recovered);
        let recovery_low_ns = low.checked_sub(1).and_then(since).unwrap_or(last);
        let recovery_high_ns = since(high).filter(|_| has_recovered);
        let peak = peak_ns.map_or(String::new(), |peak| format!(", the longest time was {}", time(peak as f64)));
        let back = match recovery_ns.zip(recovery_high_ns) {
            Some((best, high)) => {
                let [low, high] = [recovery_low_ns, high].map(|ns| time(ns as f64));
                format!("p99 was back within {} after {} ({low}…{high})", time(limit_ns as f64), time(best as f64))
            }
            None => {
                let last = time(last as f64);
                format!(
                    "p99 was not shown to be back within {} until {last} later, the last request",
                    time(limit_ns as f64)
                )
            }
        };
        MarkFinding {
            state: if has_recovered { MarkState::Recovered } else { MarkState::NotRecovered },
            harmed: Some(harmed),
            peak_ns,
            recovery_ns,
            recovery_low_ns: Some(recovery_low_ns),
            recovery_high_ns,
            message: format!("{harmed} of {} requests harmed{peak}; {back}", known.requests),
            ..known
        }
    }
}

fn open(why: String) -> MarkFinding {
    MarkFinding {
        state: MarkState::CannotTell,
        limit_ns: None,
        requests: 0,
        harmed: None,
        peak_ns: None,
        recovery_ns: None,
        recovery_low_ns: None,
        recovery_high_ns: None,
        message: format!("cannot be judged, because {why}"),
    }
}

fn is_good(record: &RequestRecord) -> bool {
    record.outcome.is_success()
}

fn is_over(record: &RequestRecord, limit_ns: u64) -> bool {
    !is_good(record) || record.response_time().0 > limit_ns
}

/// Returns the upper end of the 95 % interval of p99; `None` if it falls among requests without a good answer.
fn upper_end(records: &[&RequestRecord]) -> Option<u64> {
    let mut times: Vec<u64> = records.iter().filter(|r| is_good(r)).map(|record| record.response_time().0).collect();
    times.sort_unstable();
    let n = records.len() as f64;
    let above = DEVIATION * (n * Q * (1.0 - Q)).sqrt();
    let rank = rank_of(Q, records.len() as u64) as usize + above.ceil() as usize;
    times.get(rank.min(records.len()) - 1).copied()
}

/// Every possible end of the first part, with its log-likelihood.
struct Ends {
    /// By the number of requests in the first part.
    likelihoods: Vec<f64>,
    /// Requests over the band among the first ones.
    over: Vec<u64>,
    usual: f64,
}

impl Ends {
    fn new(is_over: impl Iterator<Item = bool>, usual: f64) -> Ends {
        let mut over = vec![0];
        over.extend(is_over.scan(0, |sum, is_over| {
            *sum += u64::from(is_over);
            Some(*sum)
        }));
        let all = over.len() - 1;
        let total = over[all];
        let part = |count: usize, over: u64, share: f64| {
            let over = over as f64;
            let term = |times: f64, share: f64| if times > 0.0 { times * libm::log(share) } else { 0.0 };
            term(over, share) + term(count as f64 - over, 1.0 - share)
        };
        let likelihood = |end: usize| {
            let share = (over[end] as f64 / end.max(1) as f64).clamp(usual, 1.0);
            part(end, over[end], share) + part(all - end, total - over[end], usual)
        };
        let likelihoods = (0..=all).map(likelihood).collect();
        Ends { likelihoods, over, usual }
    }

    /// Returns the most likely end, the first of several.
    fn best(&self) -> usize {
        let mut best = 0;
        for (end, likelihood) in self.likelihoods.iter().enumerate() {
            if *likelihood > self.likelihoods[best] + 1e-9 {
                best = end;
            }
        }
        best
    }

    fn is_shown(&self) -> bool {
        let gain = self.likelihoods[self.best()] - self.likelihoods[0];
        gain > libm::log(self.likelihoods.len() as f64) + SHOWN
    }

    /// Returns the first end, the most likely and the last one of the 95 % interval.
    fn interval(&self) -> [usize; 3] {
        let best = self.best();
        let is_within = |likelihood: &f64| *likelihood >= self.likelihoods[best] - WITHIN;
        let low = self.likelihoods.iter().position(is_within).unwrap_or(best);
        let high = self.likelihoods.iter().rposition(is_within).unwrap_or(best);
        [low, best, high]
    }

    /// Returns the requests over the band until this end, less those that are over it anyway.
    fn harmed(&self, end: usize) -> f64 {
        (self.over[end] as f64 - self.usual * end as f64).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(parts: &[(usize, bool)], usual: f64) -> Ends {
        Ends::new(parts.iter().flat_map(|(count, is_over)| std::iter::repeat_n(*is_over, *count)), usual)
    }

    #[test]
    fn a_block_of_slow_requests_ends_where_it_ends() {
        let ends = ends(&[(1_000, true), (9_000, false)], 0.005);
        assert!(ends.is_shown());
        assert_eq!(ends.interval(), [1_000, 1_000, 1_000]);
        assert_eq!(ends.harmed(1_000).round(), 995.0);
    }

    #[test]
    fn an_effect_in_two_waves_ends_with_the_second() {
        let ends = ends(&[(100, false), (50, true), (500, false), (50, true), (5_000, false)], 0.005);
        assert!(ends.is_shown());
        assert_eq!(ends.best(), 700);
    }

    #[test]
    fn slow_requests_as_before_are_no_effect() {
        let calm: Vec<(usize, bool)> = (0..50).flat_map(|_| [(199, false), (1, true)]).collect();
        assert!(!ends(&calm, 0.005).is_shown());
        assert!(!ends(&[(1_000, false)], 0.005).is_shown());
        assert!(!ends(&[(1, true), (999, false)], 0.005).is_shown());
    }

    #[test]
    fn an_effect_without_an_end_reaches_the_last_request() {
        let ends = ends(&[(200, false), (800, true)], 0.005);
        assert_eq!(ends.interval()[2], 1_000);
    }
}
