//! Can the numbers of a run be trusted?

use serde::{Deserialize, Serialize};

/// Whether the run's own numbers can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum VerdictState {
    /// They can.
    Valid,
    /// With the stated doubt.
    Suspect,
    /// They cannot.
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
    /// How bad this reason alone makes it.
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
    /// VALID when there is no reason against it.
    pub state: VerdictState,
    /// Worst first.
    pub reasons: Vec<Reason>,
}
