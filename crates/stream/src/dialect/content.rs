//! Content that is a text or a list of typed parts.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::value_shape::ValueShape;

/// Kinds of content in a value.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Content {
    pub(super) answer: bool,
    pub(super) reasoning: bool,
    /// A summary of reasoning.
    pub(super) summary: bool,
}

impl Content {
    pub(super) fn and(self, other: Content) -> Content {
        Content {
            answer: self.answer || other.answer,
            reasoning: self.reasoning || other.reasoning,
            summary: self.summary || other.summary,
        }
    }

    /// The same content as reasoning.
    pub(super) fn as_reasoning(self) -> Content {
        Content { answer: false, reasoning: self.answer || self.reasoning, summary: self.summary }
    }

    pub(super) fn is_filled(self) -> bool {
        self.answer || self.reasoning
    }

    pub(super) fn answer_if(answer: bool) -> Content {
        Content { answer, ..Content::default() }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content")
    }

    fn visit_unit<E: Error>(self) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Content, E> {
        Ok(Content::answer_if(value))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Content, E> {
        Ok(Content::answer_if(true))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Content, E> {
        Ok(Content::answer_if(true))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Content, E> {
        Ok(Content::answer_if(true))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
        Ok(Content::answer_if(!text.is_empty()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content, A::Error> {
        let mut all = Content::default();
        while let Some(part) = list.next_element::<Content>()? {
            all = all.and(part);
        }
        Ok(all)
    }

    /// Reads a part, such as `{"type": "text", "text": "a"}`.
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Content, A::Error> {
        let mut kind = Kind::Answer;
        let mut text = Content::default();
        let mut is_other_filled = false;
        while let Some(member) = fields.next_key::<Member>()? {
            match member {
                Member::Type => kind = fields.next_value()?,
                Member::Text => text = text.and(fields.next_value()?),
                Member::Reasoning => text = text.and(fields.next_value::<Content>()?.as_reasoning()),
                Member::Label => drop(fields.next_value::<IgnoredAny>()?),
                Member::Other => is_other_filled |= fields.next_value::<ValueShape>()?.is_filled,
            }
        }
        Ok(match kind {
            Kind::Hidden => Content::default(),
            Kind::Reasoning => text.as_reasoning(),
            Kind::Summary => Content { summary: text.is_filled(), ..text.as_reasoning() },
            Kind::Text => text,
            Kind::Answer => text.and(Content::answer_if(is_other_filled)),
        })
    }
}

/// Kind of a part, by its type.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Reasoning,
    Summary,
    /// Data that no user reads, such as encrypted reasoning.
    Hidden,
    /// An image, a reference, or a type that is not known: whatever it has is part of the answer.
    Answer,
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
        struct KindVisitor;
        impl<'de> Visitor<'de> for KindVisitor {
            type Value = Kind;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the type of a part")
            }

            fn visit_unit<E: Error>(self) -> Result<Kind, E> {
                Ok(Kind::Answer)
            }

            fn visit_str<E: Error>(self, kind: &str) -> Result<Kind, E> {
                let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
                Ok(match kind {
                    "text" | "output_text" | "refusal" => Kind::Text,
                    _ if has(&["encrypted", "redacted", "signature"]) => Kind::Hidden,
                    _ if has(&["summary"]) => Kind::Summary,
                    _ if has(&["reasoning", "thinking", "thought"]) => Kind::Reasoning,
                    _ => Kind::Answer,
                })
            }
        }
        deserializer.deserialize_any(KindVisitor)
    }
}

/// Member of a part.
enum Member {
    Type,
    Text,
    Reasoning,
    /// Says something about the part.
    Label,
    Other,
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Member, D::Error> {
        struct MemberVisitor;
        impl Visitor<'_> for MemberVisitor {
            type Value = Member;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member of a part")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Member, E> {
                Ok(match name {
                    "type" => Member::Type,
                    "text" | "refusal" | "transcript" | "data" => Member::Text,
                    "thinking" | "reasoning" | "summary" => Member::Reasoning,
                    "id" | "index" | "format" | "signature" | "expires_at" | "annotations" | "citations" | "closed" => {
                        Member::Label
                    }
                    _ => Member::Other,
                })
            }
        }
        deserializer.deserialize_identifier(MemberVisitor)
    }
}
