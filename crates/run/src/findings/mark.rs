//! Effects of the marks of a run.

use serde::{Deserialize, Serialize};

/// Kind of the effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkState {
    /// None is shown.
    NoEffect,
    /// Requests were slower or failed, until p99 was back within its band.
    Recovered,
    /// The same, up to the end of the run or the next mark.
    NotRecovered,
    /// Too little is known.
    CannotTell,
}

/// Effect of a mark.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MarkFinding {
    /// Kind of the effect.
    pub state: MarkState,
    /// Upper end of the 95 % interval of p99 before the mark.
    pub limit_ns: Option<u64>,
    /// Requests from the mark to the end of the run, or to the next mark.
    pub requests: u64,
    /// Requests that were slower than the limit, or got no good answer, beyond the usual ones.
    pub harmed: Option<u64>,
    /// Longest response time until the recovery.
    pub peak_ns: Option<u64>,
    /// Time from the mark until p99 was back; null if it was not.
    pub recovery_ns: Option<u64>,
    /// Lower end of the 95 % interval.
    pub recovery_low_ns: Option<u64>,
    /// Upper end; null if p99 was not back.
    pub recovery_high_ns: Option<u64>,
    /// The effect in a sentence.
    pub message: String,
}
