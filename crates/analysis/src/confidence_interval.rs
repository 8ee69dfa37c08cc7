//! Confidence intervals for quantiles of dependent values.
//!
//! Neighbouring response times are alike: a stall makes a thousand slow responses that are one event. Intervals that
//! treat them as independent are far too narrow. `docs/confidence.md` has the reasons and the measured coverage.
//!
//! 1. For a value x, the arrivals beyond x are counted stretch by stretch, in the order of their intended start. The
//!    long-run variance of these counts ([`crate::long_run_variance`]), divided by the variance of independent
//!    arrivals, is the design effect. (Heidelberger & Lewis, "Quantile estimation in dependent sequences", *Operations
//!    Research* 32, 1984, estimate the same variance from a spectrum.)
//! 2. The effective sample size is n divided by the design effect, and at most n. Few cosines make the design effect
//!    uncertain, so the size is multiplied by the squared ratio of the normal quantile to Student's t (Korn & Graubard,
//!    *Survey Methodology* 24, 1998).
//! 3. The interval has each rank r whose share r/n is plausible for q in an independent sample of the effective size
//!    (Woodruff, *JASA* 47, 1952). Plausible means not in the outer 2.5 % of the binomial distribution on either side,
//!    with mid-P. The effective size is the smaller of those at the estimate and at r (test inversion, as Francisco &
//!    Fuller, *Annals of Statistics* 19, 1991), because the last few values of a burst look like few events.
//! 4. Far out in the tail, a run that met only a few short bursts would be too certain. So the effective size is also
//!    limited to that at the quantile with ten times as many values beyond it.

use crate::binomial;
use crate::support::ONE_SIDE;

/// A quantile's effective sample size may not exceed that of the one with this many times as many values beyond.
const LESS_RARE: f64 = 10.0;

/// Factor, at least 1, that divides the sample size: the design effect, corrected by Student's t for its uncertainty.
pub(crate) fn design_effect_bound((design_effect, cosines): (f64, usize)) -> f64 {
    (design_effect * (student(cosines) / NORMAL).powi(2)).max(1.0)
}

/// Returns a quantile nearer to the middle, with ten times as many values beyond it, or at most the middle itself.
pub(crate) fn less_rare(q: f64) -> f64 {
    if q >= 0.5 { (1.0 - LESS_RARE * (1.0 - q)).max(0.5) } else { (LESS_RARE * q).min(0.5) }
}

/// The ranks, from 1 to n, between which the quantile lies with 95 % confidence. A side that is `None` has no end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Ranks {
    pub(crate) low: Option<u64>,
    pub(crate) high: Option<u64>,
}

/// Returns the interval of the q-quantile, q in (0, 1), of `n` values. `rank` is that of the estimate, and lies between
/// the ends. `effective` returns the effective sample size at a rank.
pub(crate) fn ranks(q: f64, n: u64, rank: u64, effective: impl Fn(u64) -> f64) -> Ranks {
    let low = largest(0, rank, |r| is_below(q, n, r, effective(r)));
    let high = largest(0, n - rank + 1, |i| is_above(q, n, n + 1 - i, effective(n + 1 - i))).map(|i| n + 1 - i);
    Ranks { low, high }
}

/// Returns the largest number above `none`, up to `most`, for which `holds` is true. If it is true for a number, it is
/// true for all smaller ones.
fn largest(none: u64, most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let mut yes = none;
    let mut no = most + 1;
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

/// Returns true if every value below that of rank `r` is surely below the quantile.
fn is_below(q: f64, n: u64, r: u64, size: f64) -> bool {
    binomial::mid((r - 1) as f64 * size / n as f64, size, q) <= ONE_SIDE
}

/// Returns true if every value above that of rank `r` is surely above the quantile.
fn is_above(q: f64, n: u64, r: u64, size: f64) -> bool {
    1.0 - binomial::mid(r as f64 * size / n as f64, size, q) <= ONE_SIDE
}

/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_985;

/// The 97.5 % quantile of Student's t with `df` ≥ 4 degrees of freedom, to 0.3 % (Abramowitz & Stegun 26.7.5).
fn student(df: usize) -> f64 {
    let z = NORMAL;
    let v = df as f64;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / v + second / v.powi(2) + third / v.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn student_is_that_of_the_tables() {
        for (df, table) in [(4, 2.776), (5, 2.571), (9, 2.262), (14, 2.145), (29, 2.045)] {
            assert!((student(df) / table - 1.0_f64).abs() < 0.003, "{df}: {}", student(df));
        }
    }

    #[test]
    fn ranks_for_independent_arrivals_can_be_added_up_by_hand() {
        // 16 throws of a coin: P(B ≤ 3) + P(B = 4) / 2 = (697 + 910) / 65536 = 2.45 %. One more would be too many.
        assert_eq!(ranks(0.5, 16, 8, |_| 16.0), Ranks { low: Some(5), high: Some(12) });
        // 0.99^n / 2 falls to 2.5 % at n = 299.
        let upper = |n: u64| ranks(0.99, n, n - 3, |_| n as f64).high;
        assert_eq!((upper(299), upper(298)), (Some(299), None));
        assert_eq!(ranks(0.5, 100, 50, |_| 1.0), Ranks { low: None, high: None });
    }

    #[test]
    fn ten_times_as_much_lies_beyond() {
        for (q, other) in [(0.5, 0.5), (0.9, 0.5), (0.99, 0.9), (0.999, 0.99), (0.01, 0.1), (0.2, 0.5)] {
            assert!((less_rare(q) - other).abs() < 1e-12, "{q}: {}", less_rare(q));
        }
    }

    #[test]
    fn a_sample_never_grows() {
        assert_eq!(design_effect_bound((0.01, 10)), 1.0);
        assert!((design_effect_bound((4.0, 29)) / 4.0 - (2.045_f64 / 1.96).powi(2)).abs() < 0.01);
    }

    proptest! {
        #[test]
        fn fewer_events_never_make_it_narrower(n in 1_u64..100_000, q in 0.01..0.999, less in 0.01..1.0_f64) {
            let rank = truetail_model::record::rank_of(q, n);
            let all = ranks(q, n, rank, |_| n as f64);
            let few = ranks(q, n, rank, |_| n as f64 * less);
            prop_assert!(few.low.unwrap_or(0) <= all.low.unwrap_or(0), "{few:?} {all:?}");
            prop_assert!(few.high.unwrap_or(u64::MAX) >= all.high.unwrap_or(u64::MAX), "{few:?} {all:?}");
            prop_assert!(all.low.is_none_or(|low| low <= rank) && all.high.is_none_or(|high| high >= rank));
        }
    }
}
