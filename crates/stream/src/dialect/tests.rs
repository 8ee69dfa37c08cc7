use proptest::prelude::*;
use serde_json::{Value, json};
use truetail_run::FinishReason;

use super::*;
use crate::chunk::{Choices, Usage};
use crate::event_parser::EventParser;

const CHAT: LlmApi = LlmApi::OpenaiChat;

fn chat(data: &str) -> Chunk {
    read_chunk(CHAT, data.as_bytes()).unwrap_or_else(|| panic!("not readable: {data}"))
}

#[test]
fn content_of_a_chat_is_in_its_delta() {
    for (delta, content, reasoning) in [
        (r#"{"role":"assistant"}"#, false, false),
        (r#"{"role":"assistant","content":""}"#, false, false),
        (r#"{"role":"assistant","content":null}"#, false, false),
        (r#"{"content":"a"}"#, true, false),
        (r#"{"content":" \n\u00e9"}"#, true, false),
        (r#"{"content":null,"reasoning_content":"hm"}"#, true, true),
        (r#"{"content":"a","reasoning":"hm"}"#, true, false),
        (r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}"#, true, false),
        (r#"{"tool_calls":[]}"#, false, false),
        (r#"{"refusal":"no"}"#, true, false),
        ("{}", false, false),
        ("null", false, false),
    ] {
        let chunk = chat(&format!(
            r#"{{"id":"x","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}],"usage":null}}"#
        ));
        assert_eq!((!chunk.content.is_empty(), chunk.is_reasoning, chunk.usage), (content, reasoning, None), "{delta}");
    }
    let elsewhere = chat(r#"{"choices":[{"text":"a"}]}"#);
    assert!(elsewhere.content.is_empty() && elsewhere.is_unknown);
}

#[test]
fn content_of_a_completion_is_its_text() {
    for (data, content) in [
        (r#"{"choices":[{"text":"a","index":0}]}"#, true),
        (r#"{"choices":[{"text":"","index":0}]}"#, false),
        (r#"{"choices":[{"delta":{"content":"a"}}]}"#, false),
        (r#"{"choices":[]}"#, false),
    ] {
        let chunk = read_chunk(LlmApi::OpenaiCompletions, data.as_bytes()).unwrap();
        assert_eq!(!chunk.content.is_empty(), content, "{data}");
    }
}

#[test]
fn reasoning_has_many_names_and_content_many_forms() {
    for (delta, content, reasoning) in [
        (r#"{"content":"","reasoning_details":[{"type":"reasoning.text","text":"hm"}]}"#, true, true),
        (r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"AAAA"}]}"#, false, false),
        (r#"{"reasoning_text":"hm"}"#, true, true),
        (r#"{"thinking":"hm"}"#, true, true),
        (r#"{"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":""}]}"#, true, true),
        (r#"{"thinking_blocks":[{"type":"thinking","thinking":"","signature":"AAAA"}]}"#, false, false),
        (r#"{"content":[{"type":"text","text":"a"}]}"#, true, false),
        (r#"{"content":[{"type":"text","text":""}]}"#, false, false),
        (r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}"#, true, true),
        (r#"{"content":[{"text":"hm","type":"thinking"},{"type":"text","text":"a"}]}"#, true, false),
        (r#"{"content":[{"type":"image_url","image_url":{"url":"data:"}}]}"#, true, false),
        (r#"{"audio":{"id":"a","data":"AAAA"}}"#, true, false),
        (r#"{"audio":{"id":"a","expires_at":5}}"#, false, false),
        (r#"{"role":"assistant","content":"","annotations":[{"a":1}]}"#, false, false),
    ] {
        let chunk = chat(&format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#));
        assert_eq!((!chunk.content.is_empty(), chunk.is_reasoning), (content, reasoning), "{delta}");
        assert!(!chunk.is_unknown && !chunk.is_summary, "{delta}");
    }
    let summary = r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":"hm"}]}}]}"#;
    assert!(chat(summary).is_summary && chat(summary).is_reasoning);
}

#[test]
fn what_may_be_content_is_not_understood() {
    for (choice, unknown) in [
        (r#"{"delta":{"monologue":"hm"}}"#, true),
        (r#"{"delta":{"monologue":"","other":null}}"#, false),
        (r#"{"delta":{"content":"a","monologue":"hm"}}"#, false),
        (r#"{"message":{"content":"a"}}"#, true),
        (r#"{"message":{"content":"a"},"delta":{"content":"a"}}"#, false),
        (r#"{"text":"a"}"#, true),
        (r#"{"index":64,"delta":{"content":"a"}}"#, true),
        (r#"{"index":63,"delta":{"content":"a"}}"#, false),
    ] {
        assert_eq!(chat(&format!(r#"{{"choices":[{choice}]}}"#)).is_unknown, unknown, "{choice}");
    }
}

#[test]
fn each_choice_ends_for_a_reason() {
    let ended = |reasons: &str| {
        let chunk = chat(&format!(r#"{{"choices":[{reasons}]}}"#));
        (chunk.choices.without(chunk.finished).is_empty(), chunk.finish, chunk.is_error)
    };
    for (reason, expected) in [
        ("null", None),
        ("\"\"", None),
        ("\"null\"", None),
        ("\"stop\"", Some(FinishReason::Stop)),
        ("\"MAX_TOKENS\"", Some(FinishReason::Length)),
        ("\"tool_calls\"", Some(FinishReason::ToolCalls)),
        ("\"content_filter\"", Some(FinishReason::ContentFilter)),
        ("\"because\"", Some(FinishReason::Other)),
        (r#"{"type":"length","length":20}"#, Some(FinishReason::Length)),
        ("\"error\"", Some(FinishReason::Error)),
        ("\"abort\"", Some(FinishReason::Error)),
        ("\"network_error\"", Some(FinishReason::Error)),
        ("\"user_cancelled\"", Some(FinishReason::Error)),
        (r#"{"type":"abort","message":"x"}"#, Some(FinishReason::Error)),
    ] {
        let is_error = expected == Some(FinishReason::Error);
        let found = ended(&format!(r#"{{"index":0,"finish_reason":{reason}}}"#));
        assert_eq!(found, (expected.is_some(), expected, is_error), "{reason}");
    }
    let one_of_two = r#"{"index":0,"finish_reason":"stop"},{"index":1,"finish_reason":null}"#;
    assert_eq!(ended(one_of_two), (false, Some(FinishReason::Stop), false));
}

#[test]
fn tokens_have_many_names() {
    let of = |event: &str| chat(event).usage.map(|usage| (usage.output, usage.reasoning, usage.input, usage.cached));
    for (event, expected) in [
        (r#"{"usage":{"input_tokens":7,"output_tokens":20}}"#, (20, None, Some(7), None)),
        (r#"{"usage":{"prompt_tokens":7.0,"completion_tokens":20.0}}"#, (20, None, Some(7), None)),
        (r#"{"choices":[],"x_groq":{"usage":{"prompt_tokens":7,"completion_tokens":20}}}"#, (20, None, Some(7), None)),
        (r#"{"choices":[{"index":0,"usage":{"completion_tokens":20,"cached_tokens":3}}]}"#, (20, None, None, Some(3))),
        (r#"{"choices":[],"timings":{"predicted_n":20,"prompt_n":4,"cache_n":3}}"#, (20, None, Some(7), Some(3))),
        (
            r#"{"usage":{"prompt_tokens":7,"completion_tokens":520,"total_tokens":527,
                "completion_tokens_details":{"reasoning_tokens":500},"prompt_tokens_details":{"cached_tokens":5}}}"#,
            (520, Some(500), Some(7), Some(5)),
        ),
        // xAI counts reasoning beside the answer.
        (
            r#"{"usage":{"prompt_tokens":7,"completion_tokens":20,"total_tokens":527,
                "completion_tokens_details":{"reasoning_tokens":500}}}"#,
            (520, Some(500), Some(7), None),
        ),
    ] {
        assert_eq!(of(event), Some(expected), "{event}");
    }
}

#[test]
fn half_characters_are_read_as_browsers_do() {
    for data in [
        &b"{\"choices\":[{\"delta\":{\"content\":\"\\ud83e\"}}]}"[..],
        b"{\"choices\":[{\"delta\":{\"content\":\"\xF0\x9F\"}}]}",
    ] {
        let (chunk, text) = read_event(&LlmOptions::new(CHAT, Vec::new()), data, true).expect("it can be read");
        assert!(!chunk.content.is_empty() && !chunk.is_unknown, "{}", data.escape_ascii());
        assert!(std::str::from_utf8(&text).is_ok());
    }
    // The data was too long to be kept whole.
    let (chunk, _) = read_event(
        &LlmOptions::new(CHAT, Vec::new()),
        br#"{"choices":[{"delta":{"content":"a"},"logprobs":{"x":"xxx"#,
        false,
    )
    .unwrap();
    assert!(!chunk.content.is_empty());
    assert_eq!(read_event(&LlmOptions::new(CHAT, Vec::new()), b"Internal Server Error", true), None);
}

#[test]
fn tokens_are_what_the_server_says() {
    let usage = |fields: &str| chat(&format!(r#"{{"choices":[],"usage":{fields}}}"#)).usage;
    assert_eq!(
        usage(r#"{"prompt_tokens":7,"completion_tokens":64,"total_tokens":71}"#),
        Some(Usage { output: 64, input: Some(7), ..Usage::default() })
    );
    assert_eq!(usage(r#"{"completion_tokens":64}"#), Some(Usage { output: 64, ..Usage::default() }));
    for fields in
        ["null", "{}", r#"{"completion_tokens":null}"#, r#"{"completion_tokens":-1}"#, r#"{"completion_tokens":"64"}"#]
    {
        assert_eq!(usage(fields), None, "{fields}");
    }
}

#[test]
fn errors_and_further_choices_are_seen() {
    for data in [
        r#"{"error":{"message":"out of memory","code":500}}"#,
        r#"{"object":"error","message":"x"}"#,
        r#"{"error":"x"}"#,
        r#"{"type":"error","message":"x"}"#,
        r#"{"code":500,"message":"x"}"#,
        r#"{"detail":"x"}"#,
        r#"{"text":"x","error_code":50001}"#,
        r#"{"choices":[{"index":0,"delta":{"content":""},"error":{"code":502}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}"#,
    ] {
        assert!(chat(data).is_error, "{data}");
    }
    let fine = chat(r#"{"error_code":0,"detail":"x","choices":[{"delta":{"content":"a"}}]}"#);
    assert!(!fine.is_error && !fine.content.is_empty());
    let both =
        chat(r#"{"object":"chat.completion.chunk","error":null,"choices":[{"index":1,"delta":{"content":"b"}}]}"#);
    assert!(!both.is_error && both.choices.has_others() && both.content == Choices::one(1).unwrap(), "{both:?}");
}

#[test]
fn what_has_another_form_is_not_readable_and_nothing_is_guessed() {
    let deep = format!("{{\"choices\":{}", "[".repeat(1 << 15));
    for data in [
        "",
        "[DONE]",
        "[]",
        "5",
        "\"a\"",
        "{",
        "{\"choices\":5}",
        "{\"choices\":[{\"delta\":\"a\"}]}",
        "{\"usage\":3}",
        "{\"choices\":[{\"delta\":{\"content\":\"a",
        "{} {}",
        &deep,
    ] {
        assert_eq!(read_chunk(CHAT, data.as_bytes()), None, "{data:.40}");
    }
    assert_eq!(read_chunk(CHAT, b"{\"choices\":[{\"delta\":{\"content\":\"\xFF\"}}]}"), None);
    let nested = format!("{{\"extra\":{}{}}}", "[".repeat(1 << 15), "]".repeat(1 << 15));
    assert_eq!(read_chunk(CHAT, nested.as_bytes()), Some(Chunk::default()));
}

/// Reads an event like `read_chunk`, but from a tree of values. Reads content that is text, or another value in its
/// place.
fn by_value(api: LlmApi, data: &[u8]) -> Option<Chunk> {
    let Ok(Value::Object(event)) = serde_json::from_slice(data) else { return None };
    let filled = |value: &Value| match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    };
    let mut chunk = Chunk::default();
    let mut answer = false;
    let mut reasoning = false;
    for choice in event.get("choices").and_then(Value::as_array).into_iter().flatten() {
        let has = |names: &[&str]| names.iter().any(|name| filled(&choice["delta"][*name]));
        let in_delta = has(&["content", "refusal", "tool_calls", "function_call"]);
        let thought = has(&["reasoning", "reasoning_content"]);
        let is_here = match api {
            LlmApi::OpenaiCompletions => filled(&choice["text"]),
            _ => in_delta || thought,
        };
        // An index beyond the limit is not understood.
        let Some(one) = Choices::one(choice["index"].as_u64().unwrap_or(0)) else { continue };
        chunk.choices = chunk.choices.and(one);
        chunk.content = chunk.content.and(if is_here { one } else { Choices::default() });
        answer |= is_here && (api == LlmApi::OpenaiCompletions || in_delta);
        reasoning |= is_here && thought;
    }
    chunk.is_reasoning = reasoning && !answer;
    chunk.is_error = event.get("error").is_some_and(filled) || event.get("object") == Some(&json!("error"));
    let tokens = |name: &str| event.get("usage").and_then(|usage| usage[name].as_u64());
    let usage = |output| Usage { output, input: tokens("prompt_tokens"), ..Usage::default() };
    chunk.usage = tokens("completion_tokens").map(usage);
    Some(chunk)
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0u64..9).prop_map(Value::from),
        Just(json!(1.5)),
        Just(json!("")),
        "\\PC{1,8}".prop_map(Value::from),
        Just(json!("a \"quote\", a\nline\tand é")),
        Just(json!([])),
        Just(json!([{"index": 0, "function": {"arguments": "{\"a\""}}])),
        Just(json!({"a": [1, {"b": null}]})),
    ]
}

fn fields(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    proptest::collection::btree_map(proptest::sample::select(names.to_vec()), value(), 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
}

fn or_null(fields: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop_oneof![1 => Just(Value::Null), 6 => fields]
}

/// Events of this form with any content.
fn events() -> impl Strategy<Value = Value> {
    const DELTA: &[&str] =
        &["role", "content", "refusal", "tool_calls", "function_call", "reasoning_content", "reasoning", "other"];
    let choice = (or_null(fields(DELTA)), value(), value()).prop_map(|(delta, text, index)| {
        let index = if index.is_u64() { index } else { json!(0) };
        json!({"delta": delta, "text": text, "index": index, "finish_reason": null})
    });
    let usage = or_null(fields(&["completion_tokens", "prompt_tokens", "total_tokens"]));
    let choices = proptest::collection::vec(choice, 0..3);
    (choices, usage, fields(&["error", "object", "id", "created"])).prop_map(|(choices, usage, mut event)| {
        event["choices"] = json!(choices);
        event["usage"] = usage;
        event
    })
}

/// Returns the chunks that are read from a stream in pieces of these lengths.
fn read_in_pieces(stream: &[u8], lengths: &[usize]) -> Vec<Option<Chunk>> {
    let mut parser = EventParser::new();
    let mut chunks = Vec::new();
    let mut rest = stream;
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at((*length).min(rest.len()));
        parser.feed(piece, &mut |event| {
            chunks.push(read_chunk(CHAT, event.data).map(|chunk| Chunk { is_unknown: false, ..chunk }));
        });
        rest = after;
    }
    chunks
}

proptest! {
    #[test]
    fn an_event_says_what_its_tree_of_values_says(event in events(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&event) } else { serde_json::to_string(&event) }.unwrap();
        for api in [LlmApi::OpenaiChat, LlmApi::OpenaiCompletions] {
            let read = read_chunk(api, text.as_bytes()).map(|chunk| Chunk { is_unknown: false, ..chunk });
            prop_assert_eq!(read, by_value(api, text.as_bytes()), "{}", &text);
        }
    }

    #[test]
    fn any_cut_of_a_stream_gives_the_same_tokens(
        events in proptest::collection::vec(events(), 1..6),
        lengths in proptest::collection::vec(1usize..40, 1..20),
    ) {
        let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).chain(["data: [DONE]\n\n".to_owned()]).collect();
        let mut expected: Vec<_> = events.iter().map(|event| by_value(CHAT, event.to_string().as_bytes())).collect();
        expected.push(None);
        prop_assert_eq!(read_in_pieces(stream.as_bytes(), &lengths), expected.clone());
        prop_assert_eq!(read_in_pieces(stream.as_bytes(), &[stream.len()]), expected);
    }

    #[test]
    fn no_bytes_are_too_odd(data in proptest::collection::vec(any::<u8>(), 0..200), text in "[\\[\\]{}\":,a-e0-9\\\\ ]{0,80}") {
        for bytes in [&data[..], text.as_bytes(), format!("{{\"choices\":{text}").as_bytes()] {
            let _ = read_chunk(CHAT, bytes);
        }
    }
}
