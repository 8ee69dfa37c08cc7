//! Counts how often intervals hold the truth.

use std::iter::StepBy;
use std::ops::RangeInclusive;
use std::thread;

use truetail_analysis::findings;
use truetail_run::{Quantile, VerdictState};

use crate::processes::{Case, QUANTILES};

/// Results for the intervals of one quantile.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tally {
    pub runs: u64,
    /// Runs without a two-ended interval, and INVALID runs.
    pub refused: u64,
    pub held: u64,
    /// Runs with the whole interval above the truth. Intervals that missed otherwise lie below.
    pub above: u64,
    /// Sums over the runs that were not refused.
    relative_width: f64,
    effective_n: f64,
}

impl Tally {
    pub fn judged(&self) -> u64 {
        self.runs - self.refused
    }

    pub fn below(&self) -> u64 {
        self.judged() - self.held - self.above
    }

    pub fn coverage(&self) -> f64 {
        self.held as f64 / self.judged() as f64
    }

    /// Mean width of the intervals, as a share of the truth.
    pub fn width(&self) -> f64 {
        self.relative_width / self.judged() as f64
    }

    pub fn effective_n(&self) -> f64 {
        self.effective_n / self.judged() as f64
    }

    fn count(&mut self, quantile: &Quantile, truth: f64, invalid: bool) {
        self.runs += 1;
        let (Some(low), Some(high), false) = (quantile.low_ns, quantile.high_ns, invalid) else {
            self.refused += 1;
            return;
        };
        // The truth and all times here are exact to a nanosecond.
        self.held += u64::from(low as f64 <= truth + 1.0 && truth - 1.0 <= high as f64);
        self.above += u64::from(low as f64 > truth + 1.0);
        self.relative_width += (high - low) as f64 / truth;
        self.effective_n += quantile.effective_n.unwrap_or(0) as f64;
    }

    fn add(&mut self, other: &Tally) {
        self.runs += other.runs;
        self.refused += other.refused;
        self.held += other.held;
        self.above += other.above;
        self.relative_width += other.relative_width;
        self.effective_n += other.effective_n;
    }
}

pub fn tally(case: Case, runs: u64) -> [Tally; QUANTILES.len()] {
    let mut all: [Tally; QUANTILES.len()] = Default::default();
    for part in in_parallel(runs, |of| seeds(case, of)) {
        all.iter_mut().zip(&part).for_each(|(all, part)| all.add(part));
    }
    all
}

/// Applies `of` to the seeds 1 to `runs`, with a part of them on each processor.
pub fn in_parallel<T: Send>(runs: u64, of: impl Fn(StepBy<RangeInclusive<u64>>) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    thread::scope(|scope| {
        let of = &of;
        let part = |first: u64| scope.spawn(move || of((first..=runs).step_by(threads as usize)));
        let parts: Vec<_> = (1..=threads).map(part).collect();
        parts.into_iter().map(|part| part.join().expect("a panic is reported by its thread")).collect()
    })
}

fn seeds(case: Case, seeds: impl Iterator<Item = u64>) -> [Tally; QUANTILES.len()] {
    let mut tallies: [Tally; QUANTILES.len()] = Default::default();
    for seed in seeds {
        let found = findings(&case.run(seed));
        let invalid = found.verdict.state == VerdictState::Invalid;
        for (tally, q) in tallies.iter_mut().zip(QUANTILES) {
            let quantile = found.response_time.quantiles.iter().find(|quantile| quantile.q == q);
            tally.count(quantile.expect("every table has it"), case.truth(q), invalid);
        }
    }
    tallies
}
