//! What one event of a language model says. Its data is JSON, of which nothing is kept.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use truetail_run::LlmApi;

/// What one event says.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Chunk {
    /// It has a part of the answer, or of reasoning.
    pub has_content: bool,
    /// It has a part of reasoning, and of nothing else.
    pub is_reasoning: bool,
    /// It says that the server failed.
    pub is_error: bool,
    /// It is about a choice other than the first.
    pub has_other_choice: bool,
    /// The tokens so far, where the server says how many.
    pub usage: Option<Usage>,
}

/// Tokens, as the server counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Tokens of the answer, reasoning among them.
    pub output: u64,
    /// Tokens of the request, where it says so.
    pub input: Option<u64>,
}

/// Reads the data of an event; `None` where it is not a JSON object, or one in which what is read here has another form.
///
/// It takes time in proportion to the data, and memory only for a text that has escapes, at most as much as the data.
pub fn read_chunk(api: LlmApi, data: &[u8]) -> Option<Chunk> {
    // A list would be taken for the fields in their order.
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

/// An event. Older versions of vLLM send errors as `{"object": "error", "message": …}`, others as `{"error": …}`.
#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    choices: Option<Choices>,
    #[serde(default)]
    usage: Option<UsageFields>,
    #[serde(default)]
    error: Glance,
    #[serde(default)]
    object: Glance,
}

#[derive(Deserialize)]
struct UsageFields {
    #[serde(default)]
    prompt_tokens: Glance,
    #[serde(default)]
    completion_tokens: Glance,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: Glance,
    #[serde(default)]
    text: Glance,
    #[serde(default)]
    delta: Option<Delta>,
}

/// `reasoning` is what newer versions of vLLM, and others, call `reasoning_content`.
#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Glance,
    #[serde(default)]
    refusal: Glance,
    #[serde(default)]
    tool_calls: Glance,
    #[serde(default)]
    function_call: Glance,
    #[serde(default)]
    reasoning_content: Glance,
    #[serde(default)]
    reasoning: Glance,
}

impl Delta {
    fn has_answer(&self) -> bool {
        [self.content, self.refusal, self.tool_calls, self.function_call].iter().any(|part| part.is_filled)
    }

    fn has_reasoning(&self) -> bool {
        self.reasoning_content.is_filled || self.reasoning.is_filled
    }
}

/// What any of the choices has.
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

/// What can be seen of a value without keeping it.
#[derive(Clone, Copy, Default)]
struct Glance {
    /// It is neither null, false, nor an empty text, list or object.
    is_filled: bool,
    /// It is the text `error`.
    is_error: bool,
    /// It is this whole number.
    number: Option<u64>,
}

impl Glance {
    fn filled(is_filled: bool) -> Glance {
        Glance { is_filled, ..Glance::default() }
    }
}

impl<'de> Deserialize<'de> for Glance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Glance, D::Error> {
        deserializer.deserialize_any(GlanceVisitor)
    }
}

struct GlanceVisitor;

impl<'de> Visitor<'de> for GlanceVisitor {
    type Value = Glance;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Glance, E> {
        Ok(Glance::default())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Glance, E> {
        Ok(Glance::filled(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Glance, E> {
        Ok(Glance { number: Some(value), ..Glance::filled(true) })
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Glance, E> {
        Ok(Glance::filled(true))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Glance, E> {
        Ok(Glance::filled(true))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Glance, E> {
        Ok(Glance { is_error: text == "error", ..Glance::filled(!text.is_empty()) })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Glance, A::Error> {
        let mut is_filled = false;
        while list.next_element::<IgnoredAny>()?.is_some() {
            is_filled = true;
        }
        Ok(Glance::filled(is_filled))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Glance, A::Error> {
        let mut is_filled = false;
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            is_filled = true;
        }
        Ok(Glance::filled(is_filled))
    }
}

#[cfg(test)]
mod tests;
