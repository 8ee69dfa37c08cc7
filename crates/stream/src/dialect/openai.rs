//! Events and whole answers of `/v1/chat/completions` and `/v1/completions`, as OpenAI and many servers have them.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use truetail_run::FinishReason;

use super::content::Content;
use super::delta::Delta;
use super::finish::Finish;
use super::usage::ReadUsage;
use super::value_shape::ValueShape;
use crate::chunk::{Choices, Chunk, Usage};

/// Member of a choice that has the content.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Place {
    #[default]
    Delta,
    Text,
    /// The message or the text of an answer that comes whole.
    Message,
}

pub(super) fn read(text: &str, place: Place) -> Option<Chunk> {
    let choices = ChoiceList { place, ..ChoiceList::default() };
    let mut event = Event { choices, ..Event::default() };
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.deserialize_map(EventVisitor(&mut event)).ok()?;
    reader.end().ok()?;
    let counted = event.usage.or(event.choices.usage).or(event.groq).or(event.timings);
    let has_tokens = counted.is_some_and(|usage| usage.output > 0);
    let is_bare = !event.has_choices && !has_tokens && !event.is_success;
    let is_bare_error = is_bare && (event.has_failure || (event.has_message && event.has_code));
    let chunk = event.choices.chunk();
    Some(Chunk {
        usage: counted,
        is_error: chunk.is_error || event.is_error || is_bare_error,
        is_unknown: chunk.is_unknown || (is_bare && counted.is_none() && event.has_message),
        ..chunk
    })
}

/// An event, filled in as it is read. Errors are `{"error": …}`; `{"object": "error", …}` in older versions of vLLM,
/// `{"type": "error", …}` or `{"code": …, "message": …}` in gateways, `{"detail": …}` in FastAPI, `{"error_code": …}`
/// in FastChat, also beside an empty list of choices. A code of 0 or 200 means success. A message alone may be an
/// error.
#[derive(Default)]
struct Event {
    has_choices: bool,
    choices: ChoiceList,
    usage: Option<Usage>,
    groq: Option<Usage>,
    timings: Option<Usage>,
    is_error: bool,
    has_code: bool,
    /// A code says that nothing failed.
    is_success: bool,
    has_message: bool,
    /// A member that says what failed has a value.
    has_failure: bool,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum EventMember {
    Choices,
    Usage,
    Error,
    Object,
    Type,
    Code,
    Message,
    ErrorCode,
    #[serde(alias = "errors", alias = "error_message", alias = "error_msg")]
    Detail,
    Status,
    XGroq,
    BaseResp,
    Timings,
    #[serde(other)]
    Other,
}

struct EventVisitor<'a>(&'a mut Event);

