//! What was computed of streams.

use serde::{Deserialize, Serialize};

use super::{Distribution, LlmFindings};

/// The distributions of streams. They have no confidence intervals: how gaps of one stream depend on each other is not known.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct StreamFindings {
    /// From the intended start to the first event, over all planned arrivals.
    pub first_event_time: Distribution,
    /// From the intended start to the last event, over complete streams.
    pub last_event_time: Distribution,
    /// From one event to the next that was read later; gaps that did not end are censored.
    pub event_gap: Distribution,
    /// The longest gap of each stream that has one.
    pub longest_gap: Distribution,
    /// What language models took; `None` where answers were not read as theirs.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<LlmFindings>,
}
