//! Services and servers that speak as OpenAI's `/v1/chat/completions`, each in its own way.

use super::*;

fn clouds() -> Vec<Row> {
    let filtered = |i: usize| {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"content":"w{i}"}},"finish_reason":null,"content_filter_results":{{"hate":{{"filtered":false,"severity":"safe"}}}}}}]}}"#
        )
    };
    let prompt = r#"{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}"#;
    let offsets = r#"{"choices":[{"index":0,"content_filter_offsets":{"check_offset":44},"content_filter_results":{},"finish_reason":null}]}"#;
    let mut azure = then(said(filtered), &[FINISH, offsets, USAGE, DONE]);
    azure.insert(0, (5, event(prompt)));
    let stopped = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter","content_filter_results":{"hate":{"filtered":true}}}]}"#;
    let mut own_data = ended(word);
    let context =
        r#""role":"assistant","context":{"citations":[{"content":"a page"}],"intent":"[\"q\"]"},"end_turn":false"#;
    own_data[0] = (10, event(&chunk(context)));
    let opaque = r#"{"choices":[{"index":0,"delta":{"content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"AAAA"}]},"finish_reason":null}]}"#;
    let hidden = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":520,"total_tokens":527,"completion_tokens_details":{"reasoning_tokens":500}}}"#;
    let mut encrypted = then(said(word), &[FINISH, hidden, DONE]);
    encrypted.insert(1, (60, event(opaque)));
    let processing = b": OPENROUTER PROCESSING\n\n".to_vec();
    let mut commented = ended(word);
    commented.insert(1, (50, processing.clone()));
    commented.insert(9, (250, processing));
    let in_choice = r#"{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"x"}}]}"#;
    vec![
        row(
            "`prompt_filter_results` with no choice in front, `content_filter_results`, offsets (Azure)",
            azure,
            TRUTH,
            "content is text",
        ),
        row(
            "`finish_reason: content_filter` (Azure)",
            then(said(filtered), &[stopped, USAGE, DONE]),
            Truth { end: "content filter", ..TRUTH },
            "a filter is no error",
        ),
        row(
            "`context` with citations in the first delta (Azure on your data)",
            own_data,
            TRUTH,
            "what the model did not write is no content",
        ),
        row("comments: `: OPENROUTER PROCESSING`", commented, TRUTH, "what keeps a connection open is no content"),
        row(
            "encrypted reasoning, and its tokens in `reasoning_tokens` (OpenRouter)",
            encrypted,
            Truth { tokens: Some(520), reasoning: 500, ..TRUTH },
            "TPOT is of the tokens that were sent",
        ),
        row("`choices[].error` (OpenRouter)", ten_and(&of_events(&[in_choice, DONE])), FAILED, "an error in any place"),
    ]
}

/// Returns these events as bytes.
fn of_events(events: &[&str]) -> String {
    events.iter().map(|data| format!("data: {data}\n\n")).collect()
}

