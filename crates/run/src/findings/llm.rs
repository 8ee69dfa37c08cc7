//! What was computed of the answers of language models.

use serde::{Deserialize, Serialize};

use super::Distribution;

/// The distributions of language models, and how many requests met the objectives.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct LlmFindings {
    /// Time to first token (TTFT): from the intended start to the first content, over all planned arrivals.
    pub first_content_time: Distribution,
    /// The same from the actual start, over answers with content.
    pub first_content_service_time: Distribution,
    /// Inter-token latency (ITL): from one content event to the next that was read later; gaps that did not end are censored.
    pub content_gap: Distribution,
    /// Time per output token (TPOT), the first one left out, over complete answers whose tokens the server counted, or else the
    /// tokenizer.
    pub time_per_output_token: Distribution,
    /// Requests that met all objectives; `None` where none was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<Goodput>,
}

/// Planned requests that met all objectives. Those of which that cannot be told make it a range.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Goodput {
    /// The objectives, as they were written.
    pub slo: Vec<String>,
    /// Planned requests.
    pub planned: u64,
    /// Those that met all objectives.
    pub met: u64,
    /// Those that missed none, where one cannot be told.
    pub cannot_tell: u64,
    /// `met` of `planned`, in [0, 1]; `None` where nothing was planned.
    pub share: Option<f64>,
    /// The same if all of `cannot_tell` met them.
    pub share_at_most: Option<f64>,
    /// Those that met them, per second of the schedule; `None` where its length is not known.
    pub per_second: Option<f64>,
    /// The same if all of `cannot_tell` met them.
    pub per_second_at_most: Option<f64>,
}
