//! What was computed of sessions.

use serde::{Deserialize, Serialize};

use super::Distribution;

/// The distributions of sessions. They have no confidence intervals: the order of the sessions is not kept.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct SessionFindings {
    /// From the intended arrival to the end, less the planned think time, over all planned sessions. One that was not completed
    /// is slower than every one that was.
    pub session_time: Distribution,
    /// The same of each flow, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_times: Vec<FlowTime>,
    /// Those of steps that may be several requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub step_times: Vec<StepTime>,
}

/// The session response time of one of several flows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FlowTime {
    /// What the flow is called.
    pub flow: String,
    /// Over all of its planned sessions.
    pub session_time: Distribution,
}

/// The response time of a step that may be several requests.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepTime {
    /// Which step it is, counted from 0.
    pub step: u32,
    /// From when the step was due to the end of its last answer.
    pub step_time: Distribution,
}
