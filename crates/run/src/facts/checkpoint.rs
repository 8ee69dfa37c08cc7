//! A run that was saved while it went on.

use serde::{Deserialize, Serialize};

/// What is known of a run that was saved while it went on, and never ended. `checkpoint` in `run.json`; its books are those of
/// `elapsed_ns`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CheckpointFacts {
    /// The arrivals of its whole schedule, warm-up included; `None` where they are not known in advance.
    pub scheduled: Option<u64>,
}

impl CheckpointFacts {
    /// Those of two parts of a run, of which one at least never ended; a part that ended has none.
    pub fn and(whole: Option<CheckpointFacts>, part: Option<CheckpointFacts>) -> Option<CheckpointFacts> {
        match (whole, part) {
            (Some(CheckpointFacts { scheduled: Some(a) }), Some(CheckpointFacts { scheduled: Some(b) })) => {
                Some(CheckpointFacts { scheduled: Some(a.saturating_add(b)) })
            }
            (None, None) => None,
            // How many the part that ended had is not said.
            _ => Some(CheckpointFacts { scheduled: None }),
        }
    }
}
