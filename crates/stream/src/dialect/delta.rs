//! Content of a delta of a chat, or of its message.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::content::Content;
use super::value_shape::ValueShape;

/// Content of a delta.
#[derive(Clone, Copy, Default)]
pub(super) struct Delta {
    pub(super) content: Content,
    /// A member with an unknown name has a value.
    pub(super) is_unknown: bool,
}

impl Delta {
    pub(super) fn is_filled(self) -> bool {
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
            | "context"
            | "end_turn"
            | "logprobs"
            | "token_id"
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
