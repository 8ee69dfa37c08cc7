//! Can the numbers of a run be trusted?

use serde::{Deserialize, Serialize};

/// Whether the run's own numbers can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum VerdictState {
    /// No problem was found.
    Valid,
    /// They can be used with the stated doubt.
    Suspect,
    /// They do not mean what they seem to mean; do not use them.
    Invalid,
}

impl VerdictState {
    /// `VALID`, `SUSPECT` or `INVALID`.
    pub const fn name(self) -> &'static str {
        match self {
            VerdictState::Valid => "VALID",
            VerdictState::Suspect => "SUSPECT",
            VerdictState::Invalid => "INVALID",
        }
    }
}

/// One reason for a verdict, with the numbers that triggered it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reason {
    /// Snake case, explained in `docs/honesty.md`.
    pub code: String,
    /// The state that this reason alone would give.
    pub state: VerdictState,
    /// A sentence with its numbers, and what to do about it.
    pub message: String,
    /// The numbers, by name; names end in their unit.
    #[serde(flatten)]
    pub numbers: serde_json::Map<String, serde_json::Value>,
}

/// The worst state among the reasons, and the reasons.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// VALID if there are no reasons.
    pub state: VerdictState,
    /// Worst first.
    pub reasons: Vec<Reason>,
}
