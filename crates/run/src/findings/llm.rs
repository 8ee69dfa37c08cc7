//! Findings about the answers of language models.

use serde::{Deserialize, Serialize};

use super::Distribution;

/// Distributions of language models, and the number of requests that met the objectives.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct LlmFindings {
    /// Time to first token (TTFT): from the intended start to the first content, over all planned arrivals.
    pub first_content_time: Distribution,
    /// Time from the actual start to the first content, over answers with content.
    pub first_content_service_time: Distribution,
    /// Inter-token latency (ITL): from one content event to the next one read later. Unended gaps are censored.
    pub content_gap: Distribution,
    /// Time per output token (TPOT) without the first token, over complete answers whose tokens were counted.
    pub time_per_output_token: Distribution,
    /// Requests that met all objectives; `None` if no objective was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<Goodput>,
}

/// Planned requests that met all objectives. Undecided requests make it a range.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Goodput {
    /// The objectives as the user wrote them.
    pub slo: Vec<String>,
    /// Number of planned requests.
    pub planned: u64,
    /// Requests that met all objectives.
    pub met: u64,
    /// Requests that missed no objective, but with at least one undecided objective.
    pub cannot_tell: u64,
    /// `met` / `planned`, in [0, 1]; `None` if no request was planned.
    pub share: Option<f64>,
    /// Share if all of `cannot_tell` met the objectives.
    pub share_at_most: Option<f64>,
    /// `met` per second of the schedule; `None` if its length is unknown.
    pub per_second: Option<f64>,
    /// Rate if all of `cannot_tell` met the objectives.
    pub per_second_at_most: Option<f64>,
}
