use truetail_run::FinishReason::{self, ContentFilter, Length, Stop, ToolCalls};

use super::*;

fn scanned(text: &str) -> JsonScanner {
    let mut document = scanner();
    // However it is cut.
    text.as_bytes().chunks(7).for_each(|piece| document.feed(piece));
    document
}

fn of(text: &str) -> Chunk {
    read(&scanned(text)).unwrap_or_else(|| panic!("{text}"))
}

/// Tokens of an answer: input, output, reasoning.
type Tokens = (Option<u64>, u64, Option<u64>);

/// Returns whether the answer has content, why it ended, and its tokens.
fn facts(text: &str) -> (bool, Option<FinishReason>, Option<Tokens>) {
    let chunk = of(text);
    assert!(!chunk.is_error && chunk.finished == chunk.choices && !chunk.finished.is_empty(), "{text}");
    let usage = chunk.usage.map(|usage| (usage.input, usage.output, usage.reasoning));
    (!chunk.content.is_empty(), chunk.finish, usage)
}

#[test]
fn each_format_has_its_text_its_end_and_its_tokens() {
    for (text, expected) in [
        // OpenAI.
        (
            r#"{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},
                "logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21,
                "completion_tokens_details":{"reasoning_tokens":4}}}"#,
            (true, Some(Stop), Some((Some(9), 12, Some(4)))),
        ),
        (
            r#"{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function"}]},
                "finish_reason":"tool_calls"}]}"#,
            (true, Some(ToolCalls), None),
        ),
        (
            r#"{"choices":[{"index":0,"message":{"role":"assistant","content":null,"reasoning_content":"so"},"finish_reason":"length"},
                {"index":1,"message":{"content":"b"},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":8}}"#,
            (true, Some(Length), Some((Some(9), 8, None))),
        ),
        (
            r#"{"object":"text_completion","choices":[{"index":0,"text":"a b","finish_reason":"length"}],
                "usage":{"prompt_tokens":5,"completion_tokens":7}}"#,
            (true, Some(Length), Some((Some(5), 7, None))),
        ),
        // The model said nothing.
        (
            r#"{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"stop"}]}"#,
            (false, Some(Stop), None),
        ),
        // OpenAI's Responses.
        (
            r#"{"object":"response","status":"completed","error":null,"incomplete_details":null,"output":[{"type":"message","role":
                "assistant","content":[{"type":"output_text","text":"Hi","annotations":[]}]}],"usage":{"input_tokens":36,
                "output_tokens":87,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":123}}"#,
            (true, Some(Stop), Some((Some(36), 87, Some(0)))),
        ),
        (
            r#"{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[],
                "usage":{"input_tokens":1,"output_tokens":2}}"#,
            (false, Some(Length), Some((Some(1), 2, None))),
        ),
        // Anthropic.
        (
            r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],"model":"m",
                "stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"cache_read_input_tokens":90,
                "output_tokens":25}}"#,
            (true, Some(Stop), Some((Some(100), 25, None))),
        ),
        (
            r#"{"type":"message","content":[{"type":"tool_use","id":"t","name":"f","input":{}}],"stop_reason":"tool_use"}"#,
            (true, Some(ToolCalls), None),
        ),
        // Gemini.
        (
            r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"MAX_TOKENS"}],
                "usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":6,"thoughtsTokenCount":3,"totalTokenCount":13}}"#,
            (true, Some(Length), Some((Some(4), 9, Some(3)))),
        ),
        (r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#, (false, Some(ContentFilter), None)),
        // Ollama.
        (
            r#"{"model":"m","message":{"role":"assistant","content":"Hi"},"done_reason":"stop","done":true,
                "prompt_eval_count":26,"eval_count":298}"#,
            (true, Some(Stop), Some((Some(26), 298, None))),
        ),
        (
            r#"{"model":"m","response":"Hi","done":true,"done_reason":"length","prompt_eval_count":2,"eval_count":3}"#,
            (true, Some(Length), Some((Some(2), 3, None))),
        ),
        // TGI, with and without details.
        (
            r#"{"generated_text":"Hi","details":{"finish_reason":"eos_token","generated_tokens":1,"seed":null,"tokens":[]}}"#,
            (true, Some(Stop), Some((None, 1, None))),
        ),
        (r#"{"generated_text":"Hi"}"#, (true, None, None)),
        // llama.cpp.
        (
            r#"{"index":0,"content":"Hi","tokens":[],"stop":true,"model":"m","tokens_predicted":8,"tokens_evaluated":5,
                "stop_type":"limit"}"#,
            (true, Some(Length), Some((Some(5), 8, None))),
        ),
        // SGLang.
        (
            r#"{"text":"Hi","meta_info":{"id":"i","finish_reason":{"type":"length","length":16},"prompt_tokens":6,
                "completion_tokens":16,"cached_tokens":0}}"#,
            (true, Some(Length), Some((Some(6), 16, None))),
        ),
    ] {
        assert_eq!(facts(text), expected, "{text}");
        assert!(is_certainly(&scanned(text)), "{text}");
    }
}

#[test]
fn errors_are_errors_in_every_format() {
    for text in [
        r#"{"error":{"message":"too long","type":"invalid_request_error","code":400}}"#,
        r#"{"error":"model 'm' not found"}"#,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        r#"{"object":"error","message":"no such model","code":40401}"#,
        r#"{"detail":"Not Found"}"#,
        r#"{"code":503,"message":"busy"}"#,
        r#"{"choices":[{"message":{"content":"a"},"finish_reason":"error"}]}"#,
        r#"{"choices":[{"message":{"content":"a"},"error":{"code":502}}]}"#,
        r#"{"object":"response","status":"failed","output":[],"error":{"code":"server_error"}}"#,
        r#"{"text":"a","meta_info":{"finish_reason":{"type":"abort","message":"x"}}}"#,
    ] {
        assert!(of(text).is_error, "{text}");
    }
}

#[test]
fn other_documents_are_no_answers() {
    for text in [
        "{}",
        "[]",
        r#"{"choices":[]}"#,
        r#"{"choices":7}"#,
        r#"{"content":"a"}"#,
        r#"{"data":[{"embedding":[0.1]}],"usage":{"prompt_tokens":7}}"#,
        r#"{"object":"response","status":"in_progress","output":[]}"#,
        r#"{"usage":{"prompt_tokens":7,"completion_tokens":7}}"#,
    ] {
        assert_eq!(read(&scanned(text)), None, "{text}");
    }
}

#[test]
fn a_text_over_the_limit_is_content_and_its_tokens_are_counted() {
    let long = "x".repeat(MAX_VALUE_BYTES);
    let text = format!(
        "{{\"choices\":[{{\"message\":{{\"content\":\"{long}\"}},\"finish_reason\":\"length\"}}],\"usage\":{{\"prompt_tokens\":2,\"completion_tokens\":9}}}}"
    );
    assert_eq!(facts(&text), (true, None, Some((Some(2), 9, None))));
    // Half a character at the end of a short one.
    let text = r#"{"choices":[{"message":{"content":"a\ud83d"},"finish_reason":"stop"}]}"#;
    assert_eq!(facts(text), (true, Some(Stop), None));
    let bytes = [&br#"{"choices":[{"message":{"content":""#[..], b"\xff", br#""},"finish_reason":"stop"}]}"#].concat();
    let mut document = scanner();
    document.feed(&bytes);
    assert!(read(&document).is_some_and(|chunk| !chunk.content.is_empty()));
}
