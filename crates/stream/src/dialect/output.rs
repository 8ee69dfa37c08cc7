//! Answers of chats and completions that come whole, in any of the formats of streams. They are documents that the
//! readers of events understand, or nearly so.

use std::str;

use truetail_run::FinishReason;

use super::repair::repaired;
use super::{anthropic, gemini, native, ollama, openai, responses};
use crate::chunk::{Choices, Chunk};
use crate::json_scanner::{JsonScanner, KeptValue};

/// Limit on the bytes of a member that are kept. An answer that is longer is counted, and why it ended is unknown.
const MAX_VALUE_BYTES: usize = 256 << 10;

/// Members that are read, of all formats.
const MEMBERS: [&str; 36] = [
    // Texts.
    "choices",
    "output",
    "content",
    "candidates",
    "message",
    "response",
    "thinking",
    "generated_text",
    "text",
    // Kinds and ends.
    "object",
    "type",
    "status",
    "incomplete_details",
    "stop_reason",
    "promptFeedback",
    "done",
    "done_reason",
    "details",
    "stop",
    "stop_type",
    "stopped_limit",
    // Counts.
    "usage",
    "usageMetadata",
    "prompt_eval_count",
    "eval_count",
    "tokens_predicted",
    "tokens_evaluated",
    "timings",
    "meta_info",
    "x_groq",
    // Errors.
    "error",
    "code",
    "error_code",
    "detail",
    "errors",
    "base_resp",
];

/// Members that have the text of an answer.
const TEXTS: [&str; 9] =
    ["choices", "output", "content", "candidates", "message", "response", "thinking", "generated_text", "text"];

pub(super) fn scanner() -> JsonScanner {
    JsonScanner::new(&MEMBERS, MAX_VALUE_BYTES)
}

/// Reader of the event that an answer looks like.
type Reader = fn(&str) -> Option<Chunk>;

/// Returns the reader of an answer with these members; `None` if it has no answer of a known format.
fn reader(document: &JsonScanner) -> Option<Reader> {
    let has = |name: &str| document.value(name).is_some();
    if has("choices") {
        Some(|text| openai::read(text, openai::Place::Message))
    } else if has("candidates") || has("promptFeedback") {
        Some(gemini::read)
    } else if has("output") {
        Some(responses::read_whole)
    } else if has("generated_text") {
        Some(native::read_tgi_whole)
    } else if has("meta_info") {
        Some(native::read_sglang)
    } else if has("done") {
        Some(ollama::read)
    } else if has("stop") {
        Some(native::read_llamacpp)
    } else if has("content") && has("stop_reason") {
        Some(anthropic::read_whole)
    } else {
        None
    }
}

/// Returns true if a document, or its beginning, is certainly such an answer.
pub(super) fn is_certainly(document: &JsonScanner) -> bool {
    reader(document).is_some()
}

/// Reads a whole document; `None` if it has neither an answer nor an error.
pub(super) fn read(document: &JsonScanner) -> Option<Chunk> {
    let is_cut = TEXTS.iter().any(|name| document.value(name).is_some_and(KeptValue::is_cut));
    // Errors of all formats look alike.
    let reader = reader(document).unwrap_or(|text| openai::read(text, openai::Place::Message));
    let data = document.object();
    let plain = str::from_utf8(&data).ok().and_then(reader);
    let chunk = plain.or_else(|| reader(str::from_utf8(&repaired(&data, true)?).ok()?))?;
    let is_error = chunk.is_error || chunk.finish == Some(FinishReason::Error);
    let one = Choices::first_if(is_cut);
    let choices = chunk.choices.and(one);
    // The end of the document is the end of each choice.
    let answer = Chunk { content: chunk.content.and(one), is_error, choices, finished: choices, ..chunk };
    (is_error || !choices.is_empty()).then_some(answer)
}

#[cfg(test)]
mod tests;
