//! APIs of servers of their own, and an API that a file describes.

use super::others::{FULL, around, broken, of, typed};
use super::*;

fn ollama() -> Vec<Row> {
    let line = |data: &str| format!("{data}\n").into_bytes();
    let message =
        |member: &str| line(&format!(r#"{{"model":"m","message":{{"role":"assistant",{member}}},"done":false}}"#));
    let text = |_: usize| message(r#""content":"w""#);
    let done = |reason: &str| {
        format!(
            r#"{{"model":"m","message":{{"role":"assistant","content":""}},"done":true,"done_reason":"{reason}","prompt_eval_count":7,"eval_count":20}}"#
        )
    };
    let stop = [line(&done("stop"))];
    let generate = |_: usize| line(r#"{"model":"m","response":"w","done":false}"#);
    let thinking = |i: usize| message(if i < 10 { r#""content":"","thinking":"hm""# } else { r#""content":"w""# });
    let calls = |_: usize| message(r#""content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]"#);
    let unended = [done("stop").into_bytes()];
    of(
        LlmApi::Ollama,
        vec![
            row("`/api/chat`: `message.content`", around(&[], text, &stop), TRUTH, "each line is an event"),
            row("`/api/generate`: `response`", around(&[], generate, &stop), TRUTH, "each line is an event"),
            row("`thinking`", around(&[], thinking, &stop), Truth { reasoning: 10, ..TRUTH }, "reasoning is content")
                .not_known(&[Reasoning]),
            row("`tool_calls`", around(&[], calls, &stop), TRUTH, "a call is content"),
            row(
                "`done_reason: length`",
                around(&[], text, &[line(&done("length"))]),
                FULL,
                "reasons have several names",
            ),
            row(
                "`{\"error\": \"boom\"}` after ten words",
                broken(around(&[], text, &[]), line(r#"{"error":"boom"}"#)),
                FAILED,
                "an error makes an answer bad",
            ),
            row(
                "no `\"done\": true`",
                around(&[], text, &[]),
                Truth { content_events: 20, ..CUT },
                "an answer has an end",
            ),
            row(
                "the last line lacks its end",
                around(&[], text, &unended),
                Truth { content_events: 20, ..CUT },
                "a line has an end: the answer is not complete",
            ),
        ],
    )
}

fn natives() -> Vec<Row> {
    let token = |text: &str, special: bool, rest: &str| {
        format!("data:{{\"index\":1,\"token\":{{\"id\":5,\"text\":\"{text}\",\"logprob\":-1.0,\"special\":{special}}},{rest}}}\n\n").into_bytes()
    };
    let going = r#""generated_text":null,"details":null"#;
    let over = |tokens: u64| {
        format!(
            r#""generated_text":"all","details":{{"finish_reason":"eos_token","generated_tokens":{tokens},"seed":null}}"#
        )
    };
    let tgi = |_: usize| token("w", false, going);
    let only_end = token("</s>", true, r#""generated_text":"""#);
    let special = Truth { per_token: Some(19), tokens: Some(21), ..TRUTH };
    let tgi_rows = of(
        LlmApi::Tgi,
        vec![
            row(
                "`token.text`, `details` with the last",
                around(&[], |i| if i == 19 { token("w", false, &over(20)) } else { tgi(i) }, &[]),
                TRUTH,
                "the last token has the details",
            ),
            row(
                "a special token at the end",
                around(&[], tgi, &[token("</s>", true, &over(21))]),
                special,
                "a special token is counted, and is no text",
            ),
            row(
                "only the special token, and `\"generated_text\": \"\"`",
                vec![(100, only_end)],
                Truth { end: "another reason", ..EMPTY },
                "a text that is empty, and not null, ends an answer",
            )
            .not_known(&[Tokens]),
            row(
                "the text only in `generated_text`",
                vec![(480, event(&format!(r#"{{"token":null,{}}}"#, over(20))))],
                Truth { first: Some(480), gaps: None, per_token: None, content_events: 1, ..TRUTH },
                "nothing tells when the tokens of a whole came",
            )
            .not_known(&[Ttft, Itl, Tpot, Content, Reasoning]),
            row(
                "`{\"error\": …}` after ten words",
                broken(around(&[], tgi, &[]), event(r#"{"error":"boom","error_type":"generation"}"#)),
                FAILED,
                "an error makes an answer bad",
            ),
        ],
    );
    let piece = |more: &str, i: usize| {
        event(&format!(r#"{{"index":0,"content":"w","tokens":[5],"stop":false,"tokens_predicted":{}{more}}}"#, i + 1))
    };
    let last = |more: &str| {
        event(&format!(r#"{{"index":0,"content":"","stop":true,"tokens_predicted":20,"tokens_evaluated":7{more}}}"#))
    };
    let llama = |end: Vec<u8>| around(&[], |i| piece("", i), &[end]);
    let llama_rows = of(
        LlmApi::Llamacpp,
        vec![
            row(
                "`content`, `\"stop\": true` at the end",
                llama(last(r#","stop_type":"eos""#)),
                TRUTH,
                "the last event has the count",
            ),
            row("`stop_type: limit`", llama(last(r#","stop_type":"limit""#)), FULL, "reasons have several names"),
            row(
                "`stopped_limit: true`, as before `stop_type`",
                llama(last(r#","stopped_eos":false,"stopped_limit":true"#)),
                FULL,
                "reasons have several names",
            ),
            row(
                "`{\"error\": …}` after ten words",
                broken(llama(last("")), event(r#"{"error":{"code":500,"message":"boom"}}"#)),
                FAILED,
                "an error makes an answer bad",
            ),
        ],
    );
    let grown = |i: usize, index: usize, tokens: usize, finish: &str| {
        event(&format!(
            r#"{{"index":{index},"text":"{}","meta_info":{{"id":"r","prompt_tokens":7,"completion_tokens":{tokens},"finish_reason":{finish}}}}}"#,
            "w".repeat(i + 1)
        ))
    };
    let one = |i: usize| grown(i, 0, i + 1, "null");
    let two = |i: usize| grown(i / 2, i % 2, i / 2 + 1, if i >= 18 { r#"{"type":"length"}"# } else { "null" });
    let again = [grown(19, 0, 20, r#"{"type":"length","length":20}"#), event(DONE)];
    let aborted = grown(9, 0, 10, r#"{"type":"abort","message":"x"}"#);
    let sglang_rows = of(
        LlmApi::Sglang,
        vec![
            row(
                "`text` has all text until now, and again at the end",
                around(&[], one, &again),
                FULL,
                "a text is new if it has more tokens than before",
            ),
            row(
                "`finish_reason: {\"type\": \"abort\"}` after ten words",
                broken(around(&[], one, &[]), aborted),
                FAILED,
                "a reason may be an error",
            ),
            row(
                "`\"n\": 2`, both in turn",
                around(&[], two, &[event(DONE)]),
                Truth { gaps: Some((40, 40)), per_token: Some(40), ..FULL },
                "which of two texts grew is not understood",
            )
            .not_known(&[Itl, Tpot, Content, Tokens, Reasoning]),
        ],
    );
    [tgi_rows, llama_rows, sglang_rows].into_iter().flatten().collect()
}

const COHERE: &str = "text = 'delta.message.content.text'\nfinish = 'delta.finish_reason'\nend = 'type == message-end'\n\
                      finish-errors = ['ERROR']\n[usage]\noutput = 'delta.usage.tokens.output_tokens'\n\
                      input = 'delta.usage.tokens.input_tokens'\n";

fn described() -> Vec<Row> {
    let head = [typed("message-start", r#","id":"m","delta":{"message":{"role":"assistant"}}"#)];
    let text = |_: usize| typed("content-delta", r#","index":0,"delta":{"message":{"content":{"text":"w"}}}"#);
    let end = |reason: &str| {
        typed(
            "message-end",
            &format!(
                r#","delta":{{"finish_reason":"{reason}","usage":{{"tokens":{{"input_tokens":7,"output_tokens":20}}}}}}"#
            ),
        )
    };
    [
        row(
            "`content-delta` and `message-end` (Cohere)",
            around(&head, text, &[end("COMPLETE")]),
            TRUTH,
            "a file says where things are",
        ),
        row(
            "`finish_reason: ERROR` after ten words (Cohere)",
            broken(around(&head, text, &[]), end("ERROR")),
            FAILED,
            "a reason may be an error",
        ),
    ]
    .into_iter()
    .map(|row| Row { api: Err(COHERE), ..row })
    .collect()
}

pub(super) fn rows() -> Vec<Row> {
    [ollama(), natives(), described()].into_iter().flatten().collect()
}
