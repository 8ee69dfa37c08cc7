//! Ways in which servers of language models speak: what is true of each answer, and what is shown of it. Times are set,
//! not measured, so that the truth is exact.

use std::fmt::Write;

use truetail_engine::{AnswerHead, EndedRequest, FieldList, RequestId};
use truetail_model::arrival::Arrival;
use truetail_model::record::{Outcome, RequestRecord, Samples, SamplesOptions};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{FinishCounts, LlmApi, StreamEnding, StreamFacts, StreamTime};
use truetail_stream::{LlmOptions, StreamOptions, StreamRun};

use crate::MS;

/// Bytes that arrive at these milliseconds.
pub(crate) type Script = Vec<(u64, Vec<u8>)>;

/// What is shown of an answer, in milliseconds; `None` if it is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shown {
    pub(crate) first: Option<u64>,
    /// Smallest and largest gap.
    pub(crate) gaps: Option<(u64, u64)>,
    pub(crate) per_token: Option<u64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) ending: StreamEnding,
}

/// The truth of most answers: 20 tokens, the first after 100 ms, one every 20 ms.
const TRUTH: Shown = Shown {
    first: Some(100),
    gaps: Some((20, 20)),
    per_token: Some(20),
    tokens: Some(20),
    ending: StreamEnding::Complete,
};
/// Answers whose server does not count.
const UNCOUNTED: Shown = Shown { per_token: None, tokens: None, ..TRUTH };
/// Ten tokens, then an error.
const FAILED: Shown = Shown { per_token: None, tokens: None, ending: StreamEnding::ServerError, ..TRUTH };

/// Returns the facts of one answer, due and sent at 0.
pub(crate) fn facts(script: &Script, options: StreamOptions, content_type: &str) -> StreamFacts {
    facts_of_run(script, StreamRun::new(options, Timestamp::ZERO), content_type, usize::MAX)
}

/// Returns the facts of an answer to the first target of a run. It is read in parts of at most this length.
pub(crate) fn facts_of_run(script: &Script, run: StreamRun, content_type: &str, length: usize) -> StreamFacts {
    let mut observer = run.observer_factory().observer();
    let mut fields = FieldList::default();
    fields.push(b"content-type", content_type.as_bytes());
    let arrival = Arrival { index: 0, intended_start: Timestamp::ZERO };
    observer.begin(0, 0, arrival);
    observer.arrive(Timestamp(MS));
    observer.head(0, AnswerHead::with_fields(200, &fields));
    for (at, bytes) in script {
        observer.arrive(Timestamp(at * MS));
        bytes.chunks(length).for_each(|part| observer.body(0, part));
    }
    let id = RequestId { target: 0, row: 0 };
    let end = Timestamp(script.last().map_or(1, |(at, _)| *at) * MS);
    let outcome = Outcome::response(200);
    observer.end(0, EndedRequest { arrival, id, outcome, start: Timestamp::ZERO, end });
    observer.finish(end);
    let record = RequestRecord::new(arrival, Timestamp::ZERO, end, outcome);
    let options = SamplesOptions { capacity: 1, slowest: 0 };
    let facts = run.facts(&Samples::from_parts(options, vec![record], 1, &[], 1));
    assert_eq!(facts.imbalance(1), None, "{facts:?}");
    check_row(&facts);
    facts
}

