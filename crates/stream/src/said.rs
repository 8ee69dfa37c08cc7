//! Text that a language model said in a streamed answer: its pieces joined as a client joins them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::dialect::repaired;
use crate::event_parser::{EventParser, ServerSentEvent};
use crate::line_parser::LineParser;

/// Type of an item or a part that calls a tool.
const CALLS: [&str; 2] = ["function_call", "custom_tool_call"];
const OF_A_CALL: &str = "it calls a tool, which has no text";
const NOT_READ: &str = "an event of it is not JSON of a language model that is known";

/// Returns the text of a streamed answer in any of the APIs that truetail knows, told by the form of its events. Pieces
/// of the first choice are joined as they were sent. Reasoning is left out.
///
/// A half of a surrogate pair joins with the other half in the next piece. Other halves of characters are U+FFFD, as in
/// browsers.
///
/// # Errors
/// There is no text that could be said again: the answer has an error, calls a tool, has an event that cannot be read,
/// or has no text at all.
pub fn said_text(body: &[u8], is_lines: bool) -> Result<String, String> {
    let mut reader = SaidReader::new(is_lines);
    reader.feed(body);
    reader.finish()
}

/// Reads the text of a streamed answer like [`said_text`], while the answer comes. It keeps the text, of at most
/// [`MAX_SAID_BYTES`], and nothing else of the answer.
#[derive(Debug)]
pub struct SaidReader {
    parser: SaidParser,
    said: Said,
    problem: Option<&'static str>,
}

/// Limit on the text that is kept of an answer, in JSON.
pub const MAX_SAID_BYTES: usize = 1 << 20;

#[derive(Debug)]
enum SaidParser {
    Events(EventParser),
    Lines(LineParser),
}

impl SaidReader {
    /// Creates a reader of an answer whose events are server-sent events, or lines.
    pub fn new(is_lines: bool) -> SaidReader {
        let parser = match is_lines {
            true => SaidParser::Lines(LineParser::default()),
            false => SaidParser::Events(EventParser::new()),
        };
        SaidReader { parser, said: Said::default(), problem: None }
    }

    /// Reads the next part of the body.
    pub fn feed(&mut self, part: &[u8]) {
        let SaidReader { parser, said, problem } = self;
        let mut add = |event: ServerSentEvent<'_>| {
            if problem.is_none() {
                *problem = said.event(event).err();
            }
        };
        match parser {
            SaidParser::Events(parser) => parser.feed(part, &mut add),
            SaidParser::Lines(parser) => parser.feed(part, &mut add),
        }
    }

    /// Returns the text, once the whole body was read.
    ///
    /// # Errors
    /// As [`said_text`].
    pub fn finish(mut self) -> Result<String, String> {
        // The last line may have no end.
        if let SaidParser::Lines(_) = self.parser {
            self.feed(b"\n");
        }
        match self.problem {
            Some(problem) => Err(problem.to_owned()),
            None => self.said.text(),
        }
    }
}

/// The pieces of an answer until now.
#[derive(Default, Debug)]
struct Said {
    /// Between the quotes of a JSON string, with its escapes.
    escaped: String,
    is_over: bool,
}

/// Events of OpenAI Responses that repeat the request, or what deltas had.
const REPEATING: [&[u8]; 7] = [
    b"response.created",
    b"response.queued",
    b"response.in_progress",
    b"response.output_text.done",
    b"response.content_part.done",
    b"response.output_item.done",
    b"response.completed",
];

/// Returns true if an event whose beginning is `data` repeats others. Its type comes first.
fn repeats_others(data: &[u8]) -> bool {
    fn after<'a>(rest: Option<&'a [u8]>, what: &[u8]) -> Option<&'a [u8]> {
        rest?.trim_ascii_start().strip_prefix(what)
    }
    let kind = [&b"{"[..], b"\"type\"", b":", b"\""].into_iter().fold(Some(data), after);
    let is =
        |known: &&[u8]| kind.and_then(|kind| kind.strip_prefix(*known)).is_some_and(|rest| rest.starts_with(b"\""));
    REPEATING.iter().any(is)
}

