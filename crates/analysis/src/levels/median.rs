//! Medians, and distances from them.

/// The median of |Z| for a standard normal Z.
pub(super) const MEDIAN_OF_NORMAL: f64 = 0.674_489_75;

/// Returns the standard deviation about a level, estimated from the median absolute deviation as for normal values.
pub(super) fn deviation(level: f64, values: &[f64]) -> f64 {
    median(values.iter().map(|value| (value - level).abs()).collect()) / MEDIAN_OF_NORMAL
}

/// Returns the lower median, or NaN without values.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len().saturating_sub(1) / 2;
    if values.is_empty() { f64::NAN } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

/// Replaces each value by the median of itself and `half` values on either side (equally many, fewer near the ends).
pub(super) fn running_median(values: &[f64], half: usize) -> Vec<f64> {
    let around = |i: usize| {
        let reach = half.min(i).min(values.len() - 1 - i);
        median(values[i - reach..=i + reach].to_vec())
    };
    (0..values.len()).map(around).collect()
}
