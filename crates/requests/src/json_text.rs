//! JSON bodies as users write them. With placeholders they become JSON only when a row fills them in: `{"n": {{n}}}`.

use crate::placeholder::placeholders;

/// Position of the next byte in a JSON text.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct JsonPosition {
    is_in_text: bool,
    after_backslash: bool,
    depth: usize,
}

impl JsonPosition {
    pub(crate) fn is_in_text(self) -> bool {
        self.is_in_text
    }

    pub(crate) fn pass(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.step(*byte));
    }

    fn step(&mut self, byte: u8) {
        match (self.is_in_text, byte) {
            (true, _) if self.after_backslash => self.after_backslash = false,
            (true, b'\\') => self.after_backslash = true,
            (_, b'"') => self.is_in_text = !self.is_in_text,
            (false, b'{' | b'[') => self.depth += 1,
            (false, b'}' | b']') => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// Appends a text to `out` in the form that it has between the quotes of a JSON string.
pub(crate) fn escape(text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    serde_json::to_writer(&mut *out, text).expect("every text has a JSON form, and memory takes it");
    out.remove(start);
    out.pop();
}

/// Adds members (name, JSON value) to the body of a request, unless the body has members of these names. A body that
/// consists of one placeholder is not changed, because its rows supply all of it.
///
/// # Errors
/// The body is not a JSON object.
pub fn with_json_members(body: &[u8], members: &[(&str, &str)]) -> Result<Vec<u8>, String> {
    let text = body.trim_ascii();
    let first = placeholders(text).next();
    if first.as_ref().is_some_and(|found| (found.start, found.end) == (0, text.len())) {
        return Ok(body.to_vec());
    }
    let is_object = text.first() == Some(&b'{') && text.last() == Some(&b'}') && text.len() > 1;
    if !is_object || first.is_some_and(|found| found.start == 0) {
        let problem = if text.is_empty() { "there is no body; it must be a" } else { "the body is no" };
        return Err(format!("{problem} JSON object, such as '{{\"model\": \"m\", …}}'"));
    }
    let there = members_of(text);
    let is_there = |name: &str| there.iter().any(|(there, _)| *there == name.as_bytes());
    let missing = members.iter().filter(|(name, _)| !is_there(name));
    let missing: Vec<String> = missing.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    let is_empty = text[1..text.len() - 1].trim_ascii().is_empty();
    let between = if missing.is_empty() || is_empty { "" } else { "," };
    Ok([b"{", missing.join(",").as_bytes(), between.as_bytes(), &text[1..]].concat())
}

/// Members whose texts are prompts, and members whose texts a server puts in front of them.
const PROMPT_MEMBERS: [&[&[u8]]; 2] = [
    &[b"content", b"prompt", b"input", b"inputs", b"text"],
    &[b"system", b"instructions", b"systemInstruction", b"system_instruction"],
];

/// Number of the system prompts in [`PROMPT_MEMBERS`].
const SYSTEM: usize = 1;

/// Members whose values hold no prompt.
const OTHER_MEMBERS: [&[u8]; 3] = [b"metadata", b"prediction", b"tools"];

/// The next text in a body, if it is the value of a member with this number in [`PROMPT_MEMBERS`].
#[derive(Clone, Copy)]
enum Expected {
    NoPrompt,
    Value(usize),
    /// An item of a list of prompts.
    Item(usize),
}

/// The value of a member, with all that it holds: the depth of the member, inside of its value.
#[derive(Clone, Copy, Default)]
struct Inside(Option<usize>);

impl Inside {
    fn is_inside(self) -> bool {
        self.0.is_some()
    }

    /// Begins at the colon of a member at `depth`.
    fn enter(&mut self, depth: usize) {
        self.0.get_or_insert(depth);
    }

    /// Ends at a `byte` outside of texts, if it ends the member. `depth` is the one after it.
    fn pass(&mut self, byte: u8, depth: usize) {
        self.0 = self.0.filter(|member| depth > *member || (depth == *member && byte != b','));
    }
}

/// Puts `prefix`, which needs no escapes, in front of the first prompt in the body of a request to a language model,
/// and in front of the first text of a system prompt beside it. If the prompt is a list of texts, each of them gets it.
///
/// # Errors
/// There is no prompt in the body, or a row is the whole system prompt.
pub(crate) fn with_prompt_prefix(body: &[u8], prefix: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(body.len() + 2 * prefix.len());
    let mut position = JsonPosition::default();
    let mut ahead = placeholders(body).peekable();
    let mut begin = 0;
    let mut last: &[u8] = b"";
    let mut expected = Expected::NoPrompt;
    let mut found = [false; PROMPT_MEMBERS.len()];
    let mut system = Inside::default();
    let mut other = Inside::default();
    let mut has_system_of_row = false;
    let mut at = 0;
    while at < body.len() {
        if let Some(placeholder) = ahead.next_if(|placeholder| placeholder.start == at) {
            has_system_of_row |= system.is_inside() && !position.is_in_text;
            out.extend_from_slice(&body[at..placeholder.end]);
            at = placeholder.end;
            continue;
        }
        let was_in_text = position.is_in_text;
        position.step(body[at]);
        out.push(body[at]);
        if !was_in_text {
            system.pass(body[at], position.depth);
            other.pass(body[at], position.depth);
        }
        expected = match (was_in_text, position.is_in_text, body[at], expected) {
            (false, true, _, expected) => {
                begin = at + 1;
                if let Expected::Value(member) | Expected::Item(member) = expected {
                    out.extend_from_slice(prefix.as_bytes());
                    found[member] = true;
                }
                if let Expected::Item(_) = expected { expected } else { Expected::NoPrompt }
            }
            (true, false, _, expected) => {
                last = &body[begin..at];
                expected
            }
            (false, false, b':', _) => {
                let member = PROMPT_MEMBERS.iter().position(|names| names.contains(&last));
                if member == Some(SYSTEM) {
                    system.enter(position.depth);
                }
                if OTHER_MEMBERS.contains(&last) {
                    other.enter(position.depth);
                }
                let member = member.map(|member| if system.is_inside() { SYSTEM } else { member });
                let next = member.filter(|member| !other.is_inside() && !found[*member]);
                next.map_or(Expected::NoPrompt, Expected::Value)
            }
            (false, false, b'[', Expected::Value(member)) => Expected::Item(member),
            (false, false, b',', Expected::Item(member)) => Expected::Item(member),
            (false, false, byte, expected) if byte.is_ascii_whitespace() => expected,
            (false, false, ..) => Expected::NoPrompt,
            (true, true, _, expected) => expected,
        };
        at += 1;
    }
    if has_system_of_row && !found[SYSTEM] {
        return Err("a row that is the whole system prompt stays as it is, and a server puts it in front of all prompts; write it \
                    as a text, such as {\"system\": \"{{system}}\"}"
            .to_owned());
    }
    if found.contains(&true) {
        return Ok(out);
    }
    Err("there is no prompt in the body, such as {\"prompt\": \"{{prompt}}\"}; a row that is the whole body or all messages \
         stays as it is"
        .to_owned())
}

/// Returns the names of the members of an object, each with the text that begins with its value. Names with escapes or
/// placeholders are left out.
pub(crate) fn members_of(text: &[u8]) -> Vec<(&[u8], &[u8])> {
    let mut members = Vec::new();
    let mut position = JsonPosition::default();
    let mut begin = 0;
    let mut last = None;
    let mut at = 0;
    let mut ahead = placeholders(text).peekable();
    while at < text.len() {
        if let Some(found) = ahead.next_if(|found| found.start == at) {
            at = found.end;
            continue;
        }
        let was_in_text = position.is_in_text;
        position.step(text[at]);
        match (was_in_text, position.is_in_text) {
            (false, true) => begin = at + 1,
            (true, false) => last = Some(&text[begin..at]),
            (false, false) if text[at] == b':' && position.depth == 1 => {
                members.extend(last.take().map(|name| (name, text[at + 1..].trim_ascii_start())));
            }
            _ => {}
        }
        at += 1;
    }
    members
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    const STREAM: &[(&str, &str)] = &[("stream", "true"), ("stream_options", "{\"include_usage\":true}")];

    fn with(body: &str) -> Result<String, String> {
        with_json_members(body.as_bytes(), STREAM).map(|body| String::from_utf8(body).unwrap())
    }

    #[test]
    fn members_are_added_unless_they_are_there() {
        const OPTIONS: &str = "\"stream_options\":{\"include_usage\":true}";
        for (body, expected) in [
            ("{}", format!("{{\"stream\":true,{OPTIONS}}}")),
            (" {\"model\": \"m\"}\n", format!("{{\"stream\":true,{OPTIONS},\"model\": \"m\"}}")),
            ("{\"stream\": false, \"n\": 1}", format!("{{{OPTIONS},\"stream\": false, \"n\": 1}}")),
            ("{\"stream_options\":null}", "{\"stream\":true,\"stream_options\":null}".to_owned()),
            ("{\"stream\":1,\"stream_options\" : {}}", "{\"stream\":1,\"stream_options\" : {}}".to_owned()),
            // String values and nested members are not members of the body.
            ("{\"a\":\"stream\"}", format!("{{\"stream\":true,{OPTIONS},\"a\":\"stream\"}}")),
            ("{\"a\":{\"stream\":1}}", format!("{{\"stream\":true,{OPTIONS},\"a\":{{\"stream\":1}}}}")),
            ("{\"a\":\"\\\"stream\\\":1\"}", format!("{{\"stream\":true,{OPTIONS},\"a\":\"\\\"stream\\\":1\"}}")),
            ("{\"n\":{{n}},\"stream\":{{s}}}", format!("{{{OPTIONS},\"n\":{{{{n}}}},\"stream\":{{{{s}}}}}}")),
            ("{{whole}}", "{{whole}}".to_owned()),
        ] {
            assert_eq!(with(body), Ok(expected), "{body}");
        }
        assert!(with(" ").is_err_and(|error| error.contains("there is no body; it must be a JSON object")));
        for body in ["[]", "{", "a=1", "{{a}}{{b}}", "{{a}}, 1}", "\"{}\""] {
            assert!(with(body).is_err_and(|error| error.contains("no JSON object")), "{body}");
        }
    }

    #[test]
    fn prompts_get_a_prefix() {
        for (body, expected) in [
            (r#"{"model":"m","prompt":"a"}"#, r#"{"model":"m","prompt":"<>a"}"#),
            (r#"{"prompt" : [ "a", "b" ], "text":"c"}"#, r#"{"prompt" : [ "<>a", "<>b" ], "text":"c"}"#),
            (r#"{"prompt":"{{p}}","n":{{n}}}"#, r#"{"prompt":"<>{{p}}","n":{{n}}}"#),
            (
                r#"{"messages":[{"role":"system","content":"a"},{"role":"user","content":"b"}]}"#,
                r#"{"messages":[{"role":"system","content":"<>a"},{"role":"user","content":"b"}]}"#,
            ),
            (
                r#"{"messages":[{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}"#,
                r#"{"messages":[{"content":[{"type":"text","text":"<>a"},{"type":"text","text":"b"}]}]}"#,
            ),
            (
                r#"{"messages":[{"content":"say \"prompt\": x"}],"system":"s"}"#,
                r#"{"messages":[{"content":"<>say \"prompt\": x"}],"system":"<>s"}"#,
            ),
            (
                r#"{"text":{"format":{"type":"text"}},"input":[{"role":"user","content":"a"}]}"#,
                r#"{"text":{"format":{"type":"text"}},"input":[{"role":"user","content":"<>a"}]}"#,
            ),
            (r#"{"content":null,"inputs":"a"}"#, r#"{"content":null,"inputs":"<>a"}"#),
            // System prompts after the messages, as blocks: a server puts them first.
            (
                r#"{"messages":[{"content":"a"}],"system":[{"type":"text","text":"s"},{"text":"t"}],"text":"b"}"#,
                r#"{"messages":[{"content":"<>a"}],"system":[{"type":"text","text":"<>s"},{"text":"t"}],"text":"b"}"#,
            ),
            (
                r#"{"contents":[{"parts":[{"text":"a"}]}],"systemInstruction":{"parts":[{"text":"s"}]}}"#,
                r#"{"contents":[{"parts":[{"text":"<>a"}]}],"systemInstruction":{"parts":[{"text":"<>s"}]}}"#,
            ),
            (
                r#"{"system_instruction":{"parts":{"text":"s"}},"contents":[{"parts":{"text":"a"}}]}"#,
                r#"{"system_instruction":{"parts":{"text":"<>s"}},"contents":[{"parts":{"text":"<>a"}}]}"#,
            ),
            (r#"{"system":[],"prompt":"a"}"#, r#"{"system":[],"prompt":"<>a"}"#),
            (r#"{"system":"{{s}}","messages":{{m}}}"#, r#"{"system":"<>{{s}}","messages":{{m}}}"#),
            // Neither is a prompt.
            (
                r#"{"metadata":{"text":"x","system":"y"},"tools":[{"examples":[{"input":"z"}]}],"prompt":"a"}"#,
                r#"{"metadata":{"text":"x","system":"y"},"tools":[{"examples":[{"input":"z"}]}],"prompt":"<>a"}"#,
            ),
            (
                r#"{"messages":[{"metadata":{"text":"x"},"content":"a"}]}"#,
                r#"{"messages":[{"metadata":{"text":"x"},"content":"<>a"}]}"#,
            ),
        ] {
            let found = with_prompt_prefix(body.as_bytes(), "<>").map(|body| String::from_utf8(body).unwrap());
            assert_eq!(found.as_deref(), Ok(expected), "{body}");
        }
        for (body, says) in [
            (r#"{{body}}"#, "no prompt"),
            (r#"{"messages":{{messages}}}"#, "no prompt"),
            (r#"{"prompt":[1,2]}"#, "no prompt"),
            (r#"{"a":"prompt"}"#, "no prompt"),
            ("", "no prompt"),
            (r#"{"metadata":{"text":"a"},"messages":{{messages}}}"#, "no prompt"),
            (r#"{"messages":[{"content":"a"}],"system":{{s}}}"#, "whole system prompt"),
            (r#"{"system":[{{s}}],"prompt":"a"}"#, "whole system prompt"),
        ] {
            let found = with_prompt_prefix(body.as_bytes(), "<>");
            assert!(found.as_ref().is_err_and(|error| error.contains(says)), "{body}: {found:?}");
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            "[a-z\"\\\\:,{}\\[\\] é\n]{0,12}".prop_map(Value::from),
            Just(Value::from("stream")),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from), object(inner),]
        })
    }

    fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
        let name =
            prop_oneof![2 => "[a-z\" :]{0,6}", 1 => Just("stream".to_owned()), 1 => Just("stream_options".to_owned())];
        proptest::collection::btree_map(name, value, 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
    }

    proptest! {
        #[test]
        fn only_what_is_missing_is_added(body in object(value()), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&body) } else { serde_json::to_string(&body) }.unwrap();
            prop_assume!(placeholders(text.as_bytes()).next().is_none());
            let mut expected = body.clone();
            for (name, value) in STREAM {
                if expected.get(name).is_none() {
                    expected[*name] = serde_json::from_str(value).unwrap();
                }
            }
            let changed: Value = serde_json::from_str(&with(&text).unwrap()).unwrap();
            prop_assert_eq!(changed, expected);
        }
    }
}
