//! Content of chats.

use super::*;

/// Ten tokens of reasoning, which the server does not count apart, and ten of the answer.
const THOUGHT: Truth = Truth { reasoning: 10, ..TRUTH };

fn reasoning() -> Vec<Row> {
    let beside = |i: usize| match i {
        0..10 => r#"{"choices":[{"index":0,"delta":{},"reasoning_content":"hm","finish_reason":null}]}"#.to_owned(),
        _ => word(i),
    };
    let summary = r#""content":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}]"#;
    let parts = r#""content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]"#;
    let details = r#""content":"","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]"#;
    let blocks = r#""reasoning_content":"hm","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":""}],"content":"""#;
    [
        ("`reasoning_content` (vLLM, SGLang, DeepSeek, Qwen)", r#""reasoning_content":"hm","content":null"#),
        ("`reasoning` (newer vLLM, Ollama, Cerebras)", r#""reasoning":"hm""#),
        ("`reasoning` and `reasoning_details` (OpenRouter)", details),
        ("`reasoning_content` and `thinking_blocks` (LiteLLM)", blocks),
        ("`reasoning_text` (Copilot)", r#""reasoning_text":"hm""#),
        ("`thinking` (gateways)", r#""thinking":"hm""#),
        ("parts of the type `thinking` (Mistral's Magistral)", parts),
    ]
    .into_iter()
    .map(|(how, members)| {
        row(how, ended(half(members)), THOUGHT, "reasoning is content by any of its names").not_known(&[Reasoning])
    })
    .chain([
        row("`reasoning_content` beside the delta", ended(beside), THOUGHT, "reasoning is content by any of its names")
            .not_known(&[Reasoning]),
        row(
            "parts of the type `summary_text` (Databricks)",
            ended(half(summary)),
            THOUGHT,
            "a summary has an unknown number of tokens",
        )
        .not_known(&[Tpot, Reasoning]),
        row(
            "reasoning under a name that nobody knows",
            ended(half(r#""monologue":"hm""#)),
            THOUGHT,
            "what is not understood makes the times around it unknown",
        )
        .not_known(&[Ttft, Itl, Tpot, Content, Reasoning]),
    ])
    .collect()
}

fn calls() -> Vec<Row> {
    let call = |i: usize| match i {
        0 => chunk(
            r#""role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]"#,
        ),
        _ => chunk(r#""tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]"#),
    };
    let function = |_: usize| chunk(r#""function_call":{"name":"f","arguments":"{\"a\""}"#);
    let called = Truth { end: "tool calls", ..TRUTH };
    vec![
        row(
            "`tool_calls`, the first with a name and no arguments",
            then(said(call), &[&finish("tool_calls"), USAGE, DONE]),
            called,
            "a call is content",
        ),
        row(
            "`function_call`, as before `tool_calls`",
            then(said(function), &[&finish("function_call"), USAGE, DONE]),
            called,
            "a call is content",
        ),
        row(
            "`\"tool_calls\": []` beside each text (vLLM)",
            ended(|i| chunk(&format!(r#""content":"w{i}","tool_calls":[]"#))),
            TRUTH,
            "an empty list is no content",
        ),
    ]
}

fn choices() -> Vec<Row> {
    let one_of =
        |i: usize| format!(r#"{{"choices":[{{"index":{},"delta":{{"content":"w"}},"finish_reason":null}}]}}"#, i % 2);
    let both =
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"},{"index":1,"delta":{},"finish_reason":"stop"}]}"#;
    let far = |_: usize| r#"{"choices":[{"index":64,"delta":{"content":"w"},"finish_reason":null}]}"#.to_owned();
    let whole = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"all"},"finish_reason":"stop"}]}"#;
    let at_once = Truth { first: Some(480), gaps: None, per_token: None, content_events: 1, ..TRUTH };
    vec![
        row(
            "`\"n\": 2`, both choices in turn",
            then(said(one_of), &[both, USAGE, DONE]),
            Truth { gaps: Some((40, 40)), per_token: Some(40), ..TRUTH },
            "gaps are of each choice; which tokens are whose is unknown",
        )
        .not_known(&[Tpot]),
        row(
            "`\"n\": 2`, and only one of them ends",
            then(said(one_of), &[FINISH]),
            Truth { gaps: Some((40, 40)), per_token: None, tokens: None, end: "cut off", ..TRUTH },
            "an answer ends when each of its choices has",
        ),
        row(
            "a choice with the index 64",
            then(said(far), &[USAGE, DONE]),
            Truth { end: "no reason", ..TRUTH },
            "what is not understood makes times unknown, and the mark proves less",
        )
        .not_known(&[Ttft, Itl, Tpot, Content, Tokens, Reasoning, End]),
        row(
            "the whole answer in one event, as `message`",
            vec![(480, event(whole)), (480, event(USAGE)), (480, event(DONE))],
            at_once,
            "what is not understood makes times unknown",
        )
        .not_known(&[Ttft, Itl, Tpot, Content, Reasoning]),
    ]
}

pub(super) fn rows() -> Vec<Row> {
    let openai = |i: usize| chunk_with(&format!(r#""content":"w{i}""#), r#","usage":null,"obfuscation":"Zk3x""#);
    let logprobs = |i: usize| {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"content":"w{i}"}},"logprobs":{{"content":[{{"token":"w","logprob":-0.1,"bytes":[119],"top_logprobs":[]}}],"refusal":null}},"finish_reason":null}}]}}"#
        )
    };
    let only_logprobs = event(
        r#"{"choices":[{"index":0,"delta":{"content":""},"logprobs":{"content":[{"token":"","logprob":-9.1}]},"finish_reason":null}]}"#,
    );
    let mut with_silent = ended(word);
    with_silent.insert(1, (50, only_logprobs));
    let mut roles = ended(word);
    (0..4).for_each(|i| roles.insert(1, (80 - 20 * i, event(&chunk("")))));
    let parts = |i: usize| chunk(&format!(r#""content":[{{"type":"text","text":"w{i}"}}]"#));
    let audio = |i: usize| match i % 2 {
        0 => chunk(r#""audio":{"id":"audio_1","transcript":"w"}"#),
        _ => chunk(r#""audio":{"id":"audio_1","data":"AAAA"}"#),
    };
    let mut sound = ended(audio);
    sound.insert(1, (50, event(&chunk(r#""audio":{"id":"audio_1","expires_at":1764237600}"#))));
    [
        row(
            "`delta.content`, with `usage: null` and padding in each event (OpenAI)",
            ended(openai),
            TRUTH,
            "content is text",
        ),
        row("`logprobs` beside each text", ended(logprobs), TRUTH, "content is text"),
        row("an event before that has only `logprobs`", with_silent, TRUTH, "an empty text is no content"),
        row("four events before with `\"delta\": {}`", roles, TRUTH, "an empty delta is no content"),
        row(
            "`refusal` in place of `content`",
            ended(|_| chunk(r#""refusal":"no","content":null"#)),
            TRUTH,
            "a refusal is content",
        ),
        row("`audio`, after an event with only its id", sound, TRUTH, "sound is content"),
        row("`content` as a list of parts", ended(parts), TRUTH, "a part with text is content"),
    ]
    .into_iter()
    .chain(calls())
    .chain(reasoning())
    .chain(choices())
    .collect()
}
