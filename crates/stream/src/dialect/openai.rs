//! Events of `/v1/chat/completions` and `/v1/completions`, as OpenAI and many servers have them.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use truetail_run::FinishReason;

use super::content::Content;
use super::finish::Finish;
use super::usage::ReadUsage;
use super::value_shape::ValueShape;
use crate::chunk::{Choices, Chunk, Usage};

/// Member of a choice that has the content.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Delta,
    Text,
}

pub(super) fn read(data: &[u8], place: Place) -> Option<Chunk> {
    let event: Event = serde_json::from_slice(data).ok()?;
    let choices = event.choices.as_ref();
    let counted =
        event.usage.0.or(choices.and_then(|choices| choices.usage)).or(event.x_groq.and_then(|groq| groq.usage.0));
    let usage = counted.or(event.timings.and_then(Timings::usage));
    let is_bare_error = choices.is_none() && usage.is_none() && event.message.is_filled && event.code.is_filled;
    let chunk = choices.map_or(Chunk::default(), |choices| choices.chunk(place));
    let is_error = event.error.is_filled || event.object.is_error || event.kind.is_error || is_bare_error;
    Some(Chunk { usage, is_error: chunk.is_error || is_error, ..chunk })
}

/// An event. Errors are `{"error": …}`; `{"object": "error", …}` in older versions of vLLM, `{"type": "error", …}` or
/// `{"code": …, "message": …}` in gateways.
#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    choices: Option<ChoiceList>,
    #[serde(default)]
    usage: ReadUsage,
    #[serde(default)]
    error: ValueShape,
    #[serde(default)]
    object: ValueShape,
    #[serde(default, rename = "type")]
    kind: ValueShape,
    #[serde(default)]
    code: ValueShape,
    #[serde(default)]
    message: ValueShape,
    #[serde(default)]
    x_groq: Option<Groq>,
    #[serde(default)]
    timings: Option<Timings>,
}

/// Groq sends its usage here.
#[derive(Clone, Copy, Deserialize)]
struct Groq {
    #[serde(default)]
    usage: ReadUsage,
}

/// Counts of llama.cpp.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Timings {
    predicted_n: ValueShape,
    prompt_n: ValueShape,
    cache_n: ValueShape,
}

impl Timings {
    /// Returns the counts. `prompt_n` leaves out the tokens that were cached.
    fn usage(self) -> Option<Usage> {
        let cached = self.cache_n.number;
        let input = self.prompt_n.number.map(|new| new.saturating_add(cached.unwrap_or(0)));
        Some(Usage { output: self.predicted_n.number?, reasoning: None, input, cached })
    }
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: ValueShape,
    #[serde(default)]
    text: Option<Content>,
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    message: ValueShape,
    #[serde(default)]
    finish_reason: Finish,
    #[serde(default)]
    error: ValueShape,
    /// Moonshot sends its usage here.
    #[serde(default)]
    usage: ReadUsage,
}

impl Choice {
    fn of_delta(&self) -> Delta {
        let elsewhere = self.text.is_some_and(Content::is_filled) || self.message.is_filled;
        self.delta.unwrap_or(Delta { is_unknown: elsewhere, ..Delta::default() })
    }

    fn of_text(&self) -> Delta {
        let elsewhere = self.delta.is_some_and(Delta::is_filled) || self.message.is_filled;
        let content = self.text.unwrap_or_default();
        Delta { content, is_unknown: self.text.is_none() && elsewhere }
    }
}

/// Content found in the choices.
#[derive(Default)]
struct ChoiceList {
    of_delta: Found,
    of_text: Found,
    choices: Choices,
    finished: Choices,
    finish: Option<FinishReason>,
    has_error: bool,
    has_far: bool,
    usage: Option<Usage>,
}

/// Content in one place of the choices.
#[derive(Clone, Copy, Default)]
struct Found {
    choices: Choices,
    kinds: Content,
    is_unknown: bool,
}

impl Found {
    fn add(&mut self, choice: Choices, delta: Delta) {
        if delta.content.is_filled() {
            self.choices = self.choices.and(choice);
            self.kinds = self.kinds.and(delta.content);
        } else {
            self.is_unknown |= delta.is_unknown;
        }
    }
}

