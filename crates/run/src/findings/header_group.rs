//! Response times by the value of a response header.

use serde::{Deserialize, Serialize};

use super::distribution::Distribution;

/// Response times of the answers with one value of a header.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HeaderGroup {
    /// The answers that are meant.
    pub kind: HeaderGroupKind,
    /// The value; null unless the group has a known one.
    pub value: Option<String>,
    /// Their number in the run.
    pub answers: u64,
    /// Response times of the answers that the run keeps.
    pub response_time: Distribution,
}

/// Kind of a group of answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeaderGroupKind {
    /// Answers with a known value.
    Value,
    /// Answers with a value beyond the limit of known ones.
    Further,
    /// Answers without the header.
    Without,
}
