//! The field `sessions` of `run.json`.

use serde::{Deserialize, Serialize};

use crate::{Findings, SessionFacts, SessionFindings};

/// Sessions as `run.json` describes them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SessionFile {
    /// Flows, books and steps.
    #[serde(flatten)]
    pub facts: SessionFacts,
    /// The times.
    #[serde(flatten)]
    pub times: SessionFindings,
}

impl SessionFile {
    /// Combines facts and findings about sessions.
    pub fn new(facts: &SessionFacts, findings: &Findings) -> SessionFile {
        SessionFile { facts: facts.clone(), times: findings.sessions.clone().unwrap_or_default() }
    }
}
