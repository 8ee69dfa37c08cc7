//! Findings about streams.

use serde::{Deserialize, Serialize};

use super::{Distribution, LlmFindings};

/// Distributions of streams, without confidence intervals, because the dependence of gaps in one stream is unknown.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct StreamFindings {
    /// From the intended start to the first event, over all planned arrivals.
    pub first_event_time: Distribution,
    /// From the intended start to the last event, over complete streams.
    pub last_event_time: Distribution,
    /// From one event to the next that was read later; gaps that did not end are censored.
    pub event_gap: Distribution,
    /// The longest gap of each stream that has a gap.
    pub longest_gap: Distribution,
    /// From the sender's time in a push to its arrival; `None` without `--stamp`. The true delays differ by at most
    /// `push_delay_bound_ns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_delay: Option<Distribution>,
    /// Bound of the clocks, and one step of the sender's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_delay_bound_ns: Option<u64>,
    /// Findings about language models; `None` without `--llm`.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<LlmFindings>,
}
