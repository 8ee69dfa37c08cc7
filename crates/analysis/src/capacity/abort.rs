//! A condition that ends a run early, such as `error-rate > 20%`.
//!
//! The run is examined again and again, and each look is another chance to be wrong. Look k may use
//! α / (k (k + 1)) of the level α. These levels add up to α however long the run is, so a service that does not meet
//! the condition is stopped with probability α at most (Bonferroni). The exception is a run that begins with failures
//! and nothing else: its dependence cannot be estimated, and it ends at the first look.
//!
//! A run also ends once the rest of its plan cannot make up for the bad requests so far: that is certain.

use std::fmt;
use std::str::FromStr;

use truetail_model::record::Snapshot;
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Timestamp};

use super::evidence::Evidence;
use super::objective::{BadRequest, Objective};
use super::run_sample::SoFar;
use super::sample::Sample;
use crate::gates::{Clause, FailIf, Gate, GateError, mirrored};

/// Probability that a run is stopped although its service does not meet the condition.
const LEVEL: f64 = 0.01;
/// Measured time at the first look.
const FIRST_LOOK: Nanos = Nanos::from_secs(5);
/// The run grows by at least one part in this many from one look to the next, and by a second at least.
const GROWTH: u64 = 10;

/// A condition that ends a run once the service is shown to meet it.
#[derive(Clone, PartialEq, Debug)]
pub struct AbortRule {
    gate: Gate,
    /// Opposite of the condition. Its share may be 0: then a single bad request decides.
    objective: Objective,
}

/// Looks at a run in progress.
#[derive(Clone, Debug)]
pub struct AbortWatch {
    rules: Vec<AbortRule>,
    planned: Option<u64>,
    looks: u32,
    next: Nanos,
}

impl FromStr for AbortRule {
    type Err = GateError;

    /// Parses `METRIC > LIMIT` or `METRIC >= LIMIT`. METRIC is a percentile of a time, `max`, `error-rate` or
    /// `unanswered`.
    fn from_str(text: &str) -> Result<AbortRule, GateError> {
        let quoted = text.trim();
        let clause = Clause::parse(text).map_err(GateError)?;
        let refuse = |why: String| Err(GateError(format!("'{quoted}' {why}")));
        let takes = "--abort-on takes error-rate, unanswered, or a percentile of a time";
        let counted = BadRequest::counted_in(&clause, clause.or_equal);
        let counted = counted.filter(|(bad, _)| !matches!(bad, BadRequest::OfStreams(_)));
        let Some((bad, allowed)) = counted else {
            return refuse(format!("cannot end a run early; {takes}"));
        };
        if !clause.upward {
            return refuse(format!("would end the run of a good service; write '{}'", mirrored(quoted)));
        }
        if clause.has_target {
            return refuse(format!("is about one target; {takes} of the whole run"));
        }
        if allowed >= 1.0 {
            return refuse("is never met; write a share below 100%".to_owned());
        }
        let FailIf(gate) = text.parse()?;
        Ok(AbortRule { gate, objective: Objective::new(quoted, bad, allowed) })
    }
}

impl AbortRule {
    /// Gate that fails the run on the same condition.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Returns true if the whole run of `planned` arrivals is sure to meet the condition. Also returns true if the run
    /// so far meets it and shows, at this one-sided `level` in (0, 0.5), that the service does.
    fn is_met(&self, sample: &Sample, level: f64, planned: Option<u64>) -> bool {
        let bad = (sample.whole.surely_bad + sample.overdue) as f64;
        let allowed = self.objective.allowed();
        let exceeds = |requests: u64| bad > allowed * requests as f64;
        let is_shown = || allowed == 0.0 || Evidence::new(sample, allowed, level).misses();
        // The gate at the end counts all requests. The evidence about the service leaves out the first tenth.
        planned.is_some_and(exceeds) || exceeds(sample.whole.requests + sample.outstanding) && is_shown()
    }

    /// The finding, in words.
    fn describe(&self, sample: &Sample) -> String {
        let how = match self.objective.bad() {
            BadRequest::Slow { .. } => "took longer or were not answered",
            BadRequest::Failed => "failed",
            BadRequest::Unanswered | BadRequest::OfStreams(_) => "were not answered",
        };
        let requests = sample.whole.requests + sample.overdue;
        let share = (sample.whole.bad + sample.overdue) as f64 / requests.max(1) as f64;
        format!("'{self}': {:.1}% of {requests} requests so far {how}", share * 100.0)
    }
}

impl fmt::Display for AbortRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.gate.fmt(f)
    }
}

impl AbortWatch {
    /// Watches a run for any of these conditions. `planned` is an upper bound of the arrivals of the whole run; `None`
    /// if unknown.
    pub fn new(rules: Vec<AbortRule>, planned: Option<u64>) -> AbortWatch {
        AbortWatch { rules, planned, looks: 0, next: FIRST_LOOK }
    }

