//! Confidence intervals for quantiles of dependent values.
//!
//! Response times that follow each other are alike: a stall makes a thousand slow ones that are one event. Treating
//! them as independent makes intervals far too narrow. What is done here:
//!
//! 1. For the quantile's value x, the arrivals beyond x are counted in contiguous batches, in the order of their intended
//!    start. The variance of the batch shares, set against what independent arrivals would give, is the design effect
//!    (method of batch means; at most 30 batches, as Schmeiser, "Batch Size Effects in the Analysis of Simulation
//!    Output", *Operations Research* 30, 1982, advises).
//! 2. The effective sample size is n divided by the design effect, and corrected for estimating the variance from few
//!    batches by the ratio of the normal to Student's t, squared (Korn & Graubard, *Survey Methodology* 24, 1998).
//! 3. A rank r is below the interval when a share of r/n would be too small for q in an independent sample of the
//!    effective size (exact binomial, 2.5 % on either side), and above it likewise (Woodruff, *JASA* 47, 1952). The
//!    effective size is that at the estimate or at r, whichever is smaller (test inversion, as Francisco & Fuller, *Annals
//!    of Statistics* 19, 1991): the last few values of one burst look like few events, the whole burst is one.
//!
//! Known weakness: batches must be longer than the memory of the process. A process whose memory is longer than a
//! thirtieth of the run, or a tail that was met in two or three batches only, makes the intervals too narrow. In the
//! simulations in `coverage.rs`, a queue at up to 80 % load among them, 95 % intervals of p50, p90 and p99 hold the truth
//! in 93 to 99 % of the runs; with a longer memory it will be fewer.

use crate::binomial;
use crate::support::ONE_SIDE;

/// At most this many batches.
pub(crate) const MOST_BATCHES: usize = 30;
/// With fewer, no variance is estimated.
const FEWEST_BATCHES: usize = 5;
/// At least this many arrivals in a batch.
const SMALLEST_BATCH: usize = 4;

/// Contiguous arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Batch {
    /// How many.
    pub(crate) count: u64,
    /// Those among them that are beyond the quantile.
    pub(crate) beyond: u64,
}

/// Into how many contiguous batches `n` arrivals are cut; `None` when there are too few.
pub(crate) fn batches_for(n: usize) -> Option<usize> {
    let batches = (n / SMALLEST_BATCH).min(MOST_BATCHES);
    (batches >= FEWEST_BATCHES).then_some(batches)
}

/// How many times larger the variance of the share beyond is than among independent arrivals; never below 1, and 1
/// where none or all are beyond. `None` with fewer than 5 batches.
///
/// The variance of a ratio estimate over batches of unequal size: k/(k−1) · Σ(x_b − p·n_b)² / n².
pub(crate) fn design_effect(batches: &[Batch]) -> Option<f64> {
    if batches.len() < FEWEST_BATCHES {
        return None;
    }
    let n: u64 = batches.iter().map(|batch| batch.count).sum();
    let beyond: u64 = batches.iter().map(|batch| batch.beyond).sum();
    if beyond == 0 || beyond == n {
        return Some(1.0);
    }
    let share = beyond as f64 / n as f64;
    let off = |batch: &Batch| (batch.beyond as f64 - share * batch.count as f64).powi(2);
    let k = batches.len() as f64;
    let variance = k / (k - 1.0) * batches.iter().map(off).sum::<f64>() / (n as f64).powi(2);
    Some((variance / (share * (1.0 - share) / n as f64)).max(1.0))
}

/// The sample size of independent arrivals that would say as much.
pub(crate) fn effective_size(n: u64, design_effect: f64, batches: usize) -> f64 {
    n as f64 / design_effect * (NORMAL / student(batches - 1)).powi(2)
}

/// The q-quantile, q in (0, 1), of `n` values: with 95 % confidence it lies between these ranks, from 1 to `n`; `None`
/// where that side has no end. `rank` is that of the estimate, and between them. `effective` says the effective sample
/// size at a rank; `None` from it means that nothing is known.
pub(crate) fn ranks(
    q: f64,
    n: u64,
    rank: u64,
    effective: impl Fn(u64) -> Option<f64>,
) -> Option<(Option<u64>, Option<u64>)> {
    let at_estimate = effective(rank)?;
    let size = |r: u64| effective(r).map_or(at_estimate, |at_r| at_r.min(at_estimate));
    let low = largest(0, rank, |r| is_below(q, n, r, size(r)));
    let high = largest(0, n - rank + 1, |i| is_above(q, n, n + 1 - i, size(n + 1 - i))).map(|i| n + 1 - i);
    Some((low, high))
}

/// The largest number above `none` and at most `most` for which `holds`, if it holds for all below it too.
fn largest(none: u64, most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut yes, mut no) = (none, most + 1);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    (yes > none).then_some(yes)
}

/// Is rank `r` of `n` at most l of `size`, for the largest l with P(B ≤ l − 1) ≤ 2.5 %?
fn is_below(q: f64, n: u64, r: u64, size: f64) -> bool {
    let size = (size.floor() as u64).min(n);
    size > 0 && r as f64 <= binomial::quantile(ONE_SIDE, size, q) as f64 * (n as f64 / size as f64)
}

/// Is rank `r` of `n` at least u of `size`, for the smallest u with P(B ≤ u − 1) ≥ 97.5 %?
fn is_above(q: f64, n: u64, r: u64, size: f64) -> bool {
    let size = (size.floor() as u64).min(n);
    let high = binomial::quantile(1.0 - ONE_SIDE, size, q) + 1;
    high <= size && r as f64 >= high as f64 * (n as f64 / size as f64)
}

/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_985;

/// The 97.5 % quantile of Student's t with `df` ≥ 4 degrees of freedom, to 0.3 % (Abramowitz & Stegun 26.7.5).
fn student(df: usize) -> f64 {
    let (z, v) = (NORMAL, df as f64);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / v + second / v.powi(2) + third / v.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_is_that_of_the_tables() {
        for (df, table) in [(4, 2.776), (5, 2.571), (9, 2.262), (14, 2.145), (29, 2.045)] {
            assert!((student(df) / table - 1.0_f64).abs() < 0.003, "{df}: {}", student(df));
        }
    }

    #[test]
    fn ranks_for_independent_arrivals_are_the_textbook_ones() {
        // Conover, Practical Nonparametric Statistics: the median of 16 lies between the 4th and the 13th.
        let all = |n: u64| move |_| Some(n as f64);
        assert_eq!(ranks(0.5, 16, 8, all(16)), Some((Some(4), Some(13))));
        assert_eq!(ranks(0.99, 368, 365, all(368)).unwrap().1, Some(368));
        assert_eq!(ranks(0.99, 367, 364, all(367)).unwrap().1, None);
        assert_eq!(ranks(0.5, 100, 50, all(0)), Some((None, None)));
        assert_eq!(ranks(0.5, 100, 50, |_| None), None);
    }

    #[test]
    fn one_burst_is_one_event() {
        let calm = Batch { count: 100, beyond: 1 };
        let even = [calm; 30];
        assert_eq!(design_effect(&even), Some(1.0));
        let mut burst = [Batch { count: 100, beyond: 0 }; 30];
        burst[7].beyond = 30;
        let effect = design_effect(&burst).unwrap();
        assert!((29.0..=31.0).contains(&effect), "{effect}");
        assert_eq!(design_effect(&even[..4]), None);
        assert_eq!(design_effect(&[Batch { count: 10, beyond: 10 }; 6]), Some(1.0));
    }
}
