//! Events and whole answers of OpenAI's `/v1/responses`.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use truetail_run::FinishReason;

use super::content::Content;
use super::finish::Finish;
use super::usage::UsageFields;
use super::value_shape::ValueShape;
use crate::chunk::{Choices, Chunk};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    output_index: ValueShape,
    delta: ValueShape,
    partial_image_b64: ValueShape,
    /// What came as deltas, once more and whole.
    #[serde(alias = "refusal")]
    text: ValueShape,
    #[serde(alias = "input")]
    arguments: ValueShape,
    code: ValueShape,
    part: Content,
    #[serde(borrow)]
    item: Option<Item<'a>>,
    #[serde(borrow)]
    response: Option<Response<'a>>,
    error: ValueShape,
}

/// An item of the answer: a message, reasoning, a call of a tool or an image.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    content: Content,
    summary: Content,
    arguments: ValueShape,
    input: ValueShape,
    code: ValueShape,
    result: ValueShape,
    action: ValueShape,
    operation: ValueShape,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    usage: Option<UsageFields>,
    output: Items,
    error: ValueShape,
    incomplete_details: Option<Incomplete>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Incomplete {
    reason: Finish,
}

impl Event<'_> {
    /// Returns the item that the event is about: it may be any without a number. `None` if the number is too high.
    fn items(&self) -> Option<Choices> {
        self.output_index.number.map_or(Some(Choices::all()), Choices::one)
    }

    /// Returns true if the event has the whole of a part or of an item.
    fn has_whole(&self) -> bool {
        let parts = [self.text, self.arguments, self.code];
        parts.iter().any(|part| part.is_filled)
            || self.part.is_filled()
            || self.item.as_ref().is_some_and(Item::has_content)
    }
}

impl Item<'_> {
    fn has_content(&self) -> bool {
        let calls = [self.arguments, self.input, self.code, self.result];
        // The model writes these calls for the client. A search is the server's own.
        let is_client_call =
            ["computer_call", "local_shell_call", "shell_call", "apply_patch_call"].contains(&&*self.kind);
        self.content.and(self.summary).is_filled()
            || calls.iter().any(|call| call.is_filled)
            || (is_client_call && (self.action.is_filled || self.operation.is_filled))
    }
}

/// The places of items with content in a list of items.
#[derive(Default)]
struct Items(Choices);

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Items, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Items;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of items")
            }

            fn visit_unit<E: Error>(self) -> Result<Items, E> {
                Ok(Items::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Items, A::Error> {
                let mut found = Choices::default();
                let mut place = 0;
                while let Some(item) = list.next_element::<Item<'_>>()? {
                    found = found.and(Choices::one(place).filter(|_| item.has_content()).unwrap_or_default());
                    place += 1;
                }
                Ok(Items(found))
            }
        }
        deserializer.deserialize_any(List)
    }
}

pub(super) fn read_whole(text: &str) -> Option<Chunk> {
    let response: Response<'_> = serde_json::from_str(text).ok()?;
    let details = response.incomplete_details.unwrap_or_default();
    let finish = match &*response.status {
        "completed" => Some(FinishReason::Stop),
        "incomplete" => Some(details.reason.0.unwrap_or(FinishReason::Other)),
        "failed" | "cancelled" => Some(FinishReason::Error),
        _ => None,
    };
    // Otherwise the answer is still being made.
    let one = Choices::first_if(finish.is_some());
    Some(Chunk {
        content: Choices::first_if(!response.output.0.is_empty()),
        is_error: response.error.is_filled,
        choices: one,
        finished: one,
        finish,
        usage: response.usage.and_then(UsageFields::usage),
        ..Chunk::default()
    })
}

pub(super) fn read(text: &str) -> Option<Chunk> {
    let event: Event<'_> = serde_json::from_str(text).ok()?;
    let one = Choices::first_if(true);
    let items = event.items();
    let has_whole = event.has_whole();
    let response = event.response.unwrap_or_default();
    let plain = Chunk { choices: one, is_error: event.error.is_filled || response.error.is_filled, ..Chunk::default() };
    let ended = |finish| Chunk {
        finished: one,
        finish: Some(finish),
        usage: response.usage.and_then(UsageFields::usage),
        items: response.output.0,
        ..plain
    };
    let piece = |is_filled| {
        let of_piece = items.filter(|_| is_filled).unwrap_or_default();
        Chunk { content: Choices::first_if(is_filled), items: of_piece, ..plain }
    };
    Some(match &*event.kind {
        "response.completed" => ended(FinishReason::Stop),
        "response.incomplete" => {
            let details = response.incomplete_details.unwrap_or_default();
            ended(details.reason.0.unwrap_or(FinishReason::Other))
        }
        "error" | "response.error" | "response.failed" | "response.cancelled" => Chunk { is_error: true, ..plain },
        "response.image_generation_call.partial_image" => piece(event.partial_image_b64.is_filled),
        // Text, refusals, calls of tools, sound and reasoning each have a type of delta.
        kind if kind.ends_with(".delta") => Chunk {
            is_reasoning: kind.contains("reasoning"),
            is_summary: kind.contains("reasoning_summary"),
            ..piece(event.delta.is_filled)
        },
        kind if has_whole && (kind.ends_with(".done") || kind.ends_with(".added")) => {
            Chunk { items: items.unwrap_or_default(), is_unknown: items.is_none(), ..plain }
        }
        _ => plain,
    })
}
