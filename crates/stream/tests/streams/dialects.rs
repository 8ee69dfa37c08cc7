//! Ways in which servers of language models speak: what is true of each answer, and what is shown of it. Times are set,
//! not measured, so that the truth is exact.

use std::fmt::Write;

use truetail_engine::{AnswerHead, EndedRequest, FieldList, RequestId};
use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;
use truetail_model::time::Timestamp;
use truetail_run::{LlmApi, StreamEnding, StreamFacts, StreamTime};
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
    let run = StreamRun::new(options, Timestamp::ZERO);
    let mut observer = run.observer_factory().observer();
    let mut fields = FieldList::default();
    fields.push(b"content-type", content_type.as_bytes());
    let arrival = Arrival { index: 0, intended_start: Timestamp::ZERO };
    observer.begin(0, 0, arrival);
    observer.arrive(Timestamp(MS));
    observer.head(0, AnswerHead::with_fields(200, &fields));
    for (at, bytes) in script {
        observer.arrive(Timestamp(at * MS));
        observer.body(0, bytes);
    }
    let id = RequestId { target: 0, row: 0 };
    let end = Timestamp(script.last().map_or(1, |(at, _)| *at) * MS);
    let outcome = Outcome::Response { status: 200 };
    observer.end(0, EndedRequest { arrival, id, outcome, start: Timestamp::ZERO, end });
    observer.finish(end);
    let facts = run.facts();
    assert_eq!(facts.imbalance(1), None, "{facts:?}");
    facts
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
fn then(mut script: Script, events: &[&str]) -> Script {
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
type Row = (&'static str, Script, Shown, &'static str);

fn rows_of_content() -> Vec<Row> {
    let bytes = |text: &str, with: &[u8]| {
        let at = text.find('@').expect("a mark");
        [&text.as_bytes()[..at], with, &text.as_bytes()[at + 1..]].concat()
    };
    let raw = |with: &'static [u8]| {
        ended(twenty(|_| bytes(&String::from_utf8(delta(r#""content":"@""#)).unwrap(), with)))
    };
    let long = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"w"}},"logprobs":{{"x":"{}"}}}}]}}"#, "x".repeat(80_000));
    let two = |i: usize| {
        event(&format!(r#"{{"choices":[{{"index":{},"delta":{{"content":"w"}}}}]}}"#, i % 2))
    };
    let empty_calls = delta(r#""content":"","tool_calls":[]"#);
    vec![
        ("base", ended(twenty(word)), TRUTH, "content is text"),
        ("reasoning", half_reasoning(r#""reasoning":"r","content":"""#), TRUTH, "reasoning is content"),
        ("reasoning_details", half_reasoning(r#""content":"","reasoning_details":[{"text":"r"}]"#), TRUTH, "by any name"),
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
        (
            "empty calls",
            [vec![(20, empty_calls)], ended(twenty(word))].concat(),
            TRUTH,
            "an empty list is no content",
        ),
    ]
}

fn rows_of_tokens() -> Vec<Row> {
    let hidden = r#"{"choices":[],"usage":{"completion_tokens":520,"completion_tokens_details":{"reasoning_tokens":500}}}"#;
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
        ("usage of zeros, then all", then(counting(&|_| 0), &[FINISH, USAGE, "[DONE]"]), TRUTH, "the last usage counts"),
        ("Groq", ends_with(groq), TRUTH, "usage has several names"),
        ("llama.cpp", ends_with(r#"{"choices":[],"timings":{"predicted_n":20}}"#), TRUTH, "usage has several names"),
        ("input and output", ends_with(r#"{"usage":{"output_tokens":20}}"#), TRUTH, "usage has several names"),
    ]
}

fn rows_of_ends() -> Vec<Row> {
    let last = |finish: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{"content":""}},"finish_reason":{finish}}}]}}"#);
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
