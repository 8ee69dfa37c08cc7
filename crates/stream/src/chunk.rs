//! Parser of one event of a language model. Its data is JSON; no part of it is kept.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use truetail_run::LlmApi;

/// Meaning of one event.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Chunk {
    /// The event has a part of the answer or of the reasoning.
    pub has_content: bool,
    /// The event has a part of the reasoning and no part of the answer.
    pub is_reasoning: bool,
    /// The event reports an error of the server.
    pub is_error: bool,
    /// The event is about a choice other than the first.
    pub has_other_choice: bool,
    /// Tokens until now, if the event states them.
    pub usage: Option<Usage>,
}

/// Tokens as the server counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Tokens of the answer, including reasoning.
    pub output: u64,
    /// Tokens of the request, if stated.
    pub input: Option<u64>,
}

/// Reads the data of an event. Returns `None` if it is not a JSON object, or if a field has an unexpected form.
///
/// The time is proportional to the length of the data. Only escaped text needs memory, at most as much as the data.
pub fn read_chunk(api: LlmApi, data: &[u8]) -> Option<Chunk> {
    // Serde would read a list as the fields in their order.
    if data.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    let event: Event = serde_json::from_slice(data).ok()?;
    let Choices { text, delta, reasoning, others } = event.choices.unwrap_or_default();
    let (answer, reasoning) = match api {
        LlmApi::OpenaiChat => (delta, reasoning),
        LlmApi::OpenaiCompletions => (text, false),
    };
    let usage = event
        .usage
        .and_then(|usage| Some(Usage { output: usage.completion_tokens.number?, input: usage.prompt_tokens.number }));
    Some(Chunk {
        has_content: answer || reasoning,
        is_reasoning: reasoning && !answer,
        is_error: event.error.is_filled || event.object.is_error,
        has_other_choice: others,
        usage,
    })
}

/// An event. Older versions of vLLM send errors as `{"object": "error", …}`, other servers as `{"error": …}`.
#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    choices: Option<Choices>,
    #[serde(default)]
    usage: Option<UsageFields>,
    #[serde(default)]
    error: ValueShape,
    #[serde(default)]
    object: ValueShape,
}

#[derive(Deserialize)]
struct UsageFields {
    #[serde(default)]
    prompt_tokens: ValueShape,
    #[serde(default)]
    completion_tokens: ValueShape,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: ValueShape,
    #[serde(default)]
    text: ValueShape,
    #[serde(default)]
    delta: Option<Delta>,
}

/// Newer versions of vLLM and some other servers say `reasoning` instead of `reasoning_content`.
#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: ValueShape,
    #[serde(default)]
    refusal: ValueShape,
    #[serde(default)]
    tool_calls: ValueShape,
    #[serde(default)]
    function_call: ValueShape,
    #[serde(default)]
    reasoning_content: ValueShape,
    #[serde(default)]
    reasoning: ValueShape,
}

impl Delta {
    fn has_answer(&self) -> bool {
        [self.content, self.refusal, self.tool_calls, self.function_call].iter().any(|part| part.is_filled)
    }

    fn has_reasoning(&self) -> bool {
        self.reasoning_content.is_filled || self.reasoning.is_filled
    }
}

/// Content found in any of the choices.
#[derive(Default)]
struct Choices {
    text: bool,
    delta: bool,
    reasoning: bool,
    others: bool,
}

impl<'de> Deserialize<'de> for Choices {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Choices, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Choices;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of choices")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Choices, A::Error> {
                let mut all = Choices::default();
                while let Some(choice) = list.next_element::<Choice>()? {
                    all.text |= choice.text.is_filled;
                    all.delta |= choice.delta.as_ref().is_some_and(Delta::has_answer);
                    all.reasoning |= choice.delta.as_ref().is_some_and(Delta::has_reasoning);
                    all.others |= choice.index.number.is_some_and(|index| index > 0);
                }
                Ok(all)
            }
        }
        deserializer.deserialize_seq(Each)
    }
}

/// Properties of a value that is read without being kept.
#[derive(Clone, Copy, Default)]
struct ValueShape {
    /// The value is not null, false, or an empty text, list or object.
    is_filled: bool,
    /// The value is the text `error`.
    is_error: bool,
    /// The value, if it is a whole number.
    number: Option<u64>,
}

impl ValueShape {
    fn filled(is_filled: bool) -> ValueShape {
        ValueShape { is_filled, ..ValueShape::default() }
    }
}

impl<'de> Deserialize<'de> for ValueShape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ValueShape, D::Error> {
        deserializer.deserialize_any(GlanceVisitor)
    }
}

struct GlanceVisitor;

impl<'de> Visitor<'de> for GlanceVisitor {
    type Value = ValueShape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<ValueShape, E> {
        Ok(ValueShape::default())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<ValueShape, E> {
        Ok(ValueShape::filled(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<ValueShape, E> {
        Ok(ValueShape { number: Some(value), ..ValueShape::filled(true) })
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<ValueShape, E> {
        Ok(ValueShape::filled(true))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<ValueShape, E> {
        Ok(ValueShape::filled(true))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ValueShape, E> {
        Ok(ValueShape { is_error: text == "error", ..ValueShape::filled(!text.is_empty()) })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ValueShape, A::Error> {
        let mut is_filled = false;
        while list.next_element::<IgnoredAny>()?.is_some() {
            is_filled = true;
        }
        Ok(ValueShape::filled(is_filled))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<ValueShape, A::Error> {
        let mut is_filled = false;
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            is_filled = true;
        }
        Ok(ValueShape::filled(is_filled))
    }
}

#[cfg(test)]
mod tests;
