//! Text of an answer of a language model, and of one of its events, for a tokenizer.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem;

use serde::Deserialize;
use serde_json::Value;
use truetail_run::LlmApi;

use crate::dialect::Member;

/// Limit on the bytes that are kept of one answer.
const MAX_BYTES: usize = 1 << 20;

/// Text of an unfinished answer.
#[derive(Default, Debug)]
pub(crate) struct AnswerText {
    text: String,
    /// The answer has content that is not text or cannot be read, or it is too long. No text is kept then.
    has_others: bool,
}

impl AnswerText {
    /// Starts another answer.
    pub(crate) fn restart(&mut self) {
        self.text.clear();
        self.has_others = false;
    }

    /// Gives up the text, because an event with content cannot be read.
    pub(crate) fn give_up(&mut self) {
        (self.text, self.has_others) = (String::new(), true);
    }

    pub(crate) fn event(&mut self, api: LlmApi, data: &[u8]) {
        if !self.has_others && (!add_text(api, data, &mut self.text) || self.text.len() > MAX_BYTES) {
            self.give_up();
        }
    }

    /// Takes the text of an answer that has ended. Returns `None` if the text is incomplete.
    pub(crate) fn take(&mut self) -> Option<String> {
        let mut text = mem::take(&mut self.text);
        text.shrink_to_fit();
        Some(text).filter(|_| !self.has_others)
    }
}

/// Adds the text of an event's content to `text`, including reasoning. Returns true if the content is only text of one
/// choice. A tool call cannot be counted, because its form in tokens depends on the model. Only OpenAI's older formats
/// are read.
///
/// `data` is of an event that [`read_chunk`](crate::read_chunk) can read.
fn add_text(api: LlmApi, data: &[u8], text: &mut String) -> bool {
    if !matches!(api, LlmApi::OpenaiChat | LlmApi::OpenaiCompletions) {
        return false;
    }
    let Ok(event) = serde_json::from_slice::<Event<'_>>(data) else { return false };
    match event.choices.unwrap_or_default().as_slice() {
        [] => true,
        // Nothing tells whether a model writes it before the text or after it.
        [choice] if choice.reasoning.as_ref().is_some_and(Part::is_filled) => false,
        [choice] if api == LlmApi::OpenaiCompletions => {
            choice.text.as_ref().is_none_or(|part| !part.is_filled() || part.add_to(text))
        }
        [choice] => choice.delta.as_ref().is_none_or(|delta| delta.add_to(text)),
        _ => false,
    }
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(default, borrow)]
    choices: Option<Vec<Choice<'a>>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default, borrow)]
    text: Option<Part<'a>>,
    #[serde(default, borrow)]
    delta: Option<Delta<'a>>,
    #[serde(default, borrow, alias = "reasoning_content", alias = "reasoning_text", alias = "thinking")]
    reasoning: Option<Part<'a>>,
}

/// The members of a delta by name.
#[derive(Deserialize)]
struct Delta<'a>(#[serde(borrow)] BTreeMap<Cow<'a, str>, Part<'a>>);

impl Delta<'_> {
    /// Adds the reasoning, then the answer.
    fn add_to(&self, text: &mut String) -> bool {
        let filled = || self.0.iter().filter(|(_, part)| part.is_filled());
        let of = |wanted: Member| filled().filter(move |(name, _)| Member::named(name) == wanted).map(|(_, part)| part);
        // Some servers send reasoning under several names, also as text and as a list of parts.
        let mut reasoning = of(Member::Reasoning).filter(|part| matches!(part, Part::Text(_)));
        let one = reasoning.next().or_else(|| of(Member::Reasoning).next());
        let is_one = reasoning.all(|other| Some(other) == one);
        let has_others = of(Member::Call).chain(of(Member::Unknown)).next().is_some();
        one.into_iter().chain(of(Member::Answer)).all(|part| part.add_to(text)) && is_one && !has_others
    }
}

/// A text, or another value in its place.
#[derive(PartialEq, Deserialize)]
#[serde(untagged)]
enum Part<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Other(Value),
}

impl Part<'_> {
    fn is_filled(&self) -> bool {
        match self {
            Part::Text(text) => !text.is_empty(),
            Part::Other(other) => is_filled(other),
        }
    }

    fn add_to(&self, text: &mut String) -> bool {
        match self {
            Part::Text(part) => {
                text.push_str(part);
                true
            }
            Part::Other(_) => false,
        }
    }
}

fn is_filled(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect_text(api: LlmApi, data: &str) -> (String, bool) {
        let mut text = "so ".to_owned();
        let is_all = add_text(api, data.as_bytes(), &mut text);
        (text, is_all)
    }

    #[test]
    fn the_text_is_what_the_model_said_and_thought() {
        for (data, text, is_all) in [
            (r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#, "so ", true),
            (r#"{"choices":[{"delta":{"content":"f\u00e4r\n"}}],"usage":null}"#, "so fär\n", true),
            (r#"{"choices":[{"delta":{"content":null,"reasoning_content":"hm"}}]}"#, "so hm", true),
            (r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}"#, "so hm", true),
            (r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":""}}]}"#, "so hm", true),
            (r#"{"choices":[{"delta":{"content":"a","refusal":"b","tool_calls":[]}}]}"#, "so ab", true),
            (r#"{"choices":[{"delta":{"content":"","thinking":"hm","role":"assistant"}}]}"#, "so hm", true),
            (r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_details":[{"text":"hm"}]}}]}"#, "so hm", true),
            (r#"{"choices":[],"usage":{"completion_tokens":3}}"#, "so ", true),
            (r#"{"usage":{"completion_tokens":3}}"#, "so ", true),
            // Content that cannot be counted.
            (r#"{"choices":[{"delta":{"reasoning":"ha","reasoning_content":"hm"}}]}"#, "so ha", false),
            (r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{}"}}]}}]}"#, "so ", false),
            (r#"{"choices":[{"delta":{"content":{"parts":["a"]}}}]}"#, "so ", false),
            (r#"{"choices":[{"delta":{"reasoning_details":[{"text":"hm"}]}}]}"#, "so ", false),
            (r#"{"choices":[{"delta":{"content":"a","monologue":"hm"}}]}"#, "so a", false),
            (r#"{"choices":[{"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}"#, "so ", false),
        ] {
            assert_eq!(collect_text(LlmApi::OpenaiChat, data), (text.to_owned(), is_all), "{data}");
        }
        let mut answer = AnswerText::default();
        let event = format!(r#"{{"choices":[{{"text":"{}"}}]}}"#, "x".repeat(60_000));
        (0..17).for_each(|_| answer.event(LlmApi::OpenaiCompletions, event.as_bytes()));
        assert_eq!(answer.take().map(|text| text.len()), Some(17 * 60_000));
        (0..18).for_each(|_| answer.event(LlmApi::OpenaiCompletions, event.as_bytes()));
        assert_eq!(answer.take(), None, "more than a MiB");
        let completion = r#"{"choices":[{"index":0,"text":"far"}]}"#;
        assert_eq!(collect_text(LlmApi::OpenaiCompletions, completion), ("so far".to_owned(), true));
        let beside = r#"{"choices":[{"index":0,"text":"","reasoning":"hm"}]}"#;
        assert_eq!(collect_text(LlmApi::OpenaiCompletions, beside), ("so ".to_owned(), false));
    }
}
