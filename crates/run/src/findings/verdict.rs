//! Verdict on the trustworthiness of a run's numbers.

use serde::{Deserialize, Serialize};

/// Trustworthiness of the run's own numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum VerdictState {
    /// No problem was found.
    Valid,
    /// The numbers can be used with the stated doubt.
    Suspect,
    /// The numbers do not mean what they seem to mean; do not use them.
    Invalid,
}

impl VerdictState {
    /// Returns `VALID`, `SUSPECT` or `INVALID`.
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
    /// Snake-case code, explained in `docs/honesty.md`.
    pub code: String,
    /// State that this reason gives if it is the only one.
    pub state: VerdictState,
    /// A sentence with its numbers and advice.
    pub message: String,
    /// The numbers, by name. Each name ends in its unit.
    #[serde(flatten)]
    pub numbers: serde_json::Map<String, serde_json::Value>,
}

/// The reasons, and the worst state among them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// VALID without reasons.
    pub state: VerdictState,
    /// The reasons, worst first.
    pub reasons: Vec<Reason>,
}

impl Verdict {
    /// Returns true if a reason has this code.
    pub fn has(&self, code: &str) -> bool {
        self.reasons.iter().any(|reason| reason.code == code)
    }
}
