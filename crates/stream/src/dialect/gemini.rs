//! Events of Gemini's `:streamGenerateContent?alt=sse`.

use serde::Deserialize;
use truetail_run::FinishReason;

use super::finish::Finish;
use super::value_shape::ValueShape;
use crate::chunk::{Choices, Chunk, Usage};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Event {
    candidates: Vec<Candidate>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Counts>,
    error: ValueShape,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Candidate {
    index: ValueShape,
    content: Option<Content>,
    finish_reason: Finish,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content {
    parts: Vec<Part>,
}

/// A part: a text, or a call, data, code and so on.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Part {
    text: ValueShape,
    /// The text is reasoning.
    thought: ValueShape,
    function_call: ValueShape,
    inline_data: ValueShape,
    executable_code: ValueShape,
    code_execution_result: ValueShape,
    file_data: ValueShape,
}

impl Part {
    fn has_answer(&self) -> bool {
        let others =
            [self.function_call, self.inline_data, self.executable_code, self.code_execution_result, self.file_data];
        (self.text.is_filled && !self.thought.is_filled) || others.iter().any(|part| part.is_filled)
    }

    fn has_reasoning(&self) -> bool {
        self.text.is_filled && self.thought.is_filled
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Feedback {
    block_reason: ValueShape,
}

/// Counts until now. Reasoning is beside the candidates.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Counts {
    prompt_token_count: ValueShape,
    candidates_token_count: ValueShape,
    thoughts_token_count: ValueShape,
    cached_content_token_count: ValueShape,
}

impl Counts {
    fn usage(self) -> Option<Usage> {
        let reasoning = self.thoughts_token_count.number;
        let output = self.candidates_token_count.number?.saturating_add(reasoning.unwrap_or(0));
        let input = self.prompt_token_count.number;
        Some(Usage { output, reasoning, input, cached: self.cached_content_token_count.number })
    }
}

pub(super) fn read(text: &str) -> Option<Chunk> {
    let event: Event = serde_json::from_str(text).ok()?;
    let mut chunk = Chunk { is_error: event.error.is_filled, ..Chunk::default() };
    let mut has_answer = false;
    for candidate in &event.candidates {
        let Some(one) = Choices::one(candidate.index.number.unwrap_or(0)) else {
            chunk.is_unknown = true;
            continue;
        };
        let parts = candidate.content.as_ref().map_or(&[][..], |content| &content.parts);
        let answer = parts.iter().any(Part::has_answer);
        // What the model sends of its thoughts is a summary.
        let reasoning = parts.iter().any(Part::has_reasoning);
        has_answer |= answer;
        chunk.is_summary |= reasoning;
        chunk.choices = chunk.choices.and(one);
        chunk.content = chunk.content.and(if answer || reasoning { one } else { Choices::default() });
        if let Some(reason) = candidate.finish_reason.0 {
            chunk.finished = chunk.finished.and(one);
            chunk.finish = Some(reason);
        }
    }
    chunk.is_reasoning = chunk.is_summary && !has_answer;
    if event.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_filled) {
        chunk.choices = Choices::first_if(true);
        chunk.finished = chunk.choices;
        chunk.finish = Some(FinishReason::ContentFilter);
    }
    chunk.usage = event.usage_metadata.and_then(Counts::usage);
    Some(chunk)
}
