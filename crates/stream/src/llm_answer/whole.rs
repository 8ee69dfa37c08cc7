//! Answers that come whole.

use super::LlmAnswer;
use crate::chunk::Chunk;
use crate::found::StreamResults;

impl LlmAnswer {
    /// Records the end of a measured answer that came whole; `chunk` is `None` if it was not understood.
    pub(crate) fn whole(&mut self, chunk: Option<Chunk>, found: &mut StreamResults) {
        let Some(facts) = &mut found.llm else { return };
        match chunk {
            Some(chunk) if chunk.is_error => self.error(facts),
            Some(chunk) => {
                facts.other_events += 1;
                self.choices.seen = chunk.choices;
                self.choices.finished = chunk.finished;
                self.usage = chunk.usage;
                self.marks.has_result = !chunk.content.is_empty();
            }
            None => {
                facts.unreadable_events += 1;
                self.marks.has_unknown = true;
            }
        }
    }
}
