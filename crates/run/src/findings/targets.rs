//! Findings about each target, if there are several.

use serde::{Deserialize, Serialize};
use truetail_model::record::Tally;

use super::Distribution;

/// Books and response time of one target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TargetFindings {
    /// Name that gates use, such as `GET /items`.
    pub name: String,
    /// Tally of the target. The tallies of all targets add up to that of the run.
    pub tally: Tally,
    /// Response time over all planned arrivals of the target.
    pub response_time: Distribution,
}
