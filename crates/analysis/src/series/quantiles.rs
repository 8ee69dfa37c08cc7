//! Quantiles over time.

use truetail_model::record::rank_of;

use super::columns::Values;
use super::data::QuantileSeries;
use crate::support::min_sample_size;

/// These quantiles of each column, over its values and those that are `unanswered`, which are slower than every value; an
/// empty list stands for none.
pub(super) fn quantiles(quantiles: &[f64], columns: &[Values<'_>], unanswered: &[u64]) -> Vec<QuantileSeries> {
    if columns.is_empty() {
        return Vec::new();
    }
    let missing = |i: usize| unanswered.get(i).copied().unwrap_or(0);
    let series = |q: f64| columns.iter().enumerate().map(|(i, values)| quantile(q, values, missing(i))).collect();
    quantiles.iter().map(|q| QuantileSeries { q: *q, values_ns: series(*q) }).collect()
}

/// `None` where there are too few arrivals for it, or it falls among those without an answer.
pub(super) fn quantile(q: f64, values: &Values<'_>, unanswered: u64) -> Option<u64> {
    let n = values.count() + unanswered;
    if n < min_sample_size(q) {
        return None;
    }
    values.at_rank(rank_of(q, n))
}
