//! Events and whole answers of Anthropic's `/v1/messages`.

use std::borrow::Cow;

use serde::Deserialize;

use super::content::Content;
use super::finish::Finish;
use super::value_shape::ValueShape;
use crate::chunk::{Choices, Chunk, Usage};

/// An event. Its kind is in `type`; the name of the server-sent event repeats it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    message: Option<Message>,
    #[serde(borrow)]
    content_block: Option<Part<'a>>,
    #[serde(borrow)]
    delta: Option<Part<'a>>,
    usage: Option<Counts>,
    error: ValueShape,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Message {
    usage: Option<Counts>,
}

/// A block of content at its start, or a delta of it or of the message.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    text: ValueShape,
    thinking: ValueShape,
    partial_json: ValueShape,
    stop_reason: Finish,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Counts {
    input_tokens: ValueShape,
    output_tokens: ValueShape,
    cache_read_input_tokens: ValueShape,
    cache_creation_input_tokens: ValueShape,
}

impl Counts {
    /// Returns the counts. `input_tokens` leaves out the tokens that were read from the cache or written to it.
    fn usage(self, output: u64) -> Usage {
        let cached = self.cache_read_input_tokens.number;
        let beside = [cached, self.cache_creation_input_tokens.number].into_iter().flatten();
        let input = self.input_tokens.number.map(|input| beside.fold(input, u64::saturating_add));
        Usage { output, reasoning: None, input, cached }
    }
}

pub(super) fn read(text: &str) -> Option<Chunk> {
    let event: Event<'_> = serde_json::from_str(text).ok()?;
    let delta = event.delta.unwrap_or_default();
    let block = event.content_block.unwrap_or_default();
    let one = Choices::first_if(true);
    let plain = Chunk { choices: one, is_error: event.error.is_filled, ..Chunk::default() };
    Some(match &*event.kind {
        "error" => Chunk { is_error: true, ..plain },
        // The output tokens of the start are not those of the answer.
        "message_start" => {
            let counts = event.message.and_then(|message| message.usage);
            Chunk { usage: counts.map(|counts| counts.usage(0)), ..plain }
        }
        "content_block_start" => Chunk {
            content: Choices::first_if(block.text.is_filled || block.thinking.is_filled || is_call(&block.kind)),
            is_reasoning: block.thinking.is_filled,
            is_summary: block.kind.contains("thinking"),
            ..plain
        },
        "content_block_delta" => of_delta(&delta, plain),
        "message_delta" => Chunk {
            finished: Choices::first_if(delta.stop_reason.0.is_some()),
            finish: delta.stop_reason.0,
            usage: event.usage.and_then(|counts| Some(counts.usage(counts.output_tokens.number?))),
            ..plain
        },
        "message_stop" => Chunk { finished: one, ..plain },
        _ => plain,
    })
}

/// An answer that comes whole.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Whole {
    content: Content,
    stop_reason: Finish,
    usage: Option<Counts>,
    error: ValueShape,
}

pub(super) fn read_whole(text: &str) -> Option<Chunk> {
    let answer: Whole = serde_json::from_str(text).ok()?;
    let one = Choices::first_if(true);
    Some(Chunk {
        content: Choices::first_if(answer.content.is_filled()),
        is_error: answer.error.is_filled,
        choices: one,
        finished: one,
        finish: answer.stop_reason.0,
        usage: answer.usage.and_then(|counts| Some(counts.usage(counts.output_tokens.number?))),
        ..Chunk::default()
    })
}

fn is_call(kind: &str) -> bool {
    kind.ends_with("tool_use")
}

/// Reads a part of a block. Thinking may be a summary: nothing tells how many tokens it has.
fn of_delta(delta: &Part<'_>, plain: Chunk) -> Chunk {
    let answer = delta.text.is_filled || delta.partial_json.is_filled;
    match &*delta.kind {
        "text_delta" | "input_json_delta" => Chunk { content: Choices::first_if(answer), ..plain },
        "thinking_delta" => Chunk {
            content: Choices::first_if(delta.thinking.is_filled),
            is_reasoning: true,
            is_summary: true,
            ..plain
        },
        "signature_delta" | "citations_delta" => plain,
        _ => Chunk { is_unknown: true, ..plain },
    }
}