/// Checks that the row of the only answer says the same as the books.
fn check_row(facts: &StreamFacts) {
    let of = |time: StreamTime| facts.times.get(time);
    let row = facts.requests.of(0).expect("a run keeps the streams of its requests");
    let since_start = |at: Option<Timestamp>| at.map(|at| Nanos(at.0));
    assert_eq!(since_start(row.first_event), of(StreamTime::FirstEvent).max());
    let is_of_llm = facts.llm.is_some();
    if is_of_llm {
        assert_eq!(since_start(row.first_content), of(StreamTime::FirstContent).max());
        assert_eq!(row.time_per_output_token, of(StreamTime::TimePerOutputToken).max());
    }
    let gap = of(if is_of_llm { StreamTime::ContentGap } else { StreamTime::EventGap });
    let gaps = facts.requests.gaps_of(0).expect("they are few");
    assert_eq!((u64::from(row.gaps), gaps.len() as u64), (gap.count(), gap.count()));
    assert_eq!(gaps.iter().map(|gap| u128::from(gap.0)).sum::<u128>(), gap.sum_ns());
    assert_eq!((gaps.iter().min(), gaps.iter().max()), (gap.min().as_ref(), gap.max().as_ref()));
    let Some(llm) = &facts.llm else { return };
    let counted = llm.tokens.counted == 1;
    assert_eq!(u64::from(row.tokens.output.unwrap_or(0)), llm.tokens.output);
    assert_eq!(u64::from(row.tokens.input.unwrap_or(0)), llm.tokens.input);
    assert_eq!(u64::from(row.tokens.cached.unwrap_or(0)), llm.tokens.cached_input);
    assert_eq!(u64::from(row.tokens.reasoning.unwrap_or(0)), llm.tokens.reasoning);
    assert_eq!(row.tokens.input.is_some(), counted && llm.tokens.without_input == 0);
    assert_eq!(row.tokens.cached.is_some(), llm.tokens.with_cached == 1);
    if facts.tally.complete == 1 {
        let mut finish = FinishCounts::default();
        finish.count(row.finish);
        assert_eq!(finish, llm.finish);
    }
}

pub(crate) fn shown(facts: &StreamFacts) -> Shown {
    let of = |time: StreamTime| facts.times.get(time);
    let rounded = |ns: u64| (ns + MS / 2) / MS;
    let only = |time: StreamTime| of(time).max().map(|max| rounded(max.0));
    let gaps = of(StreamTime::ContentGap);
    let llm = facts.llm.as_ref().expect("it was asked for");
    let tally = facts.tally;
    let endings = [
        (tally.complete, StreamEnding::Complete),
        (tally.server_error, StreamEnding::ServerError),
        (tally.unfinished, StreamEnding::Unfinished),
        (tally.not_a_stream, StreamEnding::NotAStream),
    ];
    let ending = endings.into_iter().find(|(count, _)| *count == 1).expect("one ending").1;
    let is_known = llm.unmeasured.gaps == 0;
    Shown {
        first: only(StreamTime::FirstContent),
        gaps: gaps.min().zip(gaps.max()).filter(|_| is_known).map(|(min, max)| (rounded(min.0), rounded(max.0))),
        per_token: only(StreamTime::TimePerOutputToken),
        tokens: (llm.tokens.counted == 1).then_some(llm.tokens.output),
        ending,
    }
}

pub(crate) fn event(data: &str) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

/// Twenty pieces of content, the first after 100 ms, one every 20 ms.
pub(crate) fn twenty(piece: impl Fn(usize) -> Vec<u8>) -> Script {
    (0..20).map(|i| (100 + 20 * i as u64, piece(i))).collect()
}

