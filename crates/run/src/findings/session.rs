//! What was computed of sessions.

use serde::{Deserialize, Serialize};

use super::Distribution;

/// The distributions of sessions. They have no confidence intervals: the order of the sessions is not kept.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct SessionFindings {
    /// From the intended arrival to the end, less the planned think time, over all planned sessions. One that was not completed
    /// is slower than every one that was.
    pub session_time: Distribution,
}