type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;
type Added = Result<(), &'static str>;

impl Said {
    fn event(&mut self, event: ServerSentEvent<'_>) -> Added {
        if event.is_error {
            return Err("it has an error event");
        }
        let data = event.data.trim_ascii();
        self.is_over |= data == b"[DONE]";
        if self.is_over || data.is_empty() {
            return Ok(());
        }
        if !event.is_whole() {
            return if repeats_others(data) { Ok(()) } else { Err("an event of it has more than 64 KiB") };
        }
        let data = String::from_utf8_lossy(data);
        let event = members(&data).ok_or(NOT_READ)?;
        if event.get("error").is_some_and(|error| is_filled(error)) {
            return Err("it has an error event");
        }
        match event.get("type").and_then(|kind| text(kind)).as_deref() {
            Some(kind) => self.typed(kind, &event),
            None => self.untyped(&event),
        }
    }

    /// Adds a piece of OpenAI Responses, or of Anthropic.
    fn typed(&mut self, kind: &str, event: &Members<'_>) -> Added {
        let kind_of = |name: &str| {
            let inner = event.get(name).and_then(|inner| members(inner.get()))?;
            Some(inner.get("type").and_then(|kind| text(kind))?.into_owned())
        };
        match kind {
            "error" | "response.failed" => Err("it has an error event"),
            "response.output_text.delta" => self.add(event.get("delta")),
            "content_block_delta" => match (kind_of("delta").as_deref(), event.get("delta")) {
                (Some("text_delta"), Some(delta)) => self.add(members(delta.get()).ok_or(NOT_READ)?.get("text")),
                (Some("input_json_delta"), _) => Err(OF_A_CALL),
                _ => Ok(()),
            },
            "content_block_start" if kind_of("content_block").is_some_and(|kind| kind == "tool_use") => Err(OF_A_CALL),
            "response.output_item.added" if kind_of("item").is_some_and(|kind| CALLS.contains(&&*kind)) => {
                Err(OF_A_CALL)
            }
            _ => Ok(()),
        }
    }

    fn untyped(&mut self, event: &Members<'_>) -> Added {
        if let Some(choices) = event.get("choices") {
            return self.choices(choices);
        }
        if let Some(message) = event.get("message").and_then(|message| members(message.get())) {
            return self.delta(&message);
        }
        if let Some(candidates) = event.get("candidates") {
            return self.candidates(candidates);
        }
        if let Some(token) = event.get("token").and_then(|token| members(token.get())) {
            let is_special = token.get("special").is_some_and(|special| is_filled(special));
            return if is_special { Ok(()) } else { self.add(token.get("text")) };
        }
        // SGLang sends all text until now.
        if event.contains_key("meta_info") {
            self.escaped.clear();
            return self.add(event.get("text"));
        }
        // Ollama's `/api/generate`, and llama.cpp.
        self.add(event.get("response").or_else(|| event.get("content")))
    }

