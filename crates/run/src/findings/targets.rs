//! The response time of each target, where there are several.

use serde::{Deserialize, Serialize};
use truetail_model::record::Tally;

use super::Distribution;

/// The books and the response time of one target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TargetFindings {
    /// `GET /items`, by which a gate names it.
    pub name: String,
    /// Its books; those of all targets together are those of the run.
    pub tally: Tally,
    /// Over all its planned arrivals.
    pub response_time: Distribution,
}
