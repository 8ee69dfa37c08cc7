//! The requests of a run, and the outcomes of each target.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truetail_model::record::Tally;

/// Method of a target whose requests have different methods: a step of a session that a Python function leads.
pub const ANY_METHOD: &str = "ANY";

/// The requests of a run. Arrival k gets the same request in every run with the same mix.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mix {
    /// The targets, in the user's order.
    pub targets: Vec<MixTarget>,
    /// Number of data rows that fill the placeholders; 0 without data.
    pub rows: u32,
    /// `in-order` or `random`; `None` without rows.
    pub order: Option<String>,
    /// Seed of the random choices; `None` in a merged run whose parts had different seeds.
    pub seed: Option<u64>,
    /// Hash of all requests and weights: 16 hexadecimal digits.
    pub hash: String,
}

/// One target of a mix.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MixTarget {
    /// HTTP method.
    pub method: String,
    /// URL, with placeholders.
    pub url: String,
    /// Weight. The target's share of the arrivals is its weight divided by the sum of all weights.
    pub weight: u32,
    /// Name that the user gave; `None` if the target is named by method and path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Outcomes of the measured arrivals of one target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TargetBooks {
    /// HTTP method.
    pub method: String,
    /// URL, with placeholders.
    pub url: String,
    /// Tally of the target. The tallies of all targets add up to that of the run.
    pub tally: Tally,
    /// Answers by HTTP status; empty in a protocol without a status.
    pub statuses: BTreeMap<u16, u64>,
}

impl TargetBooks {
    /// Adds the books of the same target in another part of the run.
    pub fn merge(&mut self, other: &TargetBooks) {
        self.tally.merge(&other.tally);
        other.statuses.iter().for_each(|(status, n)| *self.statuses.entry(*status).or_default() += n);
    }
}
