//! Readers of one event of a language model, a file for each dialect. Its data is JSON; no part of it is kept.

mod anthropic;
mod content;
mod delta;
mod described;
mod finish;
mod gemini;
mod native;
mod ollama;
mod openai;
mod output;
mod repair;
mod responses;
mod usage;
mod value_shape;
mod whole;

use std::borrow::Cow;

use truetail_run::{FinishReason, LlmApi};

use crate::chunk::{Choices, Chunk};
use crate::options::LlmOptions;

pub(crate) use delta::Member;
pub use described::DescribedDialect;
pub(crate) use repair::repaired;
pub(crate) use whole::{is_certainly, read_whole, scanner};

/// Reads the data of an event, as [`read_chunk`], and returns the data that was read. If JSON cannot be decoded because
/// of half a character, the character is replaced, as browsers do. If `is_whole` is false, `data` is the beginning of
/// the event's data, and only this is read.
pub(crate) fn read_event<'d>(options: &LlmOptions, data: &'d [u8], is_whole: bool) -> Option<(Chunk, Cow<'d, [u8]>)> {
    let read = |data: &[u8]| match &options.dialect {
        Some(dialect) => dialect.read(object(data)?),
        None => read_chunk(options.api, data),
    };
    let plain = if is_whole { read(data) } else { None };
    if let Some(chunk) = plain {
        return Some((chunk, Cow::Borrowed(data)));
    }
    let repaired = repair::repaired(data, is_whole)?;
    let chunk = read(&repaired)?;
    // The content may be in what was cut off.
    let has_nothing = chunk.content.is_empty() && chunk.finished.is_empty();
    let is_unknown = chunk.is_unknown || (!is_whole && has_nothing && !is_of_silent_type(options.api, data));
    // The end of an answer lists what the answer has.
    let lists_items = !is_whole && options.api == LlmApi::OpenaiResponses && !chunk.finished.is_empty();
    let items = chunk.items.and(Choices::first_if(lists_items && chunk.items.is_empty()));
    Some((Chunk { is_unknown, items, ..chunk }, Cow::Owned(repaired)))
}

/// Returns true if the data begins with a type of events that have no content.
fn is_of_silent_type(api: LlmApi, data: &[u8]) -> bool {
    matches!(api, LlmApi::OpenaiResponses | LlmApi::Anthropic)
        && type_in_front(data).is_some_and(|kind| !kind.ends_with(b"delta") && !kind.ends_with(b".partial_image"))
}

/// Returns the value of `type` if it is the first member of the data.
fn type_in_front(data: &[u8]) -> Option<&[u8]> {
    let tokens: [&[u8]; 4] = [b"{", b"\"type\"", b":", b"\""];
    let value = tokens.iter().try_fold(data, |rest, token| rest.trim_ascii_start().strip_prefix(*token))?;
    value.split(|byte| *byte == b'"').next()
}

/// Reads the data of an event. Returns `None` if it is not a JSON object, or if a field has an unexpected form.
///
/// The time is proportional to the length of the data. Only escaped text needs memory, at most as much as the data.
pub fn read_chunk(api: LlmApi, data: &[u8]) -> Option<Chunk> {
    let data = object(data)?;
    let chunk = match api {
        LlmApi::OpenaiChat => openai::read(data, openai::Place::Delta),
        LlmApi::OpenaiCompletions => openai::read(data, openai::Place::Text),
        LlmApi::OpenaiResponses => responses::read(data),
        LlmApi::Anthropic => anthropic::read(data),
        LlmApi::Gemini => gemini::read(data),
        LlmApi::Ollama => ollama::read(data),
        LlmApi::Tgi => native::read_tgi(data),
        LlmApi::Llamacpp => native::read_llamacpp(data),
        LlmApi::Sglang => native::read_sglang(data),
        // They have no events with data.
        LlmApi::Embeddings | LlmApi::Rerank | LlmApi::Whole => None,
        // Its paths are in the options.
        LlmApi::Described => None,
    }?;
    Some(Chunk { is_error: chunk.is_error || chunk.finish == Some(FinishReason::Error), ..chunk })
}

/// Returns the data as text; `None` if it is not a JSON object.
fn object(data: &[u8]) -> Option<&str> {
    // Serde would read a list as the fields in their order.
    if data.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    // Once for the whole is faster than for each name and text.
    str::from_utf8(data).ok()
}

#[cfg(test)]
mod tests;
