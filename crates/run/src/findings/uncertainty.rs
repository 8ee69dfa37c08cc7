//! The uncertainty of a quantile, by source.

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
    /// The generator began late.
    GeneratorLag,
    /// The generator read answers after they had come.
    ReadLag,
}

/// The uncertainty budget of one quantile of the response time: by how much each source may have moved it, as half of
/// a range that holds 95 %.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Uncertainty {
    /// In (0, 1).
    pub q: f64,
    /// The quantile itself.
    pub value_ns: u64,
    /// To the farther end of its confidence interval; `None` where it has no end on one side, which is more than any number.
    pub sampling_ns: Option<u64>,
    /// Half a bucket; 0 when computed from every single value.
    pub histogram_ns: u64,
    /// Two readings; 0 in virtual time.
    pub clock_ns: u64,
    /// What the generator added to it at most: the value less its lower partner; `None` where that is not known.
    pub generator_lag_ns: Option<u64>,
    /// How long answers lay unread, as far as that is inside the response time; 0 where the kernel said of every answer
    /// when it came, `None` where nobody knows.
    pub read_lag_ns: Option<u64>,
    /// The largest of them; an interval without an end is larger than all. `None` where all are 0.
    pub largest: Option<Contribution>,
}
