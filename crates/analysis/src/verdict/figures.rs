//! Figures of a distribution that issues are judged by.

use truetail_run::Distribution;

/// p99 of a distribution, or the highest quantile below it that the sample carries: (q, value).
pub(super) fn tail_of(distribution: &Distribution) -> Option<(f64, u64)> {
    [0.99, 0.9, 0.5].into_iter().find_map(|q| Some((q, value_at(distribution, q)?)))
}

pub(super) fn value_at(distribution: &Distribution, q: f64) -> Option<u64> {
    distribution.quantiles.iter().find(|quantile| quantile.q == q)?.value_ns
}

/// The mean of the values that are known; 0 where there are none.
pub(super) fn mean_or_zero(distribution: &Distribution) -> f64 {
    distribution.mean_ns.unwrap_or(0.0)
}