    fn choices(&mut self, choices: &RawValue) -> Added {
        for choice in list(choices) {
            let choice = members(choice.get()).ok_or(NOT_READ)?;
            let is_first = choice.get("index").is_none_or(|index| matches!(index.get(), "0" | "null"));
            match choice.get("delta").and_then(|delta| members(delta.get())) {
                Some(delta) if is_first => self.delta(&delta)?,
                None if is_first => self.add(choice.get("text"))?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds the content of a delta, which is a text or a list of parts.
    fn delta(&mut self, delta: &Members<'_>) -> Added {
        let calls = ["tool_calls", "function_call"].iter().filter_map(|name| delta.get(*name));
        if calls.into_iter().any(|call| is_filled(call)) {
            return Err(OF_A_CALL);
        }
        let Some(content) = delta.get("content") else { return Ok(()) };
        for part in list(content) {
            let part = members(part.get()).ok_or(NOT_READ)?;
            let is_text = part.get("type").and_then(|kind| text(kind)).is_some_and(|kind| kind == "text");
            self.add(part.get("text").filter(|_| is_text))?;
        }
        if content.get().starts_with('[') { Ok(()) } else { self.add(Some(content)) }
    }

    fn candidates(&mut self, candidates: &RawValue) -> Added {
        let Some(first) = list(candidates).first().and_then(|first| members(first.get())) else { return Ok(()) };
        let Some(content) = first.get("content").and_then(|content| members(content.get())) else { return Ok(()) };
        for part in content.get("parts").map_or(Vec::new(), |parts| list(parts)) {
            let part = members(part.get()).ok_or(NOT_READ)?;
            if part.get("functionCall").is_some_and(|call| is_filled(call)) {
                return Err(OF_A_CALL);
            }
            let is_thought = part.get("thought").is_some_and(|thought| is_filled(thought));
            self.add(part.get("text").filter(|_| !is_thought))?;
        }
        Ok(())
    }

    /// Adds a text, unless the value is null.
    fn add(&mut self, value: Option<&&RawValue>) -> Added {
        let Some(value) = value.map(|value| value.get()).filter(|value| *value != "null") else { return Ok(()) };
        let inside = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or(NOT_READ)?;
        if self.escaped.len() + inside.len() > MAX_SAID_BYTES {
            return Err("its text has more than 1 MiB");
        }
        self.escaped.push_str(inside);
        Ok(())
    }

    fn text(self) -> Result<String, String> {
        if self.escaped.is_empty() {
            return Err("it has no text".to_owned());
        }
        let quoted = format!("\"{}\"", self.escaped).into_bytes();
        let quoted = repaired(&quoted, true).unwrap_or(quoted);
        serde_json::from_slice(&quoted).map_err(|_| NOT_READ.to_owned())
    }
}

fn members(text: &str) -> Option<Members<'_>> {
    serde_json::from_str(text).ok()
}

/// Returns the items of a list; none of another value.
fn list(value: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(value.get()).unwrap_or_default()
}

fn text(value: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str(value.get()).ok()
}

fn is_filled(value: &RawValue) -> bool {
    !matches!(value.get(), "null" | "false" | "\"\"" | "[]" | "{}" | "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sse(events: &[&str]) -> Result<String, String> {
        let body: String = events.iter().map(|data| format!("data: {data}\n\n")).collect();
        said_text(body.as_bytes(), false)
    }

    fn chat(contents: &[&str]) -> Result<String, String> {
        let events: Vec<String> = contents
            .iter()
            .map(|content| format!(r#"{{"choices":[{{"index":0,"delta":{{"content":{content}}}}}]}}"#))
            .collect();
        let events: Vec<&str> = events.iter().map(String::as_str).chain(["[DONE]"]).collect();
        sse(&events)
    }

    #[test]
    fn pieces_are_joined_as_a_client_joins_them() {
        for (contents, text) in [
            (&["\"a \"", "null", "\"b\""][..], "a b"),
            (&[r#""say \"hi\" \\ \/ \n\t\u0000\u001f""#], "say \"hi\" \\ / \n\t\0\u{1f}"),
            (&["\"\u{2028}\u{1f98a}\u{e9}\""], "\u{2028}\u{1f98a}\u{e9}"),
            (&[r#""\ud83e\udd8a""#], "\u{1f98a}"),
            // Halves in two pieces are a pair.
            (&[r#""a\ud83e""#, r#""\udd8ab""#], "a\u{1f98a}b"),
            (&[r#""a\ud83e""#, "\"b\"", r#""\udd8a""#], "a\u{fffd}b\u{fffd}"),
            (&[r#""\\ud83e""#], "\\ud83e"),
            (
                &[
                    r#"[{"type":"thinking","thinking":[]},{"type":"text","text":"a"}]"#,
                    r#"[{"type":"text","text":"b"}]"#,
                ],
                "ab",
            ),
        ] {
            assert_eq!(chat(contents).as_deref(), Ok(text), "{contents:?}");
        }
        let raw = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xF0\x9F\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\xA6\x8A\"}}]}\n\n";
        assert_eq!(
            said_text(raw, false).as_deref(),
            Ok("a\u{fffd}\u{fffd}\u{fffd}"),
            "as a browser reads halves of UTF-8"
        );
    }

    #[test]
    fn each_api_has_its_text_and_reasoning_is_left_out() {
        for (events, text) in [
            (
                &[
                    r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":"hm"}}]}"#,
                    r#"{"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"a"}}]}"#,
                    r#"{"choices":[],"usage":{"completion_tokens":2}}"#,
                    "[DONE]",
                    r#"{"cost":1}"#,
                ][..],
                "a",
            ),
            (&[r#"{"choices":[{"text":"a","finish_reason":null}]}"#, r#"{"choices":[{"index":0,"text":"b"}]}"#], "ab"),
            (
                &[
                    r#"{"type":"response.reasoning_text.delta","delta":"hm"}"#,
                    r#"{"type":"response.output_text.delta","delta":"a"}"#,
                    r#"{"type":"response.output_text.done","text":"a"}"#,
                ],
                "a",
            ),
            (
                &[
                    r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}"#,
                    r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#,
                    r#"{"type":"message_stop"}"#,
                ],
                "a",
            ),
            (&[r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"a"}]}}]}"#], "a"),
            (
                &[
                    r#"{"token":{"text":"a","special":false}}"#,
                    r#"{"token":{"text":"</s>","special":true},"generated_text":"a"}"#,
                ],
                "a",
            ),
            (&[r#"{"content":"a","stop":false}"#, r#"{"content":"","stop":true}"#], "a"),
            (&[r#"{"text":"a","meta_info":{}}"#, r#"{"text":"ab","meta_info":{}}"#], "ab"),
        ] {
            assert_eq!(sse(events).as_deref(), Ok(text), "{events:?}");
        }
        let lines =
            b"{\"message\":{\"content\":\"a\",\"thinking\":\"hm\"}}\n{\"message\":{\"content\":\"b\"},\"done\":true}";
        assert_eq!(said_text(lines, true).as_deref(), Ok("ab"));
        assert_eq!(said_text(b"{\"response\":\"a\"}\n{\"done\":true}\n", true).as_deref(), Ok("a"));
    }

    #[test]
    fn an_answer_without_a_text_to_say_again_is_refused() {
        let long = format!(r#"{{"choices":[{{"delta":{{"content":"{}"}}}}]}}"#, "x".repeat(70_000));
        for (events, problem) in [
            (&[r#"{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}"#][..], OF_A_CALL),
            (&[r#"{"type":"content_block_start","content_block":{"type":"tool_use"}}"#], OF_A_CALL),
            (
                &[r#"{"choices":[{"delta":{"content":"a"}}]}"#, r#"{"error":{"message":"boom"}}"#],
                "it has an error event",
            ),
            (&[r#"{"choices":[{"delta":{"content":""}}]}"#], "it has no text"),
            (&["Internal Server Error"], NOT_READ),
            (&[&long], "an event of it has more than 64 KiB"),
            (
                &[&format!(r#"{{"type":"response.output_text.delta","delta":"{}"}}"#, "x".repeat(70_000))],
                "an event of it has more than 64 KiB",
            ),
            (&[], "it has no text"),
        ] {
            assert_eq!(sse(events), Err(problem.to_owned()), "{events:?}");
        }
        // What others said is not read again, however long it is.
        let repeated = format!(r#"{{ "type": "response.completed","response":"{}"}}"#, "x".repeat(70_000));
        let delta = r#"{"type":"response.output_text.delta","delta":"a"}"#;
        assert_eq!(sse(&[delta, &repeated]).as_deref(), Ok("a"));
        let named = b"event: error\ndata: boom\n\n";
        assert_eq!(said_text(named, false), Err("it has an error event".to_owned()));
    }
}
