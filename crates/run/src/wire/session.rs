//! The field `sessions` of `run.json`.

use serde::{Deserialize, Serialize};

use crate::{Findings, SessionFacts, SessionFindings};

/// What `run.json` says of sessions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SessionFile {
    /// What they do, the books, and their steps.
    #[serde(flatten)]
    pub facts: SessionFacts,
    /// The times.
    #[serde(flatten)]
    pub times: SessionFindings,
}

impl SessionFile {
    /// What is said of these sessions.
    pub fn of(facts: &SessionFacts, findings: &Findings) -> SessionFile {
        SessionFile { facts: facts.clone(), times: findings.sessions.clone().unwrap_or_default() }
    }
}