impl<'de> Visitor<'de> for EventVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let event = self.0;
        while let Some(member) = members.next_key()? {
            match member {
                EventMember::Choices => event.has_choices |= members.next_value_seed(Choosing(&mut event.choices))?,
                EventMember::Usage => event.usage = members.next_value::<ReadUsage>()?.0,
                EventMember::Error => event.is_error |= members.next_value::<ValueShape>()?.is_filled,
                EventMember::Object | EventMember::Type | EventMember::Status => {
                    event.is_error |= members.next_value::<ValueShape>()?.is_error;
                }
                EventMember::Code => {
                    let code: ValueShape = members.next_value()?;
                    event.has_code = code.is_fault();
                    event.is_success |= code.is_success();
                }
                EventMember::ErrorCode => {
                    let code: ValueShape = members.next_value()?;
                    event.has_failure |= code.is_fault();
                    event.is_success |= code.is_success();
                }
                EventMember::Detail => event.has_failure |= members.next_value::<ValueShape>()?.is_fault(),
                EventMember::Message => event.has_message = members.next_value::<ValueShape>()?.is_filled,
                EventMember::XGroq => {
                    let groq = members.next_value::<Option<Groq>>()?.unwrap_or_default();
                    event.groq = groq.usage.0;
                    event.is_error |= groq.error.is_filled;
                }
                EventMember::BaseResp => {
                    let status = members.next_value::<Option<BaseResp>>()?.unwrap_or_default();
                    event.is_error |= status.status_code.is_fault();
                }
                EventMember::Timings => {
                    event.timings = members.next_value::<Option<Timings>>()?.and_then(Timings::usage);
                }
                EventMember::Other => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Groq sends its usage here, and the reason why it gave up an answer.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Groq {
    usage: ReadUsage,
    error: ValueShape,
}

/// MiniMax sends its errors here.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct BaseResp {
    status_code: ValueShape,
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

/// A choice, filled in as it is read.
#[derive(Default)]
struct Choice {
    index: u64,
    text: Option<Content>,
    delta: Option<Delta>,
    /// Reasoning beside the text or the delta.
    reasoning: Content,
    message: Option<Delta>,
    finish_reason: Option<FinishReason>,
    has_error: bool,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum ChoiceMember {
    Index,
    Text,
    Delta,
    #[serde(alias = "reasoning_content", alias = "reasoning_text", alias = "thinking")]
    Reasoning,
    Message,
    FinishReason,
    Error,
    /// Moonshot sends its usage here.
    Usage,
    #[serde(other)]
    Other,
}

impl Choice {
    fn has_message(&self) -> bool {
        self.message.is_some_and(Delta::is_filled)
    }

    fn of_message(&self) -> Delta {
        let message = self.message.unwrap_or_default();
        let content = message.content.and(self.text.unwrap_or_default()).and(self.reasoning);
        Delta { content, ..message }
    }

    fn of_delta(&self) -> Delta {
        let elsewhere = self.text.is_some_and(Content::is_filled) || self.has_message();
        let delta = self.delta.unwrap_or(Delta { is_unknown: elsewhere, ..Delta::default() });
        Delta { content: delta.content.and(self.reasoning), ..delta }
    }

    fn of_text(&self) -> Delta {
        let elsewhere = self.delta.is_some_and(Delta::is_filled) || self.has_message();
        let content = self.text.unwrap_or_default().and(self.reasoning);
        Delta { content, is_unknown: self.text.is_none() && elsewhere }
    }
}

impl<'de> DeserializeSeed<'de> for &mut Choice {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Choice {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a choice")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(member) = members.next_key()? {
            match member {
                ChoiceMember::Index => self.index = members.next_value::<ValueShape>()?.number.unwrap_or(0),
                ChoiceMember::Text => self.text = members.next_value()?,
                ChoiceMember::Delta => self.delta = members.next_value()?,
                ChoiceMember::Reasoning => {
                    self.reasoning = self.reasoning.and(members.next_value::<Content>()?.as_reasoning());
                }
                ChoiceMember::Message => self.message = members.next_value()?,
                ChoiceMember::FinishReason => self.finish_reason = members.next_value::<Finish>()?.0,
                ChoiceMember::Error => self.has_error = members.next_value::<ValueShape>()?.is_filled,
                ChoiceMember::Usage => self.usage = members.next_value::<ReadUsage>()?.0,
                ChoiceMember::Other => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Content found in the choices.
#[derive(Default)]
struct ChoiceList {
    /// Place that is read.
    place: Place,
    found: Found,
    choices: Choices,
    finished: Choices,
    finish: Option<FinishReason>,
    has_error: bool,
    has_far: bool,
    usage: Option<Usage>,
}

/// Content in the place of the choices that is read.
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
        let Some(one) = Choices::one(choice.index) else {
            self.has_far = true;
            return;
        };
        self.choices = self.choices.and(one);
        let delta = match self.place {
            Place::Delta => choice.of_delta(),
            Place::Text => choice.of_text(),
            Place::Message => choice.of_message(),
        };
        self.found.add(one, delta);
        if let Some(reason) = choice.finish_reason {
            self.finished = self.finished.and(one);
            self.finish = Some(reason);
        }
        self.has_error |= choice.has_error || choice.finish_reason == Some(FinishReason::Error);
        self.usage = choice.usage.or(self.usage);
    }

    fn chunk(&self) -> Chunk {
        let found = self.found;
        Chunk {
            content: found.choices,
            is_reasoning: found.kinds.reasoning && !found.kinds.answer,
            is_summary: found.kinds.summary,
            repeats_content: false,
            is_unknown: found.is_unknown || self.has_far,
            items: Choices::default(),
            is_error: self.has_error,
            choices: self.choices,
            finished: self.finished,
            finish: self.finish,
            usage: None,
            has_no_output_count: false,
        }
    }
}

/// Reads the list of choices. Returns true if it has one: some servers send errors beside an empty list.
struct Choosing<'a>(&'a mut ChoiceList);

impl<'de> DeserializeSeed<'de> for Choosing<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Choosing<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of choices")
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        let mut has_one = false;
        loop {
            let mut choice = Choice::default();
            if list.next_element_seed(&mut choice)?.is_none() {
                return Ok(has_one);
            }
            has_one = true;
            self.0.add(&choice);
        }
    }
}
