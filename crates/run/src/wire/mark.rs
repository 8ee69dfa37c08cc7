//! The field `marks` of `run.json`.

use serde::{Deserialize, Serialize};

use crate::{Facts, Findings, Mark, MarkFinding};

/// A command that the run started, with its effect.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MarkFile {
    /// The command.
    #[serde(flatten)]
    pub facts: Mark,
    /// Its effect.
    #[serde(flatten)]
    pub finding: MarkFinding,
}

/// Combines facts and findings about marks.
pub(super) fn mark_files(facts: &Facts, findings: &Findings) -> Vec<MarkFile> {
    let both = facts.marks.iter().zip(&findings.marks);
    both.map(|(facts, finding)| MarkFile { facts: facts.clone(), finding: finding.clone() }).collect()
}
