//! Other APIs of services than OpenAI's chat.

use super::*;

const CALLED: Truth = Truth { end: "tool calls", ..TRUTH };
pub(super) const FULL: Truth = Truth { end: "length", ..TRUTH };

pub(super) fn of(api: LlmApi, rows: Vec<Row>) -> Vec<Row> {
    rows.into_iter().map(|row| row.of(api)).collect()
}

/// Returns an event whose type is in its data and in its name.
pub(super) fn typed(kind: &str, more: &str) -> Vec<u8> {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{more}}}\n\n").into_bytes()
}

/// Returns twenty pieces between a head at 10 ms and a tail.
pub(super) fn around(head: &[Vec<u8>], piece: impl Fn(usize) -> Vec<u8>, tail: &[Vec<u8>]) -> Script {
    let head = head.iter().map(|bytes| (10, bytes.clone()));
    head.chain(twenty(piece)).chain(tail.iter().map(|bytes| (480, bytes.clone()))).collect()
}

/// Returns the first ten pieces, then these bytes.
pub(super) fn broken(mut script: Script, bytes: Vec<u8>) -> Script {
    script.retain(|(at, _)| *at < 300);
    script.push((300, bytes));
    script
}

fn completions() -> Vec<Row> {
    let text = |i: usize| {
        event(&format!(
            r#"{{"object":"text_completion","choices":[{{"index":0,"text":"w{i}","logprobs":null,"finish_reason":null}}]}}"#
        ))
    };
    let last = event(r#"{"object":"text_completion","choices":[{"index":0,"text":"","finish_reason":"length"}]}"#);
    let tail = [last, event(USAGE), event(DONE)];
    let chat = |i: usize| event(&word(i));
    let thinking = |i: usize| match i {
        0..10 => event(r#"{"choices":[{"index":0,"text":"","reasoning":"hm","finish_reason":null}]}"#),
        _ => text(i),
    };
    of(
        LlmApi::OpenaiCompletions,
        vec![
            row("`choices[].text`", around(&[], text, &tail), FULL, "content is text"),
            row(
                "`choices[].reasoning` beside an empty text (OpenRouter)",
                around(&[], thinking, &tail),
                Truth { reasoning: 10, ..FULL },
                "reasoning is content",
            )
            .not_known(&[Reasoning]),
            row(
                "an error after ten words",
                broken(around(&[], text, &[]), event(r#"{"error":{"message":"boom"}}"#)),
                FAILED,
                "an error makes an answer bad",
            ),
            row(
                "the events of a chat",
                around(&[], chat, &[event(FINISH), event(USAGE), event(DONE)]),
                TRUTH,
                "content in another place is not understood",
            )
            .not_known(&[Ttft, Itl, Tpot, Content, Reasoning]),
        ],
    )
}

fn responses() -> Vec<Row> {
    let head = [
        typed("response.created", r#","response":{"id":"r","status":"in_progress","error":null,"usage":null}"#),
        typed("response.output_item.added", r#","output_index":0,"item":{"type":"message"}"#),
    ];
    let delta = |kind: &str| typed(&format!("response.{kind}.delta"), r#","item_id":"i","output_index":0,"delta":"w""#);
    let ending = |kind: &str, more: &str| {
        typed(&format!("response.{kind}"), &format!(r#","response":{{"id":"r","error":null{more}}}"#))
    };
    let usage = r#","usage":{"input_tokens":7,"output_tokens":20,"total_tokens":27}"#;
    let hidden = r#","usage":{"output_tokens":520,"output_tokens_details":{"reasoning_tokens":500}}"#;
    let completed = [typed("response.output_text.done", r#","text":"all""#), ending("completed", usage)];
    let half = |kind: &'static str| move |i: usize| delta(if i < 10 { kind } else { "output_text" });
    let text = |_: usize| delta("output_text");
    let image = |_: usize| {
        typed("response.image_generation_call.partial_image", r#","output_index":0,"partial_image_b64":"AAAA""#)
    };
    let broken_off = |kind: &str, more: &str| {
        typed(&format!("response.{kind}"), &format!(r#","response":{{"id":"r"{more}{usage}}}"#))
    };
    let echo = format!(r#","response":{{"id":"r","error":null,"instructions":"{}","usage":null}}"#, "x".repeat(80_000));
    let long_head = [typed("response.created", &echo)];
    let late_type = |i: usize| match i {
        0 => event(&format!(
            r#"{{"logprobs":["{}"],"delta":"w","type":"response.output_text.delta"}}"#,
            "x".repeat(80_000)
        )),
        _ => delta("output_text"),
    };
    let late_delta = |i: usize| match i {
        0 => typed("response.output_text.delta", &format!(r#","logprobs":["{}"],"delta":"w""#, "x".repeat(80_000))),
        _ => delta("output_text"),
    };
    let not_read = "what is not read may be content";
    let incomplete = ending("incomplete", &format!(r#","incomplete_details":{{"reason":"max_output_tokens"}}{usage}"#));
    of(
        LlmApi::OpenaiResponses,
        vec![
            row(
                "`response.output_text.delta`",
                around(&head, text, &completed),
                TRUTH,
                "each delta is content, the text at the end is not",
            ),
            row(
                "`response.function_call_arguments.delta`",
                around(&head, |_| delta("function_call_arguments"), &completed),
                TRUTH,
                "a call is content",
            ),
            row(
                "`response.refusal.delta`",
                around(&head, |_| delta("refusal"), &completed),
                TRUTH,
                "a refusal is content",
            ),
            row(
                "`response.reasoning_text.delta`",
                around(&head, half("reasoning_text"), &completed),
                Truth { reasoning: 10, ..TRUTH },
                "reasoning is content",
            )
            .not_known(&[Reasoning]),
            row(
                "`response.reasoning_summary_text.delta`, and 500 tokens of reasoning",
                around(&head, half("reasoning_summary_text"), &[ending("completed", hidden)]),
                Truth { tokens: Some(520), reasoning: 500, ..TRUTH },
                "a summary has an unknown number of tokens",
            )
            .not_known(&[Tpot]),
            row("partial images", around(&head, image, &completed), TRUTH, "an image is content"),
            row(
                "80 KB of the prompt in `response.created`",
                around(&long_head, text, &completed),
                TRUTH,
                "an event whose type comes first says that it has no content",
            ),
            row("the first type comes after 80 KB", around(&head, late_type, &completed), TRUTH, not_read)
                .not_known(&[Ttft, Itl, Tpot, Content, Reasoning]),
            row("the first delta comes after 80 KB", around(&head, late_delta, &completed), TRUTH, not_read)
                .not_known(&[Ttft, Itl, Tpot, Content, Reasoning]),
            row("`response.incomplete`", around(&head, text, &[incomplete]), FULL, "an answer at its limit ends well"),
            row(
                "`response.failed`",
                broken(around(&head, text, &[]), ending("failed", "")),
                FAILED,
                "an error makes an answer bad",
            ),
            row(
                "`response.completed` with an `error`",
                broken(around(&head, text, &[]), broken_off("completed", r#","error":{"message":"boom"}"#)),
                FAILED,
                "an error makes an answer bad",
            ),
            row(
                "`response.incomplete` for the reason `timeout`",
                broken(
                    around(&head, text, &[]),
                    broken_off("incomplete", r#","incomplete_details":{"reason":"timeout"}"#),
                ),
                FAILED,
                "a reason may be an error",
            ),
            row(
                "an event of the type `error`",
                broken(around(&head, text, &[]), typed("error", r#","code":"server_error","message":"boom""#)),
                FAILED,
                "an error makes an answer bad",
            ),
            row("no last event", around(&head, text, &[]), Truth { content_events: 20, ..CUT }, "an answer has an end"),
        ],
    )
}

fn anthropic() -> Vec<Row> {
    let head = [
        typed(
            "message_start",
            r#","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":1}}"#,
        ),
        typed("content_block_start", r#","index":0,"content_block":{"type":"text","text":""}"#),
        typed("ping", ""),
    ];
    let delta = |kind: &str, member: &str| {
        typed("content_block_delta", &format!(r#","index":0,"delta":{{"type":"{kind}","{member}":"w"}}"#))
    };
    let tail = |reason: &str| {
        let usage =
            format!(r#","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":20}}"#);
        [typed("content_block_stop", r#","index":0"#), typed("message_delta", &usage), typed("message_stop", "")]
    };
    let end = tail("end_turn");
    let text = |_: usize| delta("text_delta", "text");
    let thinking = |i: usize| match i {
        0..10 => delta("thinking_delta", "thinking"),
        10 => [delta("signature_delta", "signature"), text(i)].concat(),
        _ => text(i),
    };
    let redacted =
        typed("content_block_start", r#","index":0,"content_block":{"type":"redacted_thinking","data":"AAAA"}"#);
    let call = typed(
        "content_block_start",
        r#","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}"#,
    );
    let calls = |i: usize| if i == 0 { call.clone() } else { delta("input_json_delta", "partial_json") };
    let odd = |i: usize| if i < 10 { delta("odd_delta", "odd") } else { text(i) };
    let overloaded = typed("error", r#","error":{"type":"overloaded_error","message":"Overloaded"}"#);
    of(
        LlmApi::Anthropic,
        vec![
            row("`text_delta`, and a `ping`", around(&head, text, &end), TRUTH, "each delta is content"),
            row(
                "`thinking_delta`, `signature_delta`, then text",
                around(&head, thinking, &end),
                Truth { reasoning: 10, ..TRUTH },
                "thinking may be a summary",
            )
            .not_known(&[Tpot, Reasoning]),
            row(
                "`redacted_thinking`, then text",
                around(&[redacted], text, &end),
                TRUTH,
                "its tokens are in the count, and nothing says how many",
            )
            .not_known(&[Tpot]),
            row(
                "`tool_use` with `input_json_delta`",
                around(&head, calls, &tail("tool_use")),
                CALLED,
                "a call is content",
            ),
            row(
                "a delta of an unknown type",
                around(&head, odd, &end),
                TRUTH,
                "what is not understood makes times unknown",
            )
            .not_known(&[Ttft, Itl, Tpot, Content, Reasoning]),
            row(
                "`stop_reason: max_tokens`",
                around(&head, text, &tail("max_tokens")),
                FULL,
                "reasons have several names",
            ),
            row(
                "`stop_reason: refusal`",
                around(&head, text, &tail("refusal")),
                Truth { end: "content filter", ..TRUTH },
                "reasons have several names",
            ),
            row(
                "`overloaded_error` after ten words",
                broken(around(&head, text, &[]), overloaded),
                FAILED,
                "an error makes an answer bad",
            ),
            row(
                "`stop_reason: error` after ten words",
                broken(around(&head, text, &[]), tail("error").concat()),
                FAILED,
                "a reason may be an error",
            ),
            row(
                "no `message_stop`",
                around(&head, text, &[]),
                Truth { content_events: 20, ..CUT },
                "an answer has an end",
            ),
        ],
    )
}

fn gemini() -> Vec<Row> {
    let of_part = |part: &str, last: &str, usage: &str| {
        let data = format!(
            r#"{{"candidates":[{{"content":{{"parts":[{part}],"role":"model"}}{last},"index":0}}],"usageMetadata":{{"promptTokenCount":7{usage}}}}}"#
        );
        format!("data: {data}\r\n\r\n").into_bytes()
    };
    let counted = |part: &str, i: usize| {
        let last = if i == 19 { r#","finishReason":"STOP""# } else { "" };
        of_part(part, last, &format!(r#","candidatesTokenCount":{},"totalTokenCount":{}"#, i + 1, i + 8))
    };
    let text = r#"{"text":"w"}"#;
    let thoughts = |i: usize| {
        let (part, last) = if i < 10 {
            (r#"{"text":"hm","thought":true}"#, "")
        } else {
            (text, if i == 19 { r#","finishReason":"STOP""# } else { "" })
        };
        of_part(part, last, if i == 19 { r#","candidatesTokenCount":10,"thoughtsTokenCount":300"# } else { "" })
    };
    let hidden = |i: usize| {
        let last = if i == 19 {
            (r#","finishReason":"STOP""#, r#","candidatesTokenCount":20,"thoughtsTokenCount":300"#)
        } else {
            ("", "")
        };
        of_part(text, last.0, last.1)
    };
    let two = |i: usize| {
        let last = if i >= 18 { r#","finishReason":"STOP""# } else { "" };
        event(&format!(r#"{{"candidates":[{{"content":{{"parts":[{text}]}}{last},"index":{}}}]}}"#, i % 2))
    };
    let blocked = event(r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":7}}"#);
    let failed = event(r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#);
    let plain = |part: &'static str| around(&[], |i| counted(part, i), &[]);
    let no_word = Truth { end: "content filter", ..EMPTY };
    of(
        LlmApi::Gemini,
        vec![
            row(
                "`parts[].text`, `usageMetadata` in each event",
                plain(text),
                TRUTH,
                "each part is content, the last count is the sum",
            ),
            row(
                "`thought: true` in ten events, and 300 tokens of thoughts",
                around(&[], thoughts, &[]),
                Truth { tokens: Some(310), reasoning: 300, ..TRUTH },
                "thoughts are a summary",
            )
            .not_known(&[Tpot]),
            row(
                "300 tokens of thoughts that are not sent",
                around(&[], hidden, &[]),
                Truth { tokens: Some(320), reasoning: 300, ..TRUTH },
                "TPOT is of the tokens that were sent",
            ),
            row("`functionCall`", plain(r#"{"functionCall":{"name":"f","args":{}}}"#), TRUTH, "a call is content"),
            row(
                "`inlineData`",
                plain(r#"{"inlineData":{"mimeType":"image/png","data":"AAAA"}}"#),
                TRUTH,
                "an image is content",
            ),
            row(
                "a part of an unknown kind",
                plain(r#"{"hologram":{"data":"AAAA"}}"#),
                TRUTH,
                "what is not understood makes times unknown",
            )
            .not_known(&[Ttft, Itl, Tpot, Content, Reasoning]),
            row(
                "two candidates in turn, not counted",
                around(&[], two, &[]),
                Truth { gaps: Some((40, 40)), per_token: Some(40), ..TRUTH },
                "gaps are of each choice",
            )
            .not_known(&[Tpot, Tokens]),
            row(
                "`finishReason: CANCELLED` after ten words",
                broken(
                    plain(text),
                    of_part(r#"{"text":""}"#, r#","finishReason":"CANCELLED""#, r#","candidatesTokenCount":10"#),
                ),
                FAILED,
                "a reason may be an error",
            ),
            row("`blockReason`", vec![(100, blocked)], no_word, "a filter is no error").not_known(&[Tokens]),
            row(
                "`{\"error\": …}` after ten words",
                broken(plain(text), failed),
                FAILED,
                "an error makes an answer bad",
            ),
        ],
    )
}

pub(super) fn rows() -> Vec<Row> {
    [completions(), whole::echoes(), responses(), whole::responses(), anthropic(), gemini()]
        .into_iter()
        .flatten()
        .collect()
}
