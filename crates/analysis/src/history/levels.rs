//! The stretches between the shifts of a series.

use std::ops::Range;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::point::Point;
use super::scan::{best_split, critical, deviations, mean_around};
use super::spread::{median, trimmed};

/// Confidence of the interval of a change.
const CONFIDENCE: f64 = 0.95;

/// A stretch of runs on one level. Times are logarithms of nanoseconds.
#[derive(Clone, PartialEq, Debug)]
pub struct Level {
    /// Places of its points in the series.
    pub points: Range<usize>,
    /// Mean of its points, weighted by their uncertainty.
    pub value: f64,
    /// The same mean without what the generators added.
    pub without_generator: f64,
    /// Standard error of the mean.
    pub error: f64,
}

/// Returns the levels of a series in order: one if it has no shift, none if it has no point.
pub fn levels(points: &[Point]) -> Vec<Level> {
    if points.is_empty() {
        return Vec::new();
    }
    let bounds = checked(points, shifts(points, 0..points.len()));
    bounds.windows(2).map(|pair| Level::new(points, pair[0]..pair[1])).collect()
}

/// Returns the places of shifts in a stretch. Splits the stretch at its clearest shift, if chance does not explain it,
/// and then searches both parts.
fn shifts(points: &[Point], within: Range<usize>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut open = vec![within];
    while let Some(stretch) = open.pop() {
        let Some(at) = shift_in(points, stretch.clone()) else { continue };
        found.push(at);
        open.push(stretch.start..at);
        open.push(at..stretch.end);
    }
    found.sort_unstable();
    found
}

fn shift_in(points: &[Point], stretch: Range<usize>) -> Option<usize> {
    let n = stretch.len();
    let start = stretch.start;
    best_split(&points[stretch]).filter(|split| split.size > critical(n)).map(|split| start + split.at)
}

/// Returns the bounds of the levels. Each shift is looked for again between its neighbours, because it was found beside
/// others, and left out if it is not there.
fn checked(points: &[Point], shifts: Vec<usize>) -> Vec<usize> {
    let mut bounds = vec![0];
    for (at, _) in shifts.iter().enumerate() {
        let start = bounds[bounds.len() - 1];
        let end = shifts.get(at + 1).copied().unwrap_or(points.len());
        bounds.extend(shift_in(points, start..end));
    }
    bounds.push(points.len());
    bounds
}

impl Level {
    fn new(points: &[Point], range: Range<usize>) -> Level {
        let points = &points[range.clone()];
        let deviations = deviations(points);
        let mean = |value: fn(&Point) -> f64| {
            let values: Vec<f64> = points.iter().map(value).collect();
            let middle = median(values.iter().copied());
            let (mean, error) = mean_around(middle, &values, &deviations);
            // Runs that drift differ by more than neighbours do.
            let distances = values.iter().zip(&deviations).map(|(value, deviation)| (value - middle) / deviation);
            (mean, error * trimmed(distances).max(1.0))
        };
        let (value, error) = mean(|point| point.value);
        let (without_generator, _) = mean(|point| point.without_generator);
        Level { points: range, value, without_generator, error }
    }

    /// Returns the interval of the ratio of this level to `other`, as logarithms. It covers what the generators added.
    pub fn ratio_to(&self, other: &Level) -> (f64, f64) {
        let runs = self.points.len() + other.points.len();
        let student = StudentsT::new(0.0, 1.0, (runs - 2).max(1) as f64).expect("degrees of freedom above 0");
        let half = student.inverse_cdf(0.5 + CONFIDENCE / 2.0) * self.error.hypot(other.error);
        let measured = self.value - other.value;
        let lowest = measured.min(self.without_generator - other.value);
        let highest = measured.max(self.value - other.without_generator);
        (lowest - half, highest + half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points that alternate by 1 % around these values.
    fn points(values: &[f64]) -> Vec<Point> {
        let value = |(at, value): (usize, &f64)| value + if at % 2 == 0 { 0.01 } else { -0.01 };
        let point = |value: f64| Point { value, without_generator: value, error: 0.001 };
        values.iter().enumerate().map(value).map(point).collect()
    }

    fn bounds(points: &[Point]) -> Vec<usize> {
        levels(points).iter().skip(1).map(|level| level.points.start).collect()
    }

    #[test]
    fn a_shift_is_found_where_it_is() {
        let shifted = points(&[[0.0; 12], [0.1; 12]].concat());
        assert_eq!(bounds(&shifted), [12]);
        let found = levels(&shifted);
        let (low, high) = found[1].ratio_to(&found[0]);
        assert!(low < 0.1 && high > 0.1 && high - low < 0.05, "{low} {high}");
        assert_eq!(bounds(&points(&[[0.0; 10], [0.2; 10], [0.1; 10]].concat())), [10, 20]);
        assert_eq!(bounds(&points(&[0.0; 24])), [0; 0]);
    }

    #[test]
    fn one_or_two_spoilt_runs_are_no_shift() {
        for spoilt in [&[7][..], &[7, 8], &[0], &[23], &[22, 23]] {
            let mut values = [0.0; 24];
            spoilt.iter().for_each(|at| values[*at] = 1.0);
            assert_eq!(bounds(&points(&values)), [0; 0], "{spoilt:?}");
        }
    }

    #[test]
    fn a_run_that_is_not_sure_weighs_little() {
        let mut shifted = points(&[[0.0; 12], [0.1; 12]].concat());
        shifted.iter_mut().for_each(|point| point.error = 0.2);
        assert_eq!(bounds(&shifted), [0; 0], "no run can tell 10 %");
    }

    #[test]
    fn few_runs_show_nothing() {
        assert_eq!(bounds(&points(&[0.0, 0.0, 5.0, 5.0, 5.0])), [0; 0]);
        assert!(levels(&[]).is_empty());
        assert_eq!(levels(&points(&[0.0])).len(), 1);
    }
}