    /// Returns true if the next look is due after this measured time.
    pub fn is_due(&self, measured: Nanos) -> bool {
        !self.rules.is_empty() && measured >= self.next
    }

    /// Intended start before which every request can be judged at `now`.
    pub fn judged_before(&self, snapshot: &Snapshot, now: Timestamp) -> Timestamp {
        let each = self.rules.iter().map(|rule| rule.objective.judged_before(SoFar { snapshot, streams: None }, now));
        each.min().unwrap_or_default()
    }

    /// Looks at the run after a `measured` time. Judges the requests with an intended start before `before`. `due` is
    /// the planned number of these; 0 if that depends on answers. Returns the first condition that is met, in words.
    pub fn look(&mut self, measured: Nanos, snapshot: &Snapshot, before: Timestamp, due: u64) -> Option<String> {
        self.looks += 1;
        self.next = Nanos(measured.0.saturating_add((measured.0 / GROWTH).max(NANOS_PER_SECOND)));
        let level = level_of(self.looks) / self.rules.len().max(1) as f64;
        self.rules.iter().find_map(|rule| {
            let sample = rule.objective.sample_so_far(SoFar { snapshot, streams: None }, before, due);
            rule.is_met(&sample, level, self.planned).then(|| rule.describe(&sample))
        })
    }
}

/// Returns the level that a look may use. `look` counts from 1.
fn level_of(look: u32) -> f64 {
    let look = f64::from(look);
    LEVEL / (look * (look + 1.0))
}

#[cfg(test)]
mod unit {
    use truetail_model::random::Random;

    use super::super::sample::Stretch;
    use super::*;

