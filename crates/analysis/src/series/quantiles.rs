//! Quantiles over time.

use truetail_model::record::rank_of;

use super::columns::Values;
use super::data::QuantileSeries;
use crate::support::min_sample_size;

/// Quantiles of each column over its values and its `unanswered` arrivals, which rank above all values. An empty
/// `unanswered` means 0 in every column.
pub(super) fn quantiles(quantiles: &[f64], columns: &[Values<'_>], unanswered: &[u64]) -> Vec<QuantileSeries> {
    if columns.is_empty() {
        return Vec::new();
    }
    let missing = |i: usize| unanswered.get(i).copied().unwrap_or(0);
    let series = |q: f64| columns.iter().enumerate().map(|(i, values)| quantile(q, values, missing(i))).collect();
    quantiles.iter().map(|q| QuantileSeries { q: *q, values_ns: series(*q) }).collect()
}

/// Returns `None` if the quantile needs more arrivals, or falls among arrivals without an answer.
pub(super) fn quantile(q: f64, values: &Values<'_>, unanswered: u64) -> Option<u64> {
    let n = values.count() + unanswered;
    if n < min_sample_size(q) {
        return None;
    }
    values.at_rank(rank_of(q, n))
}