impl ChoiceList {
    fn add(&mut self, choice: &Choice) {
        let Some(one) = Choices::one(choice.index.number.unwrap_or(0)) else {
            self.has_far = true;
            return;
        };
        self.choices = self.choices.and(one);
        self.of_delta.add(one, choice.of_delta());
        self.of_text.add(one, choice.of_text());
        if let Some(reason) = choice.finish_reason.0 {
            self.finished = self.finished.and(one);
            self.finish = Some(reason);
        }
        self.has_error |= choice.error.is_filled || choice.finish_reason.0 == Some(FinishReason::Error);
        self.usage = choice.usage.0.or(self.usage);
    }

    fn chunk(&self, place: Place) -> Chunk {
        let found = match place {
            Place::Delta => self.of_delta,
            Place::Text => self.of_text,
        };
        Chunk {
            content: found.choices,
            is_reasoning: found.kinds.reasoning && !found.kinds.answer,
            is_summary: found.kinds.summary,
            repeats_content: false,
            is_unknown: found.is_unknown || self.has_far,
            is_error: self.has_error,
            choices: self.choices,
            finished: self.finished,
            finish: self.finish,
            usage: None,
        }
    }
}

impl<'de> Deserialize<'de> for ChoiceList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ChoiceList, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = ChoiceList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of choices")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ChoiceList, A::Error> {
                let mut all = ChoiceList::default();
                while let Some(choice) = list.next_element::<Choice>()? {
                    all.add(&choice);
                }
                Ok(all)
            }
        }
        deserializer.deserialize_seq(Each)
    }
}

/// Content of a delta.
#[derive(Clone, Copy, Default)]
pub(super) struct Delta {
    pub(super) content: Content,
    /// A member with an unknown name has a value.
    pub(super) is_unknown: bool,
}

impl Delta {
    fn is_filled(self) -> bool {
        self.content.is_filled() || self.is_unknown
    }
}

impl<'de> Deserialize<'de> for Delta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Delta, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Delta;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a delta")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Delta, A::Error> {
                let mut delta = Delta::default();
                while let Some(member) = members.next_key::<Member>()? {
                    match member {
                        Member::Answer => delta.content = delta.content.and(members.next_value()?),
                        Member::Call => {
                            let is_filled = members.next_value::<ValueShape>()?.is_filled;
                            delta.content = delta.content.and(Content::answer_if(is_filled));
                        }
                        Member::Reasoning => {
                            delta.content = delta.content.and(members.next_value::<Content>()?.as_reasoning());
                        }
                        Member::Silent => drop(members.next_value::<IgnoredAny>()?),
                        Member::Unknown => delta.is_unknown |= members.next_value::<ValueShape>()?.is_filled,
                    }
                }
                Ok(delta)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Member of a delta, by its name. vLLM, OpenRouter, Ollama, LiteLLM, Copilot and others each have a name for
/// reasoning.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Member {
    Answer,
    Call,
    Reasoning,
    /// A member that is no content.
    Silent,
    Unknown,
}

impl Member {
    pub(crate) fn named(name: &str) -> Member {
        match name {
            "content" | "refusal" | "audio" | "images" => Member::Answer,
            "tool_calls" | "function_call" => Member::Call,
            "reasoning_content" | "reasoning" | "reasoning_text" | "reasoning_details" | "reasoning_summary"
            | "thinking" | "thinking_content" | "thinking_blocks" | "thought" | "thoughts" => Member::Reasoning,
            "role"
            | "name"
            | "id"
            | "index"
            | "type"
            | "phase"
            | "tool_call_id"
            | "annotations"
            | "citations"
            | "sources"
            | "search_results"
            | "logprobs"
            | "token_ids"
            | "hidden_states"
            | "stop_reason"
            | "finish_reason"
            | "obfuscation"
            | "padding"
            | "signature"
            | "reasoning_signature"
            | "reasoning_opaque"
            | "encrypted_content"
            | "provider_specific_fields"
            | "extra_content" => Member::Silent,
            _ => Member::Unknown,
        }
    }
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Member, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = Member;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member of a delta")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Member, E> {
                Ok(Member::named(name))
            }
        }
        deserializer.deserialize_identifier(Name)
    }
}
