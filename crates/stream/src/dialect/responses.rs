//! Events of OpenAI's `/v1/responses`.

use std::borrow::Cow;

use serde::Deserialize;
use truetail_run::FinishReason;

use super::finish::Finish;
use super::usage::UsageFields;
use super::value_shape::ValueShape;
use crate::chunk::{Choices, Chunk};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    delta: ValueShape,
    partial_image_b64: ValueShape,
    response: Option<Response>,
    error: ValueShape,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response {
    usage: Option<UsageFields>,
    error: ValueShape,
    incomplete_details: Option<Incomplete>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Incomplete {
    reason: Finish,
}

pub(super) fn read(text: &str) -> Option<Chunk> {
    let event: Event<'_> = serde_json::from_str(text).ok()?;
    let one = Choices::first_if(true);
    let response = event.response.unwrap_or_default();
    let plain = Chunk { choices: one, is_error: event.error.is_filled || response.error.is_filled, ..Chunk::default() };
    let ended = |finish| Chunk {
        finished: one,
        finish: Some(finish),
        usage: response.usage.and_then(UsageFields::usage),
        ..plain
    };
    Some(match &*event.kind {
        "response.completed" => ended(FinishReason::Stop),
        "response.incomplete" => {
            let details = response.incomplete_details.unwrap_or_default();
            ended(details.reason.0.unwrap_or(FinishReason::Other))
        }
        "error" | "response.error" | "response.failed" | "response.cancelled" => Chunk { is_error: true, ..plain },
        "response.image_generation_call.partial_image" => {
            Chunk { content: Choices::first_if(event.partial_image_b64.is_filled), ..plain }
        }
        // Text, refusals, calls of tools, sound and reasoning each have a type of delta.
        kind if kind.ends_with(".delta") => Chunk {
            content: Choices::first_if(event.delta.is_filled),
            is_reasoning: kind.contains("reasoning"),
            is_summary: kind.contains("reasoning_summary"),
            ..plain
        },
        _ => plain,
    })
}
