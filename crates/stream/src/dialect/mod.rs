//! Readers of one event of a language model, a file for each dialect. Its data is JSON; no part of it is kept.

mod anthropic;
mod content;
mod described;
mod finish;
mod gemini;
mod native;
mod ollama;
mod openai;
mod repair;
mod responses;
mod usage;
mod value_shape;

use std::borrow::Cow;

use truetail_run::LlmApi;

use crate::chunk::Chunk;
use crate::options::LlmOptions;

pub use described::DescribedDialect;
pub(crate) use openai::Member;

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
    Some((read(&repaired)?, Cow::Owned(repaired)))
}

/// Reads the data of an event. Returns `None` if it is not a JSON object, or if a field has an unexpected form.
///
/// The time is proportional to the length of the data. Only escaped text needs memory, at most as much as the data.
pub fn read_chunk(api: LlmApi, data: &[u8]) -> Option<Chunk> {
    let data = object(data)?;
    match api {
        LlmApi::OpenaiChat => openai::read(data, openai::Place::Delta),
        LlmApi::OpenaiCompletions => openai::read(data, openai::Place::Text),
        LlmApi::OpenaiResponses => responses::read(data),
        LlmApi::Anthropic => anthropic::read(data),
        LlmApi::Gemini => gemini::read(data),
        LlmApi::Ollama => ollama::read(data),
        LlmApi::Tgi => native::read_tgi(data),
        LlmApi::Llamacpp => native::read_llamacpp(data),
        LlmApi::Sglang => native::read_sglang(data),
        // Its paths are in the options.
        LlmApi::Described => None,
    }
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