    fn rule(text: &str) -> AbortRule {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    /// `count` rows of 20 requests. `bad` returns the bad ones of each.
    fn sample(count: usize, bad: impl Fn(usize) -> u64) -> Sample {
        let row = |i| Stretch { requests: 20, bad: bad(i), surely_bad: bad(i), near: bad(i) };
        Sample::from_rows(&(0..count).map(row).collect::<Vec<_>>())
    }

    #[test]
    fn conditions() {
        for text in [
            "error-rate > 20%",
            "unanswered >= 0.5",
            "p99 > 1s",
            "service-time p50>=5ms",
            "max > 5s",
            "error-rate > 0%",
        ] {
            assert_eq!(rule(text).to_string(), text);
        }
        for (text, says) in [
            ("error-rate < 20%", "would end the run of a good service; write 'error-rate > 20%'"),
            ("mean > 5ms", "takes error-rate, unanswered, or a percentile"),
            ("throughput < 5/s", "takes error-rate"),
            ("check-failures > 1%", "takes error-rate"),
            ("session-time p99 > 1s", "takes error-rate"),
            ("p99{GET /} > 1s", "is about one target"),
            ("error-rate > 100%", "is never met"),
            ("p99", "is not a condition"),
        ] {
            let error = text.parse::<AbortRule>().expect_err(text).to_string();
            assert!(error.contains(says) && error.contains(text) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn the_limit_is_bad_only_if_the_condition_includes_it() {
        assert_eq!(rule("p99 > 1us").objective.limit_ns(), Some(1_001));
        assert_eq!(rule("p99 >= 1us").objective.limit_ns(), Some(1_000));
    }

    #[test]
    fn failures_all_the_time_are_shown_and_a_few_or_one_short_outage_are_not() {
        let rule = rule("error-rate > 20%");
        let is_met = |sample: &Sample| rule.is_met(sample, LEVEL / 2.0, None);
        assert!(is_met(&sample(10, |_| 20)), "all fail");
        assert!(is_met(&sample(100, |i| 6 + (i as u64 * 7) % 5)), "40 % fail, evenly");
        assert!(!is_met(&sample(100, |i| (i as u64 * 7) % 5)), "10 % fail");
        assert!(!is_met(&sample(100, |i| if i < 40 { 20 } else { 0 })), "an outage at the start");
        assert!(!is_met(&sample(2, |_| 20)), "too little is known");
    }

    /// 300 services that fail exactly as often as the condition allows, watched for 10 min each. Failures come
    /// independently, or in bursts of 1 s to 20 s on average. If 1 % of the services were stopped by chance, one of
    /// 4,000 such tests would stop ten of them.
    #[test]
    fn a_service_at_the_limit_is_hardly_ever_stopped() {
        let rule = rule("error-rate > 20%");
        for burst_s in [0, 1, 2, 5, 20] {
            let services = (0..300).map(|seed| at_the_limit(seed, burst_s));
            let begin_well = services.filter(|rows| rows[..5].iter().any(|row| row.bad < row.requests));
            let (stopped, all) = begin_well
                .fold((0, 0), |(stopped, all), rows| (stopped + u32::from(is_ever_met(&rule, &rows)), all + 1));
            println!("bursts of {burst_s} s: {stopped} of {all} stopped");
            assert!(stopped < 10 && all > 200, "{burst_s}: {stopped} of {all}");
        }
    }

    /// Returns 600 rows. In the long run, 20 % of their requests fail.
    fn at_the_limit(seed: u64, burst_s: u32) -> Vec<Stretch> {
        let mut random = Random::new(seed, 0);
        let mut chance = |share: f64| random.uniform() < share;
        let ends = 1.0 / f64::from(burst_s.max(1));
        let mut is_burst = chance(0.2);
        let row = |_| {
            is_burst = chance(if is_burst { 1.0 - ends } else { ends / 4.0 });
            let share = if burst_s > 0 { f64::from(u8::from(is_burst)) } else { 0.2 };
            let bad = (0..20).filter(|_| chance(share)).count() as u64;
            Stretch { requests: 20, bad, surely_bad: bad, near: bad }
        };
        (0..600).map(row).collect()
    }

    fn is_ever_met(rule: &AbortRule, rows: &[Stretch]) -> bool {
        let ends = std::iter::successors(Some(5), |end| Some(end + (end / 10).max(1)));
        let looks = ends.take_while(|end| *end <= rows.len()).zip(1..);
        looks.into_iter().any(|(end, look)| rule.is_met(&Sample::from_rows(&rows[..end]), level_of(look), None))
    }

    /// One outage proves little about the service, however long it is. The run fails for certain once the rest of it
    /// cannot make up for the failures.
    #[test]
    fn an_outage_decides_when_the_rest_of_the_run_cannot_make_up_for_it() {
        let rule = rule("error-rate > 20%");
        let after_good_times = sample(100, |i| if i >= 70 { 20 } else { 0 });
        assert!(!rule.is_met(&after_good_times, LEVEL / 2.0, None));
        assert!(!rule.is_met(&after_good_times, LEVEL / 2.0, Some(3_000)), "600 of 3,000");
        assert!(rule.is_met(&after_good_times, LEVEL / 2.0, Some(2_999)));
    }

    /// Without this, an aborted run could pass its gate, which counts the first tenth.
    #[test]
    fn a_good_first_tenth_counts() {
        let worse_later = |bad: u64| sample(100, move |i| if i < 10 { 0 } else { bad + (i as u64 * 7) % 3 });
        let is_met = |bad: u64| rule("error-rate > 20%").is_met(&worse_later(bad), LEVEL / 2.0, None);
        let evidence = |bad: u64| Evidence::new(&worse_later(bad), 0.2, LEVEL / 2.0).misses();
        // Of each 20 requests after the first tenth, 4.4 fail on the average: 22 %, and 19.8 % of the whole.
        let whole =
            Sample { whole: Stretch { requests: 2_000, surely_bad: 396, ..Stretch::default() }, ..worse_later(4) };
        assert!(evidence(4) && !rule("error-rate > 20%").is_met(&whole, LEVEL / 2.0, None));
        assert!(is_met(5));
    }

    #[test]
    fn without_a_share_a_single_request_decides() {
        let one = sample(100, |i| u64::from(i == 50));
        let first = sample(100, |i| u64::from(i == 0));
        assert!(rule("max > 5s").is_met(&first, 1e-9, None), "in the first tenth");
        assert!(rule("max > 5s").is_met(&one, 1e-9, None) && rule("error-rate > 0%").is_met(&one, 1e-9, None));
        assert!(!rule("max > 5s").is_met(&sample(100, |_| 0), 0.4, None));
        let waiting = Sample { outstanding: 1, overdue: 1, ..sample(100, |_| 0) };
        assert!(rule("max > 5s").is_met(&waiting, 1e-9, None));
    }

    #[test]
    fn looks_become_rarer_and_their_levels_add_up_to_the_level() {
        let mut watch = AbortWatch::new(vec![rule("error-rate > 20%")], None);
        assert!(!watch.is_due(Nanos::from_millis(4_900)) && !AbortWatch::new(Vec::new(), None).is_due(Nanos::MAX));
        let mut at = Nanos::from_secs(5);
        while at < Nanos::from_secs(3_600) {
            assert!(watch.is_due(at));
            assert_eq!(watch.look(at, &Snapshot::default(), Timestamp::ZERO, 0), None);
            let next = watch.next;
            assert!(next.0 >= at.0 + NANOS_PER_SECOND && next.0 as f64 >= at.0 as f64 * 1.099, "{at:?} {next:?}");
            at = next;
        }
        assert!((60..120).contains(&watch.looks), "{}", watch.looks);
    }
}
