//! Answers that repeat the prompt, and answers whose content comes whole, not in pieces.

use super::others::{FULL, around, broken, of, typed};
use super::*;

/// Answers of requests with `"echo": true`. Nothing tells where the prompt ends.
pub(super) fn echoes() -> Vec<Row> {
    let text = |text: &str| {
        event(&format!(
            r#"{{"object":"text_completion","choices":[{{"index":0,"text":"{text}","logprobs":null,"finish_reason":null}}]}}"#
        ))
    };
    let word = |i: usize| text(&format!("w{i} "));
    let last = event(r#"{"object":"text_completion","choices":[{"index":0,"text":"","finish_reason":"length"}]}"#);
    let tail = [last.clone(), event(USAGE), event(DONE)];
    let no_token = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":0,"total_tokens":7}}"#;
    let with_first = |i: usize| if i == 0 { text("the prompt again w0") } else { word(i) };
    let only_prompt = [event(no_token), event(DONE)];
    let rule = "what may be the prompt has no time";
    let unknown: &[Field] = &[Ttft, Itl, Tpot, Content];
    let all = of(
        LlmApi::OpenaiCompletions,
        vec![
            row(
                "`\"echo\": true`: the prompt in front, in an event of its own",
                around(&[text("the prompt again ")], word, &tail),
                FULL,
                rule,
            )
            .not_known(unknown),
            row(
                "`\"echo\": true`: the prompt token by token",
                around(&[text("the "), text("prompt ")], word, &tail),
                FULL,
                rule,
            )
            .not_known(unknown),
            row(
                "`\"echo\": true`: the prompt and the first token in one event (vLLM)",
                around(&[], with_first, &tail),
                FULL,
                rule,
            )
            .not_known(unknown),
            row(
                "`\"echo\": true` and `\"max_tokens\": 0`: the prompt, and no token",
                vec![(100, text("the prompt again ")), (100, last), (100, only_prompt.concat())],
                Truth { end: "length", ..EMPTY },
                rule,
            )
            .not_known(&[Ttft, Itl, Tpot, Content, Tokens]),
            row(
                "`\"echo\": true`, and an error after ten words",
                broken(around(&[text("the prompt again ")], word, &[]), event(r#"{"error":{"message":"boom"}}"#)),
                FAILED,
                "an error makes an answer bad",
            )
            .not_known(&[Ttft, Itl, Content]),
        ],
    );
    let chat = row(
        "`\"echo\": true`: the last message in front (vLLM)",
        then(said_after_echo(), &[FINISH, USAGE, DONE]),
        TRUTH,
        rule,
    )
    .not_known(unknown);
    all.into_iter().chain([chat]).map(Row::with_echo).collect()
}

fn said_after_echo() -> Script {
    [
        vec![(10, event(&chunk(r#""role":"assistant","content":"the message again ""#)))],
        twenty(|i| event(&super::word(i))),
    ]
    .concat()
}

/// Answers of `/v1/responses` with texts and calls that come whole.
pub(super) fn responses() -> Vec<Row> {
    let head = [typed("response.created", r#","response":{"id":"r","status":"in_progress","output":[],"usage":null}"#)];
    let at_item = |kind: &str, item: u64, more: &str| {
        typed(&format!("response.{kind}"), &format!(r#","output_index":{item},"content_index":0{more}"#))
    };
    let delta = |item: u64| move |_: usize| at_item("output_text.delta", item, r#","delta":"w""#);
    let message = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"all","annotations":[],"logprobs":[]}]}"#;
    let thought = r#"{"type":"reasoning","summary":[],"encrypted_content":"AAAA"}"#;
    let call = r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":1}"}"#;
    let search = r#"{"type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}}"#;
    let text_done = |item: u64| at_item("output_text.done", item, r#","text":"all""#);
    let part_done = |item: u64| at_item("content_part.done", item, r#","part":{"type":"output_text","text":"all"}"#);
    let item_done = |number: u64, item: &str| at_item("output_item.done", number, &format!(r#","item":{item}"#));
    let completed = |output: &str, tokens: u64| {
        typed(
            "response.completed",
            &format!(
                r#","response":{{"id":"r","error":null,"output":[{output}],"usage":{{"input_tokens":7,"output_tokens":{tokens}}}}}"#
            ),
        )
    };
    let whole = |events: &[Vec<u8>]| -> Script { vec![(10, head[0].clone()), (480, events.concat())] };
    let at_once = Truth { first: Some(480), gaps: None, per_token: None, content_events: 1, ..TRUTH };
    let rule = "nothing tells when the tokens of a whole came";
    let unknown: &[Field] = &[Ttft, Itl, Tpot, Content, Reasoning];
    let usual_end = [text_done(1), part_done(1), item_done(1, message), completed(&format!("{thought},{message}"), 20)];
    let reasoned =
        [head[0].clone(), at_item("output_item.added", 0, &format!(r#","item":{thought}"#)), item_done(0, thought)];
    let searched = [head[0].clone(), item_done(0, search)];
    let unnumbered = |_: usize| typed("response.output_text.delta", r#","delta":"w""#);
    let no_number =
        [typed("response.output_text.done", r#","text":"all""#), completed(&format!("{thought},{message}"), 20)];
    let mut called = around(&head, delta(0), &[]);
    called.push((500, [item_done(1, call), completed(&format!("{message},{call}"), 21)].concat()));
    let mut called_at_end = around(&head, delta(0), &[]);
    called_at_end.push((500, [text_done(0), completed(&format!("{message},{call}"), 21)].concat()));
    let with_call = Truth { content_events: 21, tokens: Some(21), ..TRUTH };
    of(
        LlmApi::OpenaiResponses,
        vec![
            row(
                "reasoning and all `….done` events (OpenAI)",
                around(&reasoned, delta(1), &usual_end),
                TRUTH,
                "what came in pieces comes again whole",
            ),
            row(
                "`web_search_call` in front",
                around(&searched, delta(1), &usual_end),
                TRUTH,
                "a search is the server's own",
            ),
            row(
                "deltas without `output_index`",
                around(&head, unnumbered, &no_number),
                TRUTH,
                "what came in pieces comes again whole",
            ),
            row(
                "the text only in `response.output_text.done`",
                whole(&[text_done(0), completed(message, 20)]),
                at_once,
                rule,
            )
            .not_known(unknown),
            row(
                "the text only in `response.output_item.done`",
                whole(&[item_done(0, message), completed("", 20)]),
                at_once,
                rule,
            )
            .not_known(unknown),
            row("the text only in `response.completed`", whole(&[completed(message, 20)]), at_once, rule)
                .not_known(unknown),
            row(
                "the text only in `response.completed`, after 80 KB of the prompt",
                whole(&[typed(
                    "response.completed",
                    &format!(r#","response":{{"instructions":"{}","output":[{message}]}}"#, "x".repeat(80_000)),
                )]),
                Truth { tokens: None, ..at_once },
                rule,
            )
            .not_known(&[Ttft, Itl, Tpot, Content, Tokens, Reasoning]),
            row("text in pieces, and a call only in `response.output_item.done`", called, with_call, rule)
                .not_known(&[Itl, Tpot, Content, Reasoning]),
            row("text in pieces, and a call only in `response.completed`", called_at_end, with_call, rule)
                .not_known(&[Itl, Tpot, Content, Reasoning]),
        ],
    )
}
