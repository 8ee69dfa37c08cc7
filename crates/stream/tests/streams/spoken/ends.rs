//! Ends, and errors within an answer.

use super::*;

const FAILING: &str = "an error in any form";

/// Returns the usual answer with this reason, as JSON.
fn reason(reason: &str) -> Script {
    let last = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":""}},"finish_reason":{reason}}}]}}"#);
    then(said(word), &[&last, USAGE, DONE])
}

fn reasons() -> Vec<Row> {
    let last_word = |i: usize| match i {
        19 => r#"{"choices":[{"index":0,"delta":{"content":"end"},"finish_reason":"stop"}]}"#.to_owned(),
        _ => word(i),
    };
    let good =
        |how, json: &str, end| row(how, reason(json), Truth { end, ..TRUTH }, "reasons have several names and forms");
    let bad = |how, json: &str| {
        let last = format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":{json}}}]}}"#);
        row(how, ten_and(&format!("data: {last}\n\ndata: {DONE}\n\n")), FAILED, "a reason may be an error")
    };
    vec![
        good("`finish_reason: length`", "\"length\"", "length"),
        good("`finish_reason: {\"type\": \"length\"}`", r#"{"type":"length","length":20}"#, "length"),
        good("`finish_reason: MAX_TOKENS`", "\"MAX_TOKENS\"", "length"),
        good("`finish_reason: sensitive` (Zhipu)", "\"sensitive\"", "content filter"),
        good("`finish_reason: because`", "\"because\"", "another reason"),
        row(
            "`finish_reason` in the event of the last content",
            then(said(last_word), &[USAGE, DONE]),
            TRUTH,
            "an event may end and have content",
        ),
        row(
            "`finish_reason: \"\"` or `\"null\"` until the end",
            ended(|i| {
                word(i).replace(
                    "\"finish_reason\":null",
                    if i % 2 == 0 { "\"finish_reason\":\"\"" } else { "\"finish_reason\":\"null\"" },
                )
            }),
            TRUTH,
            "an empty reason is none",
        ),
        bad("`finish_reason: error`", "\"error\""),
        bad("`finish_reason: insufficient_system_resource` (DeepSeek)", "\"insufficient_system_resource\""),
        bad("`finish_reason: network_error` (Zhipu)", "\"network_error\""),
        bad("`finish_reason: ERROR_LIMIT` (Cohere)", "\"ERROR_LIMIT\""),
        bad("`finish_reason: request_timeout`", "\"request_timeout\""),
        bad("`finish_reason: NetworkError`", "\"NetworkError\""),
        bad("`finish_reason: engine_overloaded`", "\"engine_overloaded\""),
        bad("`finish_reason: generation_failed`", "\"generation_failed\""),
        bad("`finish_reason: {\"type\": \"abort\"}` (SGLang)", r#"{"type":"abort","message":"x"}"#),
    ]
}

fn marks() -> Vec<Row> {
    let tail = |bytes: &str| {
        let mut script = then(said(word), &[FINISH, USAGE]);
        script.push((480, bytes.as_bytes().to_vec()));
        script
    };
    let finished = "a `finish_reason` ends an answer";
    let late = "a mark at the very end counts";
    let lost = Truth { content_events: 20, ..CUT };
    vec![
        row("no `[DONE]`", tail(""), TRUTH, finished),
        row("`[DONE]` with blanks around it", tail("data:   [DONE] \n\n"), TRUTH, "blanks do not count"),
        row("`[DONE]` without an empty line", tail("data: [DONE]\n"), TRUTH, late),
        row("`[DONE]` without the end of a line", tail("data: [DONE]"), TRUTH, late),
        row("`{\"done\": true}` in its place", tail("data: {\"done\":true}\n\n"), TRUTH, finished),
        row("`[DONE]` twice", tail("data: [DONE]\n\ndata: [DONE]\n\n"), TRUTH, "the first mark ends an answer"),
        row(
            "text after `[DONE]`",
            tail(&format!("data: [DONE]\n\ndata: {}\n\n", word(0))),
            TRUTH,
            "the mark ends an answer",
        ),
        row(
            "`[DONE]`, and no `finish_reason`",
            then(said(word), &[USAGE, DONE]),
            Truth { end: "no reason", ..TRUTH },
            "the mark ends an answer",
        ),
        row("neither `[DONE]` nor `finish_reason`", then(said(word), &[USAGE]), lost, "an answer has an end"),
        row("the connection ends inside an event", tail("data: {\"a\""), lost, "half an event is no end"),
        row("the connection ends after ten words", ten_and(""), CUT, "an answer has an end"),
    ]
}

fn errors() -> Vec<Row> {
    let failing = |how, bytes: &str| row(how, ten_and(bytes), FAILED, FAILING);
    let at_once = Truth { first: None, gaps: None, content_events: 0, ..FAILED };
    let error = "data: {\"error\":{\"message\":\"overloaded\",\"code\":503}}\n\ndata: [DONE]\n\n";
    vec![
        failing(
            "`event: error` with `{\"message\": …}`",
            "event: error\ndata: {\"message\":\"boom\",\"code\":500}\n\ndata: [DONE]\n\n",
        ),
        failing("`event: error` with plain text", "event: error\ndata: Internal Server Error\n\n"),
        failing("`{\"error\": {…}}`, and nothing after it", "data: {\"error\":{\"message\":\"boom\"}}\n\n"),
        failing(
            "`{\"choices\": [], \"error\": {…}}`",
            "data: {\"choices\":[],\"error\":{\"message\":\"boom\"}}\n\ndata: [DONE]\n\n",
        ),
        failing(
            "`{\"choices\": [], \"code\": 500, \"message\": …}`",
            "data: {\"choices\":[],\"code\":500,\"message\":\"boom\"}\n\ndata: [DONE]\n\n",
        ),
        failing(
            "`{\"choices\": [], \"detail\": …}`, and a usage of zeros",
            "data: {\"choices\":[],\"detail\":\"boom\",\"usage\":{\"completion_tokens\":0}}\n\ndata: [DONE]\n\n",
        ),
        failing(
            "`{\"choices\": [], \"error_code\": 50001}`",
            "data: {\"choices\":[],\"error_code\":50001}\n\ndata: [DONE]\n\n",
        ),
        failing("`{\"error\": \"boom\"}`", "data: {\"error\":\"boom\"}\n\ndata: [DONE]\n\n"),
        failing("`{\"type\": \"error\", …}`", "data: {\"type\":\"error\",\"message\":\"boom\"}\n\ndata: [DONE]\n\n"),
        failing("`{\"code\": 500, \"message\": …}`", "data: {\"code\":500,\"message\":\"boom\"}\n\ndata: [DONE]\n\n"),
        failing(
            "`{\"base_resp\": {\"status_code\": 1002}}` (MiniMax)",
            "data: {\"choices\":null,\"base_resp\":{\"status_code\":1002,\"status_msg\":\"rate limit\"}}\n\ndata: [DONE]\n\n",
        ),
        failing("`{\"detail\": …}` (FastAPI)", "data: {\"detail\":\"Internal Server Error\"}\n\ndata: [DONE]\n\n"),
        failing("`{\"errors\": […]}`", "data: {\"errors\":[{\"message\":\"boom\"}]}\n\ndata: [DONE]\n\n"),
        failing(
            "`{\"text\": …, \"error_code\": 50001}` (FastChat)",
            "data: {\"text\":\"NETWORK ERROR\",\"error_code\":50001}\n\ndata: [DONE]\n\n",
        ),
        failing("`{\"error_msg\": …}`", "data: {\"error_msg\":\"boom\"}\n\ndata: [DONE]\n\n"),
        failing("`{\"status\": \"error\"}`", "data: {\"status\":\"error\"}\n\ndata: [DONE]\n\n"),
        row(
            "`{\"message\": …}`, and no code",
            ten_and("data: {\"message\":\"Internal Server Error\"}\n\ndata: [DONE]\n\n"),
            FAILED,
            "what is not understood may be an error: the answer is not complete",
        )
        .not_known(&[Itl, Tpot, Content, Tokens, Reasoning, End]),
        row(
            "an error after `finish_reason`",
            then(said(word), &[FINISH, r#"{"error":{"message":"boom"}}"#, DONE]),
            Truth { content_events: 20, ..FAILED },
            "an error makes an answer bad, whatever else came",
        ),
        row("an error, and no word before it", vec![(100, error.as_bytes().to_vec())], at_once, FAILING),
        row(
            "`Internal Server Error` as data",
            ten_and("data: Internal Server Error\n\ndata: [DONE]\n\n"),
            FAILED,
            "what is not understood may be an error: the answer is not complete",
        )
        .not_known(&[Itl, Tpot, Content, Tokens, Reasoning, End]),
        row(
            "`error: null` in each event",
            ended(|i| chunk_with(&format!(r#""content":"w{i}""#), r#","error":null"#)),
            TRUTH,
            "null is no error",
        ),
        row(
            "`{\"code\": 0, \"message\": \"ok\"}` at the end",
            then(said(word), &[FINISH, USAGE, r#"{"code":0,"message":"ok"}"#, DONE]),
            TRUTH,
            "a code of 0 is no error",
        ),
        row(
            "`{\"choices\": [], \"code\": 200, \"message\": \"success\"}` at the end",
            then(said(word), &[FINISH, USAGE, r#"{"choices":[],"code":200,"message":"success"}"#, DONE]),
            TRUTH,
            "a code of 200 is no error",
        ),
        row(
            "`{\"error_code\": 0, \"error_msg\": \"success\"}` at the end",
            then(said(word), &[FINISH, USAGE, r#"{"error_code":0,"error_msg":"success"}"#, DONE]),
            TRUTH,
            "a code of 0 is no error",
        ),
        row(
            "`base_resp` with `status_code: 0` (MiniMax)",
            ended(|i| chunk_with(&format!(r#""content":"w{i}""#), r#","base_resp":{"status_code":0,"status_msg":""}"#)),
            TRUTH,
            "a code of 0 is no error",
        ),
    ]
}

fn empties() -> Vec<Row> {
    let only = |tokens: u64| {
        let usage = format!(r#"{{"choices":[],"usage":{{"completion_tokens":{tokens}}}}}"#);
        vec![(10, event(ROLE)), (100, event(FINISH)), (100, event(&usage)), (100, event(DONE))]
    };
    let one = vec![
        (10, event(ROLE)),
        (100, event(&word(0))),
        (100, event(FINISH)),
        (100, event(r#"{"choices":[],"usage":{"completion_tokens":1}}"#)),
        (100, event(DONE)),
    ];
    let one_token = Truth { gaps: None, per_token: None, content_events: 1, tokens: Some(1), ..TRUTH };
    let no_word = Truth { first: None, gaps: None, content_events: 0, ..CUT };
    vec![
        row("no word, and a good end", only(0), EMPTY, "without content there is no first token"),
        row(
            "no word, and one token (the end of the text)",
            only(1),
            Truth { tokens: Some(1), ..EMPTY },
            "without content there is no first token",
        )
        .not_known(&[Tpot]),
        row("one word", one, one_token, "an answer of one token has no TPOT"),
        row("the role, and nothing else", vec![(10, event(ROLE)), (100, Vec::new())], no_word, "a role is no content"),
    ]
}

pub(super) fn rows() -> Vec<Row> {
    [reasons(), marks(), errors(), empties()].into_iter().flatten().collect()
}
