//! Answers whose tokens the server did not count. The tokenizer counts them after the load, so as not to disturb it.

use crate::chunk_text::AnswerText;
use crate::found::StreamResults;
use crate::llm_answer::{AnswerEnd, CountedLater, LlmAnswer};
use crate::options::StreamOptions;

/// Limit on the bytes of answers that one worker keeps.
const MAX_BYTES: usize = 128 << 20;

/// A complete answer that is counted later.
#[derive(Debug)]
pub(crate) struct Waiting {
    answer: LlmAnswer,
    ended: AnswerEnd,
    text: String,
}

#[derive(Default, Debug)]
pub(crate) struct Uncounted {
    pub(crate) waiting: Vec<Waiting>,
    bytes: usize,
}

impl Uncounted {
    /// Keeps a complete answer with a text that a tokenizer can count. Returns true if it was kept.
    pub(crate) fn keep(&mut self, answer: &LlmAnswer, ended: AnswerEnd, text: &mut AnswerText) -> bool {
        if !answer.is_uncounted_text() || !ended.is_complete {
            return false;
        }
        let Some(text) = text.take() else { return false };
        let bytes = self.bytes + text.capacity() + size_of::<Waiting>();
        if bytes > MAX_BYTES {
            return false;
        }
        self.bytes = bytes;
        self.waiting.push(Waiting { answer: answer.clone(), ended, text });
        true
    }
}

/// Counts the waiting answers with the tokenizer of these options, and adds the results to `found`. Returns what became
/// known of each.
pub(crate) fn count(waiting: &[Waiting], options: &StreamOptions, found: &mut StreamResults) -> Vec<CountedLater> {
    let Some((llm, tokenizer)) = options.llm.as_ref().and_then(|llm| Some((llm, llm.tokenizer.as_ref()?))) else {
        return Vec::new();
    };
    let texts: Vec<&str> = waiting.iter().map(|waiting| waiting.text.as_str()).collect();
    let count = |(Waiting { answer, ended, .. }, tokens): (&Waiting, Option<u64>)| {
        answer.count(*ended, tokens, llm, found);
        answer.counted_later(*ended, tokens)
    };
    waiting.iter().zip(tokenizer.count(&texts)).map(count).collect()
}
