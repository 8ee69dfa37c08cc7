//! Facts about single answers.

use truetail_model::time::Nanos;
use truetail_run::{RequestStream, RequestTokens};

use super::{AnswerEnd, LlmAnswer, PerToken};

/// Facts that a tokenizer found about an answer after the load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedLater {
    pub(crate) index: u64,
    output: Option<u32>,
    time_per_output_token: Option<Nanos>,
}

impl CountedLater {
    /// Adds the facts to what was known.
    pub(crate) fn add_to(&self, row: &RequestStream) -> RequestStream {
        let tokens = RequestTokens { output: self.output, ..row.tokens };
        RequestStream { tokens, time_per_output_token: self.time_per_output_token, ..*row }
    }
}

impl LlmAnswer {
    /// Adds the facts about an answer that has ended. Only complete answers have tokens.
    pub(crate) fn add_to(&self, row: &mut RequestStream, ended: AnswerEnd) {
        let first = self.first.filter(|_| !self.marks.is_first_unknown);
        row.first_content = first.map(|first| first.at.max(ended.intended_start));
        row.finish = self.finish;
        if !ended.is_complete {
            return;
        }
        row.time_per_output_token = known(self.per_token(None));
        if let Some(usage) = self.usage() {
            row.tokens = RequestTokens {
                input: usage.input.and_then(count),
                cached: usage.cached.and_then(count),
                // Not of embeddings.
                output: count(usage.output).filter(|output| *output > 0 || !self.marks.has_result),
                reasoning: usage.reasoning.and_then(count),
            };
        }
    }

    /// Returns the facts about an answer of `output` tokens that a tokenizer has counted.
    pub(crate) fn counted_later(&self, ended: AnswerEnd, output: Option<u64>) -> CountedLater {
        CountedLater {
            index: ended.index,
            output: output.and_then(count),
            time_per_output_token: known(self.per_token(output)),
        }
    }
}

/// Returns a count of tokens. One that no answer has is as good as none.
fn count(tokens: u64) -> Option<u32> {
    u32::try_from(tokens).ok()
}

fn known(per_token: PerToken) -> Option<Nanos> {
    match per_token {
        PerToken::Known(time) => Some(time),
        PerToken::None | PerToken::Unknown => None,
    }
}
