//! Uncertainty of a quantile, by source.

use serde::{Deserialize, Serialize};

/// A source of the uncertainty of a quantile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contribution {
    /// The run is a sample.
    Sampling,
    /// Values are kept in buckets.
    Histogram,
    /// The clock has a limited resolution, and takes time to read.
    Clock,
    /// The generator started requests late.
    GeneratorLag,
    /// The generator read answers late.
    ReadLag,
}

/// Uncertainty budget of one quantile of the response time: half a 95 % range for each source.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Uncertainty {
    /// The quantile, in (0, 1).
    pub q: f64,
    /// Value of the quantile.
    pub value_ns: u64,
    /// Distance to the farther end of the confidence interval; `None` if one side is unbounded.
    pub sampling_ns: Option<u64>,
    /// Half a bucket; 0 if computed from every single value.
    pub histogram_ns: u64,
    /// Two clock readings; 0 in virtual time.
    pub clock_ns: u64,
    /// Upper bound of the generator's contribution: the value less its lower partner; `None` if unknown.
    pub generator_lag_ns: Option<u64>,
    /// Time that answers lay unread, if the response time includes it; 0 if the kernel stamped all, `None` if unknown.
    pub read_lag_ns: Option<u64>,
    /// The largest source; an unbounded interval is larger than all. `None` if all are 0.
    pub largest: Option<Contribution>,
}