fn delta(members: &str) -> Vec<u8> {
    event(&format!(r#"{{"id":"c","choices":[{{"index":0,"delta":{{{members}}},"finish_reason":null}}]}}"#))
}

fn word(i: usize) -> Vec<u8> {
    delta(&format!(r#""content":"w{i} ""#))
}

const FINISH: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":20}}"#;

/// Adds events at the end of a script.
pub(crate) fn then(mut script: Script, events: &[&str]) -> Script {
    let end = script.last().map_or(0, |(at, _)| *at);
    script.extend(events.iter().map(|data| (end, event(data))));
    script
}

fn ended(script: Script) -> Script {
    then(script, &[FINISH, USAGE, "[DONE]"])
}

/// Ten words, then these events.
fn ten_and(events: &[&str]) -> Script {
    let mut script = twenty(word);
    script.truncate(10);
    script.push((300, events.iter().flat_map(|data| event(data)).collect()));
    script
}

fn half_reasoning(members: &'static str) -> Script {
    ended(twenty(|i| if i < 10 { delta(members) } else { word(i) }))
}

fn with_tail(tail: &[u8]) -> Script {
    let mut script = then(twenty(word), &[FINISH, USAGE]);
    script.push((480, tail.to_vec()));
    script
}

/// Name, script, what is shown, and the rule.
pub(crate) type Row = (&'static str, Script, Shown, &'static str);

pub(crate) fn rows_of_content() -> Vec<Row> {
    let bytes = |text: &str, with: &[u8]| {
        let at = text.find('@').expect("a mark");
        [&text.as_bytes()[..at], with, &text.as_bytes()[at + 1..]].concat()
    };
    let raw =
        |with: &'static [u8]| ended(twenty(|_| bytes(&String::from_utf8(delta(r#""content":"@""#)).unwrap(), with)));
    let long = format!(
        r#"{{"choices":[{{"index":0,"delta":{{"content":"w"}},"logprobs":{{"x":"{}"}}}}]}}"#,
        "x".repeat(80_000)
    );
    let two = |i: usize| event(&format!(r#"{{"choices":[{{"index":{},"delta":{{"content":"w"}}}}]}}"#, i % 2));
    let empty_calls = delta(r#""content":"","tool_calls":[]"#);
    vec![
        ("base", ended(twenty(word)), TRUTH, "content is text"),
        ("reasoning", half_reasoning(r#""reasoning":"r","content":"""#), TRUTH, "reasoning is content"),
        (
            "reasoning_details",
            half_reasoning(r#""content":"","reasoning_details":[{"text":"r"}]"#),
            TRUTH,
            "by any name",
        ),
        ("thinking", half_reasoning(r#""thinking":"r""#), TRUTH, "by any name"),
        ("parts", half_reasoning(r#""content":[{"type":"thinking","thinking":[{"text":"r"}]}]"#), TRUTH, "in parts"),
        ("audio", ended(twenty(|_| delta(r#""audio":{"id":"a","data":"AAAA"}"#))), TRUTH, "sound is content"),
        (
            "unknown reasoning",
            half_reasoning(r#""monologue":"r""#),
            Shown { first: None, gaps: None, per_token: None, ..TRUTH },
            "what is not understood makes times unknown",
        ),
        ("half surrogates", raw(br"\ud83e"), TRUTH, "U+FFFD, as browsers do"),
        ("no UTF-8", raw(b"\xF0\x9F"), TRUTH, "U+FFFD, as browsers do"),
        (
            "first over 64 KiB",
            ended(twenty(|i| if i == 0 { event(&long) } else { word(i) })),
            TRUTH,
            "the limit is one of memory, not of time",
        ),
        ("all over 64 KiB", ended(twenty(|_| event(&long))), TRUTH, "the limit is one of memory, not of time"),
        (
            "two choices",
            ended(twenty(two)),
            Shown { gaps: Some((40, 40)), per_token: None, ..TRUTH },
            "gaps are of each choice",
        ),
        ("empty calls", [vec![(20, empty_calls)], ended(twenty(word))].concat(), TRUTH, "an empty list is no content"),
    ]
}

pub(crate) fn rows_of_tokens() -> Vec<Row> {
    let hidden =
        r#"{"choices":[],"usage":{"completion_tokens":520,"completion_tokens_details":{"reasoning_tokens":500}}}"#;
    let counting = |output: &dyn Fn(usize) -> usize| {
        twenty(|i| {
            let tokens = output(i);
            event(&format!(
                r#"{{"choices":[{{"index":0,"delta":{{"content":"w"}}}}],"usage":{{"completion_tokens":{tokens}}}}}"#
            ))
        })
    };
    let ends_with = |usage: &str| then(twenty(word), &[FINISH, usage, "[DONE]"]);
    let groq = r#"{"choices":[],"x_groq":{"usage":{"completion_tokens":20}}}"#;
    vec![
        ("no usage", then(twenty(word), &[FINISH, "[DONE]"]), UNCOUNTED, "an event is no token"),
        ("hidden reasoning", ends_with(hidden), Shown { tokens: Some(520), ..TRUTH }, "TPOT is of the tokens sent"),
        ("usage in each event", then(counting(&|i| i + 1), &[FINISH, "[DONE]"]), TRUTH, "the last usage counts"),
        ("usage of each event", then(counting(&|_| 1), &[FINISH, "[DONE]"]), UNCOUNTED, "a sum must grow"),
        ("usage of zeros", then(counting(&|_| 0), &[FINISH, "[DONE]"]), UNCOUNTED, "content has tokens"),
        (
            "usage of zeros, then all",
            then(counting(&|_| 0), &[FINISH, USAGE, "[DONE]"]),
            TRUTH,
            "the last usage counts",
        ),
        ("Groq", ends_with(groq), TRUTH, "usage has several names"),
        ("llama.cpp", ends_with(r#"{"choices":[],"timings":{"predicted_n":20}}"#), TRUTH, "usage has several names"),
        ("input and output", ends_with(r#"{"usage":{"output_tokens":20}}"#), TRUTH, "usage has several names"),
    ]
}

pub(crate) fn rows_of_ends() -> Vec<Row> {
    let last =
        |finish: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{"content":""}},"finish_reason":{finish}}}]}}"#);
    let named = b"event: error\ndata: {\"message\":\"boom\"}\n\ndata: [DONE]\n\n".to_vec();
    let mut named_error = ten_and(&[]);
    named_error[10].1 = named;
    let in_choice = r#"{"choices":[{"index":0,"delta":{"content":""},"error":{"code":502}}]}"#;
    let unfinished = Shown { ending: StreamEnding::Unfinished, ..FAILED };
    vec![
        ("error", ten_and(&[r#"{"error":{"message":"boom"}}"#, "[DONE]"]), FAILED, "an error ends an answer badly"),
        ("error, old vLLM", ten_and(&[r#"{"object":"error","code":500}"#, "[DONE]"]), FAILED, "an error by any name"),
        ("event: error", named_error, FAILED, "an error by any name"),
        ("error in the choice", ten_and(&[in_choice, "[DONE]"]), FAILED, "an error by any name"),
        ("finish_reason error", ten_and(&[&last("\"error\""), "[DONE]"]), FAILED, "an error by any name"),
        ("finish_reason abort", ten_and(&[&last("\"abort\""), USAGE, "[DONE]"]), FAILED, "an error by any name"),
        ("message and code", ten_and(&[r#"{"code":500,"message":"boom"}"#, "[DONE]"]), FAILED, "an error by any name"),
        (
            "error in plain text",
            ten_and(&["Internal Server Error", "[DONE]"]),
            Shown { gaps: None, ..unfinished },
            "what is not understood may be an error",
        ),
        ("no [DONE]", with_tail(b""), TRUTH, "a finish_reason ends an answer"),
        ("[DONE] with blanks", with_tail(b"data: [DONE] \n\n"), TRUTH, "blanks do not count"),
        ("[DONE] without an empty line", with_tail(b"data: [DONE]\n"), TRUTH, "a mark at the very end counts"),
        ("[DONE] without a line", with_tail(b"data: [DONE]"), TRUTH, "a mark at the very end counts"),
        ("another [DONE]", with_tail(b"data: {\"done\":true}\n\n"), TRUTH, "a finish_reason ends an answer"),
        ("events after [DONE]", with_tail(b"data: [DONE]\n\ndata: {\"cost\":1}\n\n"), TRUTH, "the mark ends an answer"),
        ("ends inside an event", with_tail(b"data: {\"a\""), unfinished, "half an event is no end"),
        ("no finish_reason", then(twenty(word), &[USAGE, "[DONE]"]), TRUTH, "the mark ends an answer"),
        ("neither", then(twenty(word), &[USAGE]), unfinished, "an answer has an end"),
        (
            "empty events",
            ended(twenty(|i| [b"data: \n\n".to_vec(), word(i)].concat())),
            TRUTH,
            "an empty event keeps a connection open",
        ),
    ]
}

#[test]
fn the_dialects_of_openai() {
    let mut wrong = String::new();
    for (name, script, expected, rule) in [rows_of_content(), rows_of_tokens(), rows_of_ends()].into_iter().flatten() {
        let options = StreamOptions::for_llm(LlmOptions::new(LlmApi::OpenaiChat, Vec::new()));
        let shown = shown(&facts(&script, options, "text/event-stream"));
        if shown != expected {
            writeln!(wrong, "{name}: {rule}\n  shown {shown:?}\n  truth {expected:?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

pub(crate) fn api_rows() -> Vec<(LlmApi, Row)> {
    let all = |head: &[&str], piece: &dyn Fn(usize) -> String, tail: &[&str]| {
        let script = head.iter().map(|data| (20, event(data))).chain(twenty(|i| event(&piece(i)))).collect();
        then(script, tail)
    };
    let lines = |script: Script| -> Script {
        let line = |bytes: &[u8]| [bytes.strip_prefix(b"data: ").unwrap().trim_ascii_end(), b"\n"].concat();
        script.into_iter().map(|(at, bytes)| (at, line(&bytes))).collect()
    };
    let cut = |mut script: Script, error: &str| {
        script.retain(|(at, _)| *at < 300);
        script.push((300, event(error)));
        script
    };
    let delta = |kind: &str, member: &str| {
        format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"{kind}","{member}":"w"}}}}"#)
    };
    let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":1}}}"#;
    let block = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    let head = [start, block, r#"{"type":"ping"}"#];
    let tail = [
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let said = |_: usize| delta("text_delta", "text");
    let thought = |i: usize| if i < 10 { delta("thinking_delta", "thinking") } else { said(i) };
    let odd = |i: usize| if i < 10 { delta("odd_delta", "odd") } else { said(i) };
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error"}}"#;
    let unfinished = Shown { ending: StreamEnding::Unfinished, ..FAILED };
    let unknown = Shown { first: None, gaps: None, per_token: None, ..TRUTH };
    let anthropic = [
        ("text", all(&head, &said, &tail), TRUTH, "each delta is content"),
        ("thinking", all(&head, &thought, &tail), Shown { per_token: None, ..TRUTH }, "thinking may be a summary"),
        ("calls", all(&head, &|_| delta("input_json_delta", "partial_json"), &tail), TRUTH, "a call is content"),
        ("unknown", all(&head, &odd, &tail), unknown, "what is not understood makes times unknown"),
        ("error", cut(all(&head, &said, &[]), overloaded), FAILED, "an error ends an answer badly"),
        ("no end", all(&head, &said, &[]), unfinished, "an answer has an end"),
    ];
    let of = |kind: &str| format!(r#"{{"type":"response.{kind}.delta","delta":"w"}}"#);
    let created = [r#"{"type":"response.created","response":{"error":null,"usage":null}}"#];
    let completed = |usage: &str| format!(r#"{{"type":"response.completed","response":{{"usage":{{{usage}}}}}}}"#);
    let counted = completed(r#""input_tokens":7,"output_tokens":20"#);
    let hidden = completed(r#""output_tokens":520,"output_tokens_details":{"reasoning_tokens":500}"#);
    let text = |_: usize| of("output_text");
    let summary = |i: usize| of(if i < 10 { "reasoning_summary_text" } else { "output_text" });
    let responses = [
        ("text", all(&created, &text, &[&counted]), TRUTH, "each delta is content"),
        ("calls", all(&created, &|_| of("function_call_arguments"), &[&counted]), TRUTH, "a call is content"),
        (
            "hidden",
            all(&created, &text, &[&hidden]),
            Shown { tokens: Some(520), ..TRUTH },
            "TPOT is of the tokens sent",
        ),
        (
            "summary",
            all(&created, &summary, &[&hidden]),
            Shown { tokens: Some(520), per_token: None, ..TRUTH },
            "a summary has an unknown number of tokens",
        ),
        ("failed", cut(all(&created, &text, &[]), r#"{"type":"response.failed"}"#), FAILED, "an error by any name"),
        ("no end", all(&created, &text, &[]), unfinished, "an answer has an end"),
    ];
    let message = |_: usize| r#"{"message":{"role":"assistant","content":"w"},"done":false}"#.to_owned();
    let thinking = |i: usize| {
        let member = if i < 10 { r#""thinking":"w","content":"""# } else { r#""content":"w""# };
        format!(r#"{{"message":{{{member}}},"done":false}}"#)
    };
    let done = [r#"{"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":20}"#];
    let ollama = [
        ("chat", lines(all(&[], &message, &done)), TRUTH, "each line is an event"),
        ("thinking", lines(all(&[], &thinking, &done)), TRUTH, "reasoning is content"),
        ("generate", lines(all(&[], &|_| r#"{"response":"w","done":false}"#.to_owned(), &done)), TRUTH, "by its name"),
        ("error", lines(cut(all(&[], &message, &[]), r#"{"error":"boom"}"#)), FAILED, "an error ends an answer badly"),
        ("no end", lines(all(&[], &message, &[])), unfinished, "an answer has an end"),
    ];
    let gemini_event = |part: &str, i: usize| {
        let last = if i == 19 { r#","finishReason":"STOP""# } else { "" };
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{part}]}}{last}}}],"usageMetadata":{{"promptTokenCount":7,"candidatesTokenCount":{}}}}}"#,
            i + 1
        )
    };
    let thoughts =
        |i: usize| gemini_event(if i < 10 { r#"{"text":"w","thought":true}"# } else { r#"{"text":"w"}"# }, i);
    let gemini = [
        ("text", all(&[], &|i| gemini_event(r#"{"text":"w"}"#, i), &[]), TRUTH, "each part is content"),
        ("thoughts", all(&[], &thoughts, &[]), Shown { per_token: None, ..TRUTH }, "thoughts are a summary"),
        ("no end", all(&[], &|_| gemini_event(r#"{"text":"w"}"#, 0), &[]), unfinished, "an answer has an end"),
    ];
    let tgi = |i: usize| {
        let last = if i == 19 { r#"{"finish_reason":"length","generated_tokens":20}"# } else { "null" };
        format!(r#"{{"token":{{"id":1,"text":"w","special":false}},"generated_text":null,"details":{last}}}"#)
    };
    let llamacpp = |i: usize| format!(r#"{{"content":"w","stop":{},"tokens_predicted":{}}}"#, i == 19, i + 1);
    let sglang = |i: usize| {
        format!(
            r#"{{"text":"{}","meta_info":{{"completion_tokens":{},"finish_reason":null}}}}"#,
            "w".repeat(i + 1),
            i + 1
        )
    };
    let ended = r#"{"text":"all","meta_info":{"completion_tokens":20,"finish_reason":{"type":"length"}}}"#;
    let natives = [
        (LlmApi::Tgi, ("text", all(&[], &tgi, &[]), TRUTH, "the last token has the details")),
        (LlmApi::Tgi, ("error", cut(all(&[], &tgi, &[]), r#"{"error":"boom"}"#), FAILED, "an error")),
        (LlmApi::Llamacpp, ("text", all(&[], &llamacpp, &[]), TRUTH, "the last one says stop")),
        (LlmApi::Sglang, ("text", all(&[], &sglang, &["[DONE]"]), TRUTH, "the text grows")),
        (LlmApi::Sglang, ("again", all(&[], &sglang, &[ended]), TRUTH, "a text that does not grow is no content")),
    ];
    let named = [
        (LlmApi::Anthropic, Vec::from(anthropic)),
        (LlmApi::OpenaiResponses, Vec::from(responses)),
        (LlmApi::Ollama, Vec::from(ollama)),
        (LlmApi::Gemini, Vec::from(gemini)),
    ];
    named.into_iter().flat_map(|(api, rows)| rows.into_iter().map(move |row| (api, row))).chain(natives).collect()
}

#[test]
fn the_dialects_of_other_apis() {
    let mut wrong = String::new();
    for (api, (name, script, expected, rule)) in api_rows() {
        let options = StreamOptions::for_llm(LlmOptions::new(api, Vec::new()));
        let content_type = if api == LlmApi::Ollama { "application/x-ndjson" } else { "text/event-stream" };
        let shown = shown(&facts(&script, options, content_type));
        if shown != expected {
            writeln!(wrong, "{} {name}: {rule}\n  shown {shown:?}\n  truth {expected:?}", api.name()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn a_stream_that_needs_no_mark_ends_with_its_answer() {
    let options = |mark: &str| {
        StreamOptions::for_llm(LlmOptions::new(LlmApi::OpenaiChat, Vec::new())).with_end_mark(Some(mark.to_owned()))
    };
    let ending =
        |mark: &str, script: Script| shown(&facts(&script, options(mark).unwrap(), "text/event-stream")).ending;
    let without_end = then(twenty(word), &[USAGE]);
    assert_eq!(ending("none", without_end.clone()), StreamEnding::Complete);
    assert_eq!(ending("END", without_end.clone()), StreamEnding::Unfinished);
    assert_eq!(ending(" END", then(without_end.clone(), &["END "])), StreamEnding::Complete);
    assert_eq!(ending("none", then(without_end, &["Internal Server Error"])), StreamEnding::Unfinished);
    assert!(options(" ").is_err_and(|problem| problem.contains("write none")));
}