fn groq_and_others() -> Vec<Row> {
    let groq = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":7,"completion_tokens":20,"total_tokens":27}}}"#;
    let groq_error =
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":null}],"x_groq":{"id":"r","error":"over_capacity"}}"#;
    let cumulative = |i: usize| {
        let end = if i == 19 { "\"stop\"" } else { "null" };
        format!(
            r#"{{"choices":[{{"index":0,"finish_reason":{end},"message":{{"role":"assistant","content":"{}"}},"delta":{{"role":"assistant","content":"w"}}}}],"usage":{{"prompt_tokens":7,"completion_tokens":{},"total_tokens":{}}},"citations":["http://a"]}}"#,
            "w".repeat(i + 1),
            i + 1,
            i + 8
        )
    };
    let together = |i: usize| {
        let end = if i == 19 { "\"eos\"" } else { "null" };
        format!(
            r#"{{"choices":[{{"index":0,"text":"w","logprobs":null,"seed":null,"delta":{{"token_id":5,"role":"assistant","content":"w","tool_calls":null}},"finish_reason":{end}}}],"usage":null}}"#
        )
    };
    let fireworks = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"total_tokens":27,"completion_tokens":20},"perf_metrics":null}"#;
    let kimi = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":7,"completion_tokens":20,"total_tokens":27}}]}"#;
    let xai = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":20,"total_tokens":527,"completion_tokens_details":{"reasoning_tokens":500}}}"#;
    let lite =
        r#"{"choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":7,"completion_tokens":20,"total_tokens":27}}"#;
    let deepseek = r#"{"choices":[{"index":0,"delta":{"content":"","reasoning_content":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":20,"total_tokens":27,"prompt_cache_hit_tokens":5,"prompt_cache_miss_tokens":2,"completion_tokens_details":{"reasoning_tokens":10}}}"#;
    let mistral = r#"{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":7,"total_tokens":27,"completion_tokens":20}}"#;
    let thought = half(r#""reasoning_content":"hm","content":null"#);
    let spark = |i: usize| {
        format!(
            r#"{{"code":0,"message":"Success","sid":"s","choices":[{{"index":0,"delta":{{"role":"assistant","content":"w{i}"}}}}]}}"#
        )
    };
    let lasting = |events: &[&str]| then(said(word), events);
    let names = "counts have several names and places";
    vec![
        row("`x_groq.usage` in the last event (Groq)", lasting(&[groq, DONE]), TRUTH, names),
        row("`x_groq.error` (Groq)", ten_and(&of_events(&[groq_error, DONE])), FAILED, "an error in any place"),
        row(
            "all text until now as `message` beside each `delta`, no `[DONE]` (Perplexity)",
            twenty(|i| event(&cumulative(i))),
            TRUTH,
            "only the delta is new",
        ),
        row(
            "`text` beside each `delta`, `finish_reason: eos` (Together)",
            then(said(together), &[USAGE, DONE]),
            TRUTH,
            "a text that comes twice counts once",
        ),
        row("usage in the event with `finish_reason` (Fireworks)", lasting(&[fireworks, DONE]), TRUTH, names),
        row("`choices[].usage` (Moonshot)", lasting(&[kimi, DONE]), TRUTH, names),
        row(
            "reasoning counted beside `completion_tokens` (xAI)",
            lasting(&[FINISH, xai, DONE]),
            Truth { tokens: Some(520), reasoning: 500, ..TRUTH },
            "the total tells what is in the sum",
        ),
        row(
            "usage in an event with an empty delta, the costs after `[DONE]` (LiteLLM)",
            lasting(&[FINISH, lite, DONE, r#"{"cost":0.1}"#]),
            TRUTH,
            "the mark ends an answer",
        ),
        row(
            "`reasoning_content`, counted in `reasoning_tokens` (DeepSeek)",
            then(said(thought), &[deepseek, DONE]),
            Truth { reasoning: 10, ..TRUTH },
            "reasoning that was sent counts for TPOT",
        ),
        row(
            "usage in the event with `finish_reason: length` (Mistral)",
            lasting(&[mistral, DONE]),
            Truth { end: "length", ..TRUTH },
            names,
        ),
        row(
            "`\"code\": 0, \"message\": \"Success\"` in each event (Spark)",
            then(said(spark), &[FINISH, USAGE, DONE]),
            TRUTH,
            "a code of 0 is no error",
        ),
    ]
}

fn servers() -> Vec<Row> {
    let counted = |i: usize| {
        chunk_with(
            &format!(r#""content":"w{i}""#),
            &format!(r#","usage":{{"prompt_tokens":7,"total_tokens":{},"completion_tokens":{}}}"#, i + 8, i + 1),
        )
    };
    let mut continuous = then(said(counted), &[FINISH, USAGE, DONE]);
    continuous[0].1 = event(
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":7,"total_tokens":7,"completion_tokens":0}}"#,
    );
    let sglang = r#"{"choices":[{"index":0,"delta":{"role":null,"content":null,"reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":"stop","matched_stop":2}],"usage":null}"#;
    let timings = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"timings":{"cache_n":2,"prompt_n":5,"predicted_n":20,"predicted_ms":380.0}}"#;
    let context =
        "error: {\"code\":400,\"message\":\"the request exceeds the available context size\"}\n\ndata: [DONE]\n\n";
    let overloaded = r#"{"error":"Model is overloaded","error_type":"overloaded"}"#;
    let old = r#"{"object":"error","message":"boom","type":"InternalServerError","param":null,"code":500}"#;
    let now = r#"{"error":{"message":"boom","type":"InternalServerError","param":null,"code":500}}"#;
    let any = "an error in any form";
    let abort = finish("abort");
    vec![
        row("`continuous_usage_stats`: usage in each event (vLLM)", continuous, TRUTH, "the last count is the sum"),
        row("`{\"object\": \"error\"}` (older vLLM)", ten_and(&of_events(&[old, DONE])), FAILED, any),
        row("`{\"error\": {…}}`, then `[DONE]` (vLLM)", ten_and(&of_events(&[now, DONE])), FAILED, any),
        row(
            "`finish_reason: abort`, usage, `[DONE]` (vLLM)",
            ten_and(&of_events(&[&abort, USAGE, DONE])),
            FAILED,
            "a reason may be an error",
        ),
        row(
            "members that are null, and `matched_stop` (SGLang)",
            then(said(word), &[sglang, USAGE, DONE]),
            TRUTH,
            "null is no content",
        ),
        row(
            "`timings` in place of usage (llama.cpp)",
            then(said(word), &[timings, DONE]),
            TRUTH,
            "counts have several names and places",
        ),
        row(
            "a line `error: {…}`, then `[DONE]` (llama.cpp until 2025)",
            ten_and(context),
            FAILED,
            "a field named error is an error, also if the standard knows no such field",
        ),
        row("`{\"error\": \"…\", \"error_type\": …}` (TGI)", ten_and(&of_events(&[overloaded])), FAILED, any),
    ]
}

pub(super) fn rows() -> Vec<Row> {
    [clouds(), groq_and_others(), servers()].into_iter().flatten().collect()
}
