//! The field `stream` of `run.json`.

use serde::{Deserialize, Serialize};

use crate::{Distribution, Findings, StreamFacts, StreamFindings, StreamKind};
use truetail_model::record::Metric;

/// Streams as `run.json` describes them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamFile {
    /// Settings, books and counts.
    #[serde(flatten)]
    pub facts: StreamFacts,
    /// Streams that broke off, as in their tally.
    pub cut: u64,
    /// Copy of the time to first byte beside `response_time`; omitted if no first byte is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_time: Option<Distribution>,
    /// The times.
    #[serde(flatten)]
    pub times: StreamFindings,
    /// Output tokens of complete answers of language models; null if the server did not count every answer, and for
    /// answers that come whole.
    pub tokens: Option<u64>,
}

impl StreamFile {
    /// Combines facts and findings about streams.
    pub fn new(facts: &StreamFacts, findings: &Findings) -> StreamFile {
        let first_byte_time = Some(findings.metrics[Metric::FirstByteTime].clone());
        let is_of_requests = facts.reading.kind != StreamKind::Pushes;
        let first_byte_time = first_byte_time.filter(|times| is_of_requests && times.count > 0);
        StreamFile {
            cut: facts.tally.cut,
            facts: facts.clone(),
            first_byte_time,
            times: findings.stream.clone().unwrap_or_default(),
            tokens: tokens(facts),
        }
    }
}

/// Tokens that a tokenizer counted are left out.
fn tokens(facts: &StreamFacts) -> Option<u64> {
    let llm = facts.llm.as_ref().filter(|llm| llm.tokens.not_counted == 0)?;
    llm.output_tokens()
}
