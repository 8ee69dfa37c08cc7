//! The requests of a run, and the outcomes of each target.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truetail_model::record::Tally;

/// What stands for the method of a target of which each request may have another: a step of a session that somebody else leads.
pub const ANY_METHOD: &str = "ANY";

/// What the arrivals of a run request. Arrival k gets the same request in each run with the same mix.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mix {
    /// The targets, in the order in which they were given.
    pub targets: Vec<MixTarget>,
    /// Rows of data that fill the placeholders; 0 if there are none.
    pub rows: u32,
    /// `in-order` or `random`; `None` without rows.
    pub order: Option<String>,
    /// Seed of the random choices; `None` in a merged run whose parts had different seeds.
    pub seed: Option<u64>,
    /// Hash of every request and every weight: 16 hexadecimal digits.
    pub hash: String,
}

/// One target of a mix.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MixTarget {
    /// HTTP method.
    pub method: String,
    /// URL, with its placeholders.
    pub url: String,
    /// Its weight: its share of the arrivals is this number divided by the sum of all weights.
    pub weight: u32,
    /// What its user calls it; `None`: by method and path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The outcomes of the measured arrivals of one target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TargetBooks {
    /// HTTP method.
    pub method: String,
    /// URL, with its placeholders.
    pub url: String,
    /// Its tally; the tallies of all targets add up to that of the run.
    pub tally: Tally,
    /// Answers by HTTP status.
    pub statuses: BTreeMap<u16, u64>,
}

impl TargetBooks {
    /// Adds the books of the same target in another part of the run.
    pub fn merge(&mut self, other: &TargetBooks) {
        self.tally.merge(&other.tally);
        other.statuses.iter().for_each(|(status, n)| *self.statuses.entry(*status).or_default() += n);
    }
}
