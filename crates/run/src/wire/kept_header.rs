//! The field `kept_headers` of `run.json`.

use serde::{Deserialize, Serialize};

use crate::{Facts, Findings, HeaderGroup, KeptHeader, KeptHeaders};

/// Values of one response header, as `run.json` describes them. Those of single answers are in `samples.csv`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeptHeaderFile {
    /// The header, and the answers with each value.
    #[serde(flatten)]
    pub facts: KeptHeader,
    /// Response times of the answers with each value, the most frequent first.
    pub groups: Vec<HeaderGroup>,
}

/// Combines facts and findings about response headers.
pub(super) fn kept_header_files(facts: &Facts, findings: &Findings) -> Vec<KeptHeaderFile> {
    let headers = facts.kept_headers.iter().flat_map(|kept| &kept.headers);
    let groups = findings.header_groups.iter().cloned().chain(std::iter::repeat(Vec::new()));
    headers.cloned().zip(groups).map(|(facts, groups)| KeptHeaderFile { facts, groups }).collect()
}

/// Returns the facts in these fields, without the values of single answers.
pub(crate) fn kept_headers(files: Vec<KeptHeaderFile>) -> Option<KeptHeaders> {
    let headers: Vec<KeptHeader> = files.into_iter().map(|file| file.facts).collect();
    (!headers.is_empty()).then(|| KeptHeaders { headers, rows: Vec::new() })
}
