//! Facts of a run that was saved while in progress.

use serde::{Deserialize, Serialize};

/// Facts of a run that was saved while in progress and never ended: `checkpoint` in `run.json`. The books of the run
/// cover the time until `elapsed_ns`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CheckpointFacts {
    /// Arrivals of the whole schedule, warm-up included; `None` if they are not known in advance.
    pub scheduled: Option<u64>,
}

impl CheckpointFacts {
    /// Merges the facts of two parts of a run. `None` means that a part ended.
    pub fn merged(whole: Option<CheckpointFacts>, part: Option<CheckpointFacts>) -> Option<CheckpointFacts> {
        match (whole, part) {
            (Some(CheckpointFacts { scheduled: Some(a) }), Some(CheckpointFacts { scheduled: Some(b) })) => {
                Some(CheckpointFacts { scheduled: Some(a.saturating_add(b)) })
            }
            (None, None) => None,
            // The arrivals of the part that ended are not recorded.
            _ => Some(CheckpointFacts { scheduled: None }),
        }
    }
}
