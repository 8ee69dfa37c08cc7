//! Evidence that the share of bad requests is below or above the allowed share.
//!
//! A probe is judged like a percentile in `docs/confidence.md`, with a given rank and level. The requests count as an
//! independent sample of the effective size: their number divided by the design effect. The design effect comes from
//! the long-run variance of the counts by stretch ([`crate::long_run_variance`]). Because it is estimated from few
//! cosines, it is multiplied by the squared ratio of Student's t to the normal quantile at the level of the look (Korn
//! & Graubard, *Survey Methodology* 24, 1998). If bad requests are rare, the design effect of ten times as frequent
//! requests applies if it is larger. The binomial distribution with mid-P then decides.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::sample::{Sample, Stretch};
use crate::binomial::mid;
use crate::long_run_variance::CosineBasis;

/// Fewer separate events than this never show a missed objective, unless half of the probe is bad.
const FEWEST_EVENTS: usize = 8;

pub(super) struct Evidence<'a> {
    sample: &'a Sample,
    allowed: f64,
    level: f64,
    cautious: bool,
}

impl<'a> Evidence<'a> {
    /// Creates the evidence at a one-sided `level` in (0, 0.5) about the share `allowed` in (0, 1).
    pub(super) fn new(sample: &'a Sample, allowed: f64, level: f64) -> Evidence<'a> {
        Evidence { sample, allowed, level, cautious: true }
    }

    /// Ignores the `near` requests, ten times as frequent as allowed bad ones. This suffices to choose the next probe.
    pub(super) fn for_search(self) -> Evidence<'a> {
        Evidence { cautious: false, ..self }
    }

    /// Returns true if fewer requests than allowed are bad. Requests that have not ended count as bad.
    pub(super) fn meets(&self) -> bool {
        let (bad, n) = self.counts(|stretch| stretch.bad, self.sample.outstanding);
        self.effective(n, |stretch| stretch.bad)
            .is_some_and(|part| mid(bad * part, n * part, self.allowed) <= self.level)
    }

    /// Returns true if more requests than allowed are bad, even without what the generator added.
    pub(super) fn misses(&self) -> bool {
        self.more_than_allowed(|stretch| stretch.surely_bad)
    }

    /// Returns true if more requests than allowed are bad, but perhaps because of the generator.
    pub(super) fn misses_as_measured(&self) -> bool {
        self.more_than_allowed(|stretch| stretch.bad)
    }

    fn more_than_allowed(&self, of: impl Fn(&Stretch) -> u64) -> bool {
        let (bad, n) = self.counts(&of, self.sample.overdue);
        let beyond = |part: f64| 1.0 - mid(bad * part, n * part, self.allowed) <= self.level;
        bad > n * self.allowed && self.has_events(&of) && self.effective(n, of).is_some_and(beyond)
    }

    /// Returns true if there are enough separate bad events. The variance of a few events cannot be estimated.
    fn has_events(&self, of: impl Fn(&Stretch) -> u64) -> bool {
        let is_bad: Vec<bool> = self.sample.stretches.iter().map(|stretch| of(stretch) > 0).collect();
        let begins =
            is_bad.iter().zip(std::iter::once(&false).chain(&is_bad)).filter(|(bad, before)| **bad && !**before);
        let bad = is_bad.iter().filter(|bad| **bad).count();
        begins.count() >= FEWEST_EVENTS || bad * 2 >= is_bad.len()
    }

    /// Returns the numbers of bad requests and of all requests. `waiting` requests have not ended and count as bad.
    fn counts(&self, of: impl Fn(&Stretch) -> u64, waiting: u64) -> (f64, f64) {
        let bad: u64 = self.sample.stretches.iter().map(of).sum();
        ((bad + waiting) as f64, (self.sample.requests() + self.sample.outstanding) as f64)
    }

    /// Effective sample size as a share of `n`. `None` if there are too few stretches.
    fn effective(&self, n: f64, of: impl Fn(&Stretch) -> u64) -> Option<f64> {
        let cosines = CosineBasis::over(self.sample.stretches.len())?;
        let own = self.shrinkage(&cosines, of);
        let near = if self.cautious { self.shrinkage(&cosines, |stretch| stretch.near) } else { 1.0 };
        (n > 0.0).then(|| 1.0 / own.max(near))
    }

    /// Factor between sample size and effective sample size, at least 1.
    fn shrinkage(&self, cosines: &CosineBasis, of: impl Fn(&Stretch) -> u64) -> f64 {
        let n = self.sample.requests() as f64;
        let share = self.sample.stretches.iter().map(&of).sum::<u64>() as f64 / n.max(1.0);
        if share <= 0.0 || share >= 1.0 {
            return 1.0;
        }
        let deviation = |stretch: &Stretch| of(stretch) as f64 - share * stretch.requests as f64;
        let long_run = cosines.long_run(&self.sample.stretches.iter().map(deviation).collect::<Vec<_>>());
        let design_effect = long_run.variance / (n * share * (1.0 - share));
        (design_effect * few_cosines(self.level, long_run.cosines as f64)).max(1.0)
    }
}

/// Squared ratio of Student's t with `df` degrees of freedom to the normal quantile, at the one-sided `level` in (0,
/// 0.5).
fn few_cosines(level: f64, df: f64) -> f64 {
    let student = StudentsT::new(0.0, 1.0, df).map(|student| student.inverse_cdf(1.0 - level));
    let normal = Normal::standard().inverse_cdf(1.0 - level);
    student.map_or(f64::INFINITY, |student| (student / normal).powi(2))
}

#[cfg(test)]
mod unit {
    use super::few_cosines;

    #[test]
    fn student_is_that_of_the_tables() {
        for (level, df, student, normal) in [
            (0.025, 4.0, 2.776, 1.960),
            (0.001, 4.0, 7.173, 3.090),
            (0.01, 10.0, 2.764, 2.326),
            (0.001, 30.0, 3.385, 3.090),
        ] {
            let ratio = few_cosines(level, df).sqrt();
            assert!((ratio - student / normal).abs() < 1e-3, "{level} {df}: {ratio}");
        }
    }
}
