//! The best place of a shift in a stretch of runs.

use super::point::Point;
use super::spread::{between_runs, median};

/// Fewest runs before and after a shift: one run, or two in a row, may be spoilt.
const FEWEST_ON_A_SIDE: usize = 3;
/// Fewest runs that can show a shift.
pub const FEWEST_RUNS: usize = 2 * FEWEST_ON_A_SIDE;
/// Largest distance of a point from the middle, in the point's standard deviations. A point farther out counts as if it
/// were at this distance. So one or two spoilt runs in a row are no shift, and three are one.
const FARTHEST: f64 = 2.5;

/// The best place of a shift.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Split {
    /// Number of points before the shift.
    pub(super) at: usize,
    /// Size of the shift beside its uncertainty.
    pub(super) size: f64,
}

/// Returns the smallest size of a shift in a stretch of `n` runs that is not explained by chance.
///
/// `cargo run --release -p truetail-analysis --example change_study` measures the false alarms. The size is larger for
/// short stretches, because their spread is less certain.
pub(super) fn critical(n: usize) -> f64 {
    3.4 + 10.0 / n as f64
}

/// Returns the smallest shift that a stretch of these points would show five runs later, as a logarithm.
pub(super) fn smallest_shown(points: &[Point]) -> f64 {
    let deviation = median(deviations(points).into_iter());
    let n = points.len() as f64;
    critical(points.len() + 5) * deviation * (1.0 / 5.0 + 1.0 / n).sqrt()
}

/// Returns the standard deviation of each point.
pub(super) fn deviations(points: &[Point]) -> Vec<f64> {
    let between = between_runs(points);
    points.iter().map(|point| (point.error * point.error + between).sqrt()).collect()
}

/// Returns the mean of points with these deviations, weighted by them, and its standard error. A point far from
/// `middle` counts as if it were [`FARTHEST`] deviations away.
pub(super) fn mean_around(middle: f64, values: &[f64], deviations: &[f64]) -> (f64, f64) {
    let (weights, sum) = weighted(middle, values, deviations)
        .fold((0.0, 0.0), |(weights, sum), (weight, product)| (weights + weight, sum + product));
    (middle + sum / weights, (1.0 / weights).sqrt())
}

/// Returns weight, and weight times bounded distance from `middle`, of each point.
fn weighted(middle: f64, values: &[f64], deviations: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    values.iter().zip(deviations).map(move |(value, deviation)| {
        let weight = 1.0 / (deviation * deviation);
        (weight, weight * (value - middle).clamp(-FARTHEST * deviation, FARTHEST * deviation))
    })
}

/// Returns the best place of a shift; `None` if there are too few points.
pub(super) fn best_split(points: &[Point]) -> Option<Split> {
    if points.len() < FEWEST_RUNS {
        return None;
    }
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let deviations = deviations(points);
    let middle = median(values.iter().copied());
    let mut sums = Vec::with_capacity(points.len() + 1);
    sums.push((0.0, 0.0));
    for (weight, product) in weighted(middle, &values, &deviations) {
        let (weights, products) = sums[sums.len() - 1];
        sums.push((weights + weight, products + product));
    }
    let (all_weights, all) = sums[points.len()];
    let split = |at: usize| {
        let (before, sum) = sums[at];
        let after = all_weights - before;
        let difference = (all - sum) / after - sum / before;
        Split { at, size: difference.abs() / (1.0 / before + 1.0 / after).sqrt() }
    };
    (FEWEST_ON_A_SIDE..=points.len() - FEWEST_ON_A_SIDE).map(split).max_by(|a, b| a.size.total_cmp(&b.size))
}
