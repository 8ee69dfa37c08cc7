//! How much the runs of a series differ, in spite of shifts and of spoilt runs.

use super::point::Point;

/// Share of the smallest deviations that count. The others may come from shifts and spoilt runs.
const KEPT: f64 = 0.8;
/// Mean of the smallest 80 % of the absolute values of standard normal variables:
/// 2 (φ(0) − φ(z)) / 0.8, with z = 1.2816.
const MEAN_OF_KEPT: f64 = 0.5586;
/// A run counts as spoilt if it is at least this many standard deviations from the median of its neighbours.
const SPOILT: f64 = 3.0;
/// Number of neighbours on each side.
const NEIGHBOURS: usize = 2;
/// Fewest runs that a spread is estimated from.
const FEWEST: usize = 5;

/// Returns the standard deviation of normal variables with these absolute values. A fifth of them may be too large, and
/// does not change the result.
pub(super) fn trimmed(deviations: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = deviations.map(f64::abs).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let kept = ((sorted.len() as f64 * KEPT).ceil() as usize).clamp(1, sorted.len().max(1));
    sorted.iter().take(kept).sum::<f64>() / kept as f64 / MEAN_OF_KEPT
}

/// Returns the variance between runs, beyond what is known within them. It is estimated from the differences of
/// neighbours, which a shift changes once only.
pub(super) fn between_runs(points: &[Point]) -> f64 {
    let spread = of_neighbours(points);
    let usual: Vec<Point> = (0..points.len()).filter(|at| is_usual(points, *at, spread)).map(|at| points[at]).collect();
    let (spread, points) = match usual.len() {
        ..FEWEST => (spread, points),
        _ => (spread.min(of_neighbours(&usual)), usual.as_slice()),
    };
    let within = median(points.iter().map(|point| point.error));
    (spread * spread - within * within).max(0.0)
}

fn of_neighbours(points: &[Point]) -> f64 {
    trimmed(points.windows(2).map(|pair| pair[1].value - pair[0].value)) / std::f64::consts::SQRT_2
}

fn is_usual(points: &[Point], at: usize, spread: f64) -> bool {
    let around = &points[at.saturating_sub(NEIGHBOURS)..(at + NEIGHBOURS + 1).min(points.len())];
    let distance = points[at].value - median(around.iter().map(|point| point.value));
    distance.abs() < SPOILT * spread.max(points[at].error)
}

/// Returns the median; the mean of the two in the middle of an even number.
pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truetail_model::random::Random;

    fn points(values: &[f64], error: f64) -> Vec<Point> {
        values.iter().map(|value| Point { value: *value, without_generator: *value, error }).collect()
    }

    fn normal(random: &mut Random) -> f64 {
        (2.0 * random.exponential()).sqrt() * (std::f64::consts::TAU * random.uniform()).cos()
    }

    /// 2,000 values: the standard error of the estimate is about 3 %.
    #[test]
    fn neither_a_shift_nor_spoilt_runs_count() {
        let mut random = Random::new(1, 0);
        let mut values: Vec<f64> = (0..2_000).map(|_| 0.03 * normal(&mut random)).collect();
        let plain = between_runs(&points(&values, 0.0)).sqrt();
        assert!((plain / 0.03 - 1.0).abs() < 0.1, "{plain}");
        values.iter_mut().skip(1_000).for_each(|value| *value += 1.0);
        values.iter_mut().step_by(20).for_each(|value| *value += 0.7);
        let spoilt = between_runs(&points(&values, 0.0)).sqrt();
        assert!((spoilt / 0.03 - 1.0).abs() < 0.1, "{spoilt}");
    }

    #[test]
    fn what_is_known_within_the_runs_is_no_difference_between_them() {
        let mut random = Random::new(2, 0);
        let values: Vec<f64> = (0..2_000).map(|_| 0.05 * normal(&mut random)).collect();
        let between = between_runs(&points(&values, 0.04)).sqrt();
        assert!((between / 0.03 - 1.0).abs() < 0.2, "{between}");
        assert_eq!(between_runs(&points(&values, 0.1)), 0.0);
        assert_eq!(between_runs(&points(&[1.0; 9], 0.0)), 0.0);
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
    }
}
