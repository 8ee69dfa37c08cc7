//! Findings about sessions.

use serde::{Deserialize, Serialize};

use super::Distribution;

/// Distributions of sessions, without confidence intervals, because the order of the sessions is not kept.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct SessionFindings {
    /// Session response time over all planned sessions. An incomplete session is slower than every complete one.
    pub session_time: Distribution,
    /// Session response time of each flow, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_times: Vec<FlowTime>,
    /// Response times of steps that may consist of several requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub step_times: Vec<StepTime>,
}

/// Session response time of one of several flows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FlowTime {
    /// Name of the flow.
    pub flow: String,
    /// Session response time over all planned sessions of the flow.
    pub session_time: Distribution,
}

/// Response time of a step that may consist of several requests.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepTime {
    /// Index of the step, from 0.
    pub step: u32,
    /// Time from when the step was due to the end of its last answer.
    pub step_time: Distribution,
}
