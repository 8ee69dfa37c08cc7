//! Events of Gemini's `:streamGenerateContent?alt=sse`.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use truetail_run::FinishReason;

use super::finish::Finish;
use super::value_shape::ValueShape;
use crate::chunk::{Choices, Chunk, Usage};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Event {
    candidates: Vec<Candidate>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Counts>,
    error: ValueShape,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Candidate {
    index: ValueShape,
    content: Option<Content>,
    finish_reason: Finish,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content {
    parts: Vec<Part>,
}

/// A part: a text, or a call, data, code and so on.
#[derive(Default)]
struct Part {
    has_text: bool,
    /// The text is reasoning.
    is_thought: bool,
    has_other: bool,
    /// A member with an unknown name has a value.
    is_unknown: bool,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum PartMember {
    Text,
    Thought,
    FunctionCall,
    InlineData,
    ExecutableCode,
    CodeExecutionResult,
    FileData,
    ThoughtSignature,
    VideoMetadata,
    MediaResolution,
    PartMetadata,
    FunctionResponse,
    #[serde(other)]
    Other,
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Part, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Part;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a part")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Part, A::Error> {
                let mut part = Part::default();
                while let Some(member) = members.next_key()? {
                    match member {
                        PartMember::Text => part.has_text = members.next_value::<ValueShape>()?.is_filled,
                        PartMember::Thought => part.is_thought = members.next_value::<ValueShape>()?.is_filled,
                        PartMember::FunctionCall
                        | PartMember::InlineData
                        | PartMember::ExecutableCode
                        | PartMember::CodeExecutionResult
                        | PartMember::FileData => part.has_other |= members.next_value::<ValueShape>()?.is_filled,
                        PartMember::ThoughtSignature
                        | PartMember::VideoMetadata
                        | PartMember::MediaResolution
                        | PartMember::PartMetadata
                        | PartMember::FunctionResponse => drop(members.next_value::<IgnoredAny>()?),
                        PartMember::Other => part.is_unknown |= members.next_value::<ValueShape>()?.is_filled,
                    }
                }
                Ok(part)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl Part {
    fn has_answer(&self) -> bool {
        (self.has_text && !self.is_thought) || self.has_other
    }

    fn has_reasoning(&self) -> bool {
        self.has_text && self.is_thought
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Feedback {
    block_reason: ValueShape,
}

/// Counts until now. Reasoning is beside the candidates.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Counts {
    prompt_token_count: ValueShape,
    candidates_token_count: ValueShape,
    thoughts_token_count: ValueShape,
    cached_content_token_count: ValueShape,
}

impl Counts {
    fn usage(self) -> Option<Usage> {
        let reasoning = self.thoughts_token_count.number;
        let output = self.candidates_token_count.number?.saturating_add(reasoning.unwrap_or(0));
        let input = self.prompt_token_count.number;
        Some(Usage { output, reasoning, input, cached: self.cached_content_token_count.number })
    }
}

pub(super) fn read(text: &str) -> Option<Chunk> {
    let event: Event = serde_json::from_str(text).ok()?;
    let mut chunk = Chunk { is_error: event.error.is_filled, ..Chunk::default() };
    let mut has_answer = false;
    for candidate in &event.candidates {
        let Some(one) = Choices::one(candidate.index.number.unwrap_or(0)) else {
            chunk.is_unknown = true;
            continue;
        };
        let parts = candidate.content.as_ref().map_or(&[][..], |content| &content.parts);
        let answer = parts.iter().any(Part::has_answer);
        // What the model sends of its thoughts is a summary.
        let reasoning = parts.iter().any(Part::has_reasoning);
        has_answer |= answer;
        chunk.is_unknown |= !answer && !reasoning && parts.iter().any(|part| part.is_unknown);
        chunk.is_summary |= reasoning;
        chunk.choices = chunk.choices.and(one);
        chunk.content = chunk.content.and(if answer || reasoning { one } else { Choices::default() });
        if let Some(reason) = candidate.finish_reason.0 {
            chunk.finished = chunk.finished.and(one);
            chunk.finish = Some(reason);
        }
    }
    chunk.is_reasoning = chunk.is_summary && !has_answer;
    if event.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_filled) {
        chunk.choices = Choices::first_if(true);
        chunk.finished = chunk.choices;
        chunk.finish = Some(FinishReason::ContentFilter);
    }
    chunk.usage = event.usage_metadata.and_then(Counts::usage);
    Some(chunk)
}
