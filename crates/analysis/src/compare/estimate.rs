//! A quantile of one run, as a logarithm with its uncertainty.

use truetail_run::Quantile;

/// The ends of an interval. The interval is open at an end that is `None`.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Interval {
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl Interval {
    pub(super) fn moved(self, by: f64) -> Interval {
        Interval { low: self.low.map(|low| low + by), high: self.high.map(|high| high + by) }
    }
}

/// A quantile of one run. The values are logarithms of nanoseconds, because differences of logarithms are ratios.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RunEstimate {
    /// The quantile as measured.
    pub value: f64,
    /// The same quantile without what the generator added. The truth is not below.
    pub without_generator: f64,
    /// The same quantile if everything that is unknown were slow. The truth is not above, unless `at_least`. Equals
    /// `value` for response times.
    pub highest: f64,
    /// The 95 % confidence interval within the run. At most 2.5 % lie beyond each end that is known.
    pub interval: Interval,
    /// The truth is at least `value`, because the quantile falls among arrivals without an answer.
    pub at_least: bool,
}

impl RunEstimate {
    /// Returns an estimate that is known exactly, apart from chance.
    pub(super) fn exactly(value: f64) -> RunEstimate {
        RunEstimate { value, without_generator: value, highest: value, interval: Interval::default(), at_least: false }
    }

    /// Converts a quantile of a run. Returns `None` if it has no value or the run is too short for it.
    pub fn from_quantile(quantile: &Quantile) -> Option<RunEstimate> {
        let value_ns = quantile.value_ns.filter(|_| quantile.supported)?;
        let without_ns = quantile.without_generator_ns.unwrap_or(value_ns).min(value_ns);
        Some(RunEstimate {
            value: logarithm(value_ns),
            without_generator: logarithm(without_ns),
            highest: logarithm(value_ns),
            interval: Interval { low: quantile.low_ns.map(logarithm), high: quantile.high_ns.map(logarithm) },
            at_least: quantile.at_least,
        })
    }
}

/// Logarithm of a time. 0 ns counts as 1 ns.
fn logarithm(ns: u64) -> f64 {
    (ns.max(1) as f64).ln()
}
