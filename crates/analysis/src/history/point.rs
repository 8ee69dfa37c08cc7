//! A run as a point of a series.

use truetail_run::Quantile;

use crate::compare::RunEstimate;

/// Standard error that the buckets of 0.1 % add: that of a value which is uniform within one bucket, as a logarithm.
const RESOLUTION: f64 = 0.001 / 3.464_101_615_137_754_6;
/// Half the width of a 95 % interval, in standard errors.
const HALF_WIDTH: f64 = 1.96;

/// A percentile of one run. Times are logarithms of nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// The percentile as measured.
    pub value: f64,
    /// The same percentile without what the generator added.
    pub without_generator: f64,
    /// Standard error within the run.
    pub error: f64,
}

impl Point {
    /// Creates the point of a value in nanoseconds whose uncertainty within the run is not known. Only the differences
    /// between runs then tell how uncertain it is.
    pub(super) fn alone(value_ns: f64) -> Point {
        let value = value_ns.max(1.0).ln();
        Point { value, without_generator: value, error: RESOLUTION }
    }

    /// Converts a percentile of a run. Returns `None` if it is no number, or if nothing is known of its uncertainty.
    pub fn from_quantile(quantile: &Quantile) -> Option<Point> {
        let estimate = RunEstimate::from_quantile(quantile).filter(|estimate| !estimate.at_least)?;
        let below = estimate.interval.low.map(|low| estimate.value - low);
        let above = estimate.interval.high.map(|high| high - estimate.value);
        // Of an interval that is not symmetric, the wider side counts.
        let half = [below, above].into_iter().flatten().reduce(f64::max)?;
        let error = (half / HALF_WIDTH).hypot(RESOLUTION);
        Some(Point { value: estimate.value, without_generator: estimate.without_generator, error })
    }
}
