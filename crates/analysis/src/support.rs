//! The sample size that each quantile needs.
//!
//! The rule: a quantile is printed if a distribution-free 95 % interval between two order statistics of an independent
//! sample of that size exists, with at most 2.5 % on either side. The number of values at or below the true q-quantile
//! is binomial(n, q). So the largest value fails to reach it with probability q^n, and the smallest exceeds it with
//! probability (1 − q)^n (David & Nagaraja, *Order Statistics*, 3rd ed., section 7.1; Hahn & Meeker, *Statistical
//! Intervals*, section 5.2). Below that size, not even the largest value seen bounds the quantile from above.
//!
//! | quantile | needs n ≥ |
//! |---|---|
//! | p50 | 6 |
//! | p90 | 36 |
//! | p95 | 72 |
//! | p99 | 368 |
//! | p99.9 | 3 688 |
//! | p99.99 | 36 887 |
//!
//! The rule uses the number of arrivals and not the effective sample size, so that it can be stated before a run. The
//! cost of dependence shows in the interval, which then has no upper end.

/// The quantiles of every table: the whole tail, and the largest value.
pub const QUANTILES: [f64; 7] = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];

/// Maximum probability on either side of a 95 % interval.
pub(crate) const ONE_SIDE: f64 = 0.025;

/// Returns the number of arrivals that quantile `q` in [0, 1] needs. The smallest and the largest value need only one.
pub fn min_sample_size(q: f64) -> u64 {
    if q <= 0.0 || q >= 1.0 {
        return 1;
    }
    let rarer = q.max(1.0 - q);
    let ln_rarer = if q >= 0.5 { libm::log1p(-(1.0 - q)) } else { libm::log(rarer) };
    (libm::log(ONE_SIDE) / ln_rarer).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_quantiles_of_the_table_need() {
        assert_eq!(QUANTILES.map(min_sample_size), [6, 36, 72, 368, 3_688, 36_887, 1]);
        assert_eq!(min_sample_size(0.01), 368);
        assert_eq!(min_sample_size(0.0), 1);
    }

    #[test]
    fn the_size_is_the_smallest_that_keeps_the_promise() {
        for q in [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999] {
            let beyond_the_largest = |n: u64| crate::binomial::at_most((n - 1) as f64, n as f64, q);
            let n = min_sample_size(q);
            assert!(1.0 - beyond_the_largest(n) <= ONE_SIDE, "{q}");
            assert!(1.0 - beyond_the_largest(n - 1) > ONE_SIDE, "{q}");
        }
    }
}
