//! Answers that come whole.

use super::LlmAnswer;
use crate::chunk::{Chunk, Usage};
use crate::found::StreamResults;

impl LlmAnswer {
    /// Records the count in the head of an answer, which holds unless the answer has one.
    pub(crate) fn counted_before(&mut self, usage: Option<Usage>) {
        self.usage = usage;
    }

    /// Records the end of a measured answer that came whole; `chunk` is `None` if it was not understood.
    pub(crate) fn whole(&mut self, chunk: Option<Chunk>, found: &mut StreamResults) {
        let Some(facts) = &mut found.llm else { return };
        match chunk {
            Some(chunk) if chunk.is_error => self.error(facts),
            Some(chunk) => {
                facts.other_events += 1;
                self.choices.seen = chunk.choices;
                self.choices.finished = chunk.finished;
                self.finish = chunk.finish;
                self.usage = chunk.usage.or(self.usage);
                self.marks.has_result = !chunk.content.is_empty();
                self.marks.is_first_unknown = chunk.is_unknown;
                // All that was made came with the answer, or nothing tells otherwise.
                self.marks.has_reasoning = true;
            }
            None => {
                facts.unreadable_events += 1;
                self.marks.has_unknown = true;
            }
        }
    }
}
