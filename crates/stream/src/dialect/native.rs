//! Events of servers' own interfaces: TGI's `/generate_stream`, llama.cpp's `/completion`, SGLang's `/generate`.

use serde::Deserialize;
use truetail_run::FinishReason;

use super::content::Content;
use super::finish::Finish;
use super::value_shape::ValueShape;
use crate::chunk::{Choices, Chunk, Usage};

/// An event of TGI: one token. The last one has details, or at least the whole text.
#[derive(Default, Deserialize)]
#[serde(default)]
struct TgiEvent {
    token: Option<TgiToken>,
    /// Null until the end.
    generated_text: Option<ValueShape>,
    details: Option<TgiDetails>,
    error: ValueShape,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct TgiToken {
    text: ValueShape,
    /// A token without text, such as that of the end.
    special: ValueShape,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct TgiDetails {
    finish_reason: Finish,
    generated_tokens: ValueShape,
    input_length: ValueShape,
}

pub(super) fn read_tgi(text: &str) -> Option<Chunk> {
    let event: TgiEvent = serde_json::from_str(text).ok()?;
    let token = event.token.unwrap_or_default();
    let reason = event.details.and_then(|details| details.finish_reason.0);
    let finish = reason.or(event.generated_text.map(|_| FinishReason::Other));
    let usage = event.details.and_then(|details| {
        Some(Usage { output: details.generated_tokens.number?, input: details.input_length.number, ..Usage::default() })
    });
    let is_content = token.text.is_filled && !token.special.is_filled;
    let has_all = event.generated_text.is_some_and(|text| text.is_filled);
    Some(Chunk {
        content: Choices::first_if(is_content),
        items: Choices::first_if(is_content || has_all),
        ..ended(finish, usage, event.error.is_filled)
    })
}

/// Reads the answer of TGI's `/generate`, which has the members of the last event and no token.
pub(super) fn read_tgi_whole(text: &str) -> Option<Chunk> {
    let chunk = read_tgi(text)?;
    // The text alone does not say why it ends.
    let finish = chunk.finish.filter(|reason| *reason != FinishReason::Other);
    Some(Chunk { content: chunk.items, items: Choices::default(), finish, ..chunk })
}

/// An event of llama.cpp.
#[derive(Default, Deserialize)]
#[serde(default)]
struct LlamaEvent {
    content: Content,
    stop: ValueShape,
    stop_type: Finish,
    /// The same before there was `stop_type`.
    stopped_limit: ValueShape,
    tokens_predicted: ValueShape,
    tokens_evaluated: ValueShape,
    error: ValueShape,
}

pub(super) fn read_llamacpp(text: &str) -> Option<Chunk> {
    let event: LlamaEvent = serde_json::from_str(text).ok()?;
    let unnamed = if event.stopped_limit.is_filled { FinishReason::Length } else { FinishReason::Stop };
    let finish = event.stop.is_filled.then(|| event.stop_type.0.unwrap_or(unnamed));
    // Before the end, the count may be one behind.
    let counted = event.tokens_predicted.number.filter(|_| finish.is_some());
    let usage = counted.map(|output| Usage { output, input: event.tokens_evaluated.number, ..Usage::default() });
    Some(Chunk { content: Choices::first_if(event.content.is_filled()), ..ended(finish, usage, event.error.is_filled) })
}

/// An event of SGLang. Its text is the whole text until now.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SglangEvent {
    index: ValueShape,
    text: Content,
    meta_info: Option<SglangMeta>,
    error: ValueShape,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct SglangMeta {
    prompt_tokens: ValueShape,
    completion_tokens: ValueShape,
    cached_tokens: ValueShape,
    finish_reason: Finish,
}

pub(super) fn read_sglang(text: &str) -> Option<Chunk> {
    let event: SglangEvent = serde_json::from_str(text).ok()?;
    let meta = event.meta_info.unwrap_or_default();
    let usage = meta.completion_tokens.number.map(|output| Usage {
        output,
        reasoning: None,
        input: meta.prompt_tokens.number,
        cached: meta.cached_tokens.number,
    });
    let only = Chunk { repeats_content: true, ..ended(meta.finish_reason.0, usage, event.error.is_filled) };
    // The tokens of each choice tell whether its text grew, and they are kept for one only.
    Some(match event.index.number.filter(|index| *index > 0) {
        None => Chunk { content: Choices::first_if(event.text.is_filled()), ..only },
        Some(index) => {
            let choices = Choices::one(index).unwrap_or_else(Choices::all);
            let finished = if only.finished.is_empty() { Choices::default() } else { choices };
            Chunk { choices, finished, usage: None, is_unknown: true, ..only }
        }
    })
}

/// Returns an event without content of an answer with one choice.
fn ended(finish: Option<FinishReason>, usage: Option<Usage>, has_error: bool) -> Chunk {
    Chunk {
        choices: Choices::first_if(true),
        finished: Choices::first_if(finish.is_some()),
        finish,
        usage,
        is_error: has_error,
        ..Chunk::default()
    }
}
