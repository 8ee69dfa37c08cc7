use truetail_model::service::{StreamContent, StreamDescription, StreamFormat};

use super::*;
use crate::stream::{ModelRequest, parse_query};

const FORM: ResponseForm = ResponseForm { is_head: false, keep_alive: true, framing: Framing::Chunks };
const DUE: Timestamp = Timestamp(1_000);

fn answer_of(description: StreamDescription, text: StreamText, form: ResponseForm, in_pieces: bool) -> StreamAnswer {
    let timing = description.timing().expect("no batch");
    let mut answer = StreamAnswer::new(1, text, form, in_pieces, DUE);
    let writes = timing.writes(1, DUE, &answer.text.outline, |at| at);
    writes.iter().for_each(|write| answer.add(write, timing.trickle));
    answer.finish(writes.last().map_or(DUE, |last| last.at));
    answer
}

fn answer(query: &str) -> StreamAnswer {
    let description = parse_query(query).expect("a query");
    let asked = ModelRequest::parse_for(StreamFormat::Plain, b"not JSON").expect("not looked at");
    answer_of(description, StreamText::new(description.content, StreamFormat::Plain, &asked, 1, 0), FORM, true)
}

/// Returns the time in milliseconds and the number of events of each write.
fn at_ms(answer: &StreamAnswer) -> Vec<(u64, usize)> {
    let events = |write| answer.events.iter().filter(|(_, of)| *of == write).count();
    answer.writes.iter().enumerate().map(|(n, write)| ((write.at.0 - DUE.0) / 1_000_000, events(n))).collect()
}

fn body(answer: &StreamAnswer) -> String {
    let text = String::from_utf8(answer.bytes.clone()).unwrap();
    text.split_once("\r\n\r\n").unwrap().1.to_owned()
}

#[test]
fn a_query_says_what_leaves_when() {
    assert_eq!(at_ms(&answer("events=3&gap=10ms&first=5ms")), [(0, 0), (5, 1), (15, 1), (25, 1)]);
    assert_eq!(at_ms(&answer("events=5&gap=10ms&burst=2")), [(0, 0), (0, 2), (10, 2), (20, 1)]);
    assert_eq!(at_ms(&answer("events=3&gap=10ms&stall=1:300ms")), [(0, 0), (0, 1), (310, 1), (320, 1)]);
    assert_eq!(at_ms(&answer("events=9&gap=1ms&cut=2")), [(0, 0), (0, 1), (1, 1)]);
    assert_eq!(at_ms(&answer("events=0")), [(0, 0), (0, 0)]);
}

#[test]
fn it_ends_as_it_was_asked_to() {
    let body = |query: &str| body(&answer(query));
    assert_eq!(body("events=1"), "9\r\ndata: 0\n\n\r\n0\r\n\r\n");
    assert_eq!(body("events=1&bytes=3"), "b\r\ndata: 000\n\n\r\n0\r\n\r\n");
    assert_eq!(body("events=0&end=done"), "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
    assert_eq!(body("events=0&end=unfinished"), "11\r\ndata: never finis\r\n0\r\n\r\n");
    assert_eq!(body("events=2&cut=1"), "9\r\ndata: 0\n\n\r\n");
    assert_eq!(body("events=2&cut=0"), "");
    assert_eq!(body("events=0"), "0\r\n\r\n");
    assert_eq!(body("events=1&bytes=100000").len(), 100_000 + 22);
}

#[test]
fn exponential_gaps_follow_the_seed() {
    let of = |query: &str| at_ms(&answer(query));
    assert_eq!(of("events=50&exponential=3"), of("events=50&exponential=3"));
    assert_ne!(of("events=50&exponential=3"), of("events=50&exponential=4"));
}

#[test]
fn bytes_that_trickle_complete_their_event_when_it_is_due() {
    let plain = answer("events=3&gap=10ms");
    let trickling = answer("events=3&gap=10ms&trickle=4ms");
    assert_eq!(trickling.bytes, plain.bytes);
    let with_events =
        |answer: &StreamAnswer| at_ms(answer).into_iter().filter(|(_, events)| *events > 0).collect::<Vec<_>>();
    assert_eq!(with_events(&trickling), with_events(&plain));
    // All seven parts of the first event leave with the head, because there is no time between the two.
    let early: Vec<u64> = at_ms(&trickling).into_iter().filter(|(_, events)| *events == 0).map(|(at, _)| at).collect();
    assert_eq!(early, [0, 0, 0, 0, 0, 0, 0, 0, 6, 7, 7, 8, 8, 9, 9, 16, 17, 17, 18, 18, 19, 19]);
    let ends: Vec<u64> = trickling.writes.iter().map(|write| write.end).collect();
    assert!(ends.windows(2).all(|pair| pair[0] <= pair[1]), "{ends:?}");
    // Even the first of several events is incomplete before its write.
    let burst = answer("events=4&burst=4&gap=10ms&first=10ms&trickle=8ms");
    let early = &burst.bytes[..burst.writes[burst.writes.len() - 2].end as usize];
    assert!(early.ends_with(b"data:"), "{}", String::from_utf8_lossy(early));
}

#[test]
fn a_stall_is_as_long_as_it_is_said_to_be() {
    let mut answer = answer("events=3&gap=10ms&stall=1:300ms&trickle=1ms");
    let late = DUE + Nanos::from_millis(50);
    answer.note_sent(answer.due_by(late), late);
    let second = answer.writes[answer.events[1].1];
    assert_eq!(second.at, late + Nanos::from_millis(310));
}

fn model(format: StreamFormat, content: StreamContent, request: &str, form: ResponseForm) -> StreamAnswer {
    let asked = ModelRequest::parse(request.as_bytes()).expect("JSON");
    let description = StreamDescription { content, ..StreamDescription::default() };
    answer_of(description, StreamText::new(content, format, &asked, 7, 1_700_000_000), form, asked.streams)
}

/// Returns the data of each event, without the end mark.
fn chunks(answer: &StreamAnswer) -> Vec<serde_json::Value> {
    let body = body(answer);
    let data = body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"))).collect()
}

const NO_CHUNKS: ResponseForm = ResponseForm { framing: Framing::Connection, ..FORM };

#[test]
fn a_chat_is_sent_as_clients_expect_it() {
    let request = r#"{"model":"a \"b\"","stream":true,"max_tokens":3,"stream_options":{"include_usage":true},
        "messages":[{"role":"user","content":"one two"}]}"#;
    let answer = model(StreamFormat::Chat, StreamContent::default(), request, NO_CHUNKS);
    assert!(body(&answer).ends_with("data: [DONE]\n\n"));
    let chunks = chunks(&answer);
    assert_eq!(chunks.len(), 1 + 3 + 1 + 1);
    assert!(chunks.iter().all(|chunk| chunk["model"] == "a \"b\"" && chunk["object"] == "chat.completion.chunk"));
    let delta = |n: usize| &chunks[n]["choices"][0]["delta"];
    assert_eq!((&delta(0)["role"], &delta(0)["content"]), (&"assistant".into(), &"".into()));
    assert_eq!((1..4).map(|n| delta(n)["content"].as_str().unwrap()).collect::<String>(), " 0 1 2");
    assert_eq!(chunks[3]["choices"][0]["finish_reason"], serde_json::Value::Null);
    assert_eq!(chunks[4]["choices"][0]["finish_reason"], "length");
    assert_eq!(chunks[5]["choices"].as_array().map(Vec::len), Some(0));
    let usage = &chunks[5]["usage"];
    assert_eq!((&usage["prompt_tokens"], &usage["completion_tokens"]), (&2.into(), &3.into()));
    let kinds: Vec<_> = answer.events.iter().map(|(kind, _)| kind.name()).collect();
    assert_eq!(kinds, ["role", "content", "content", "content", "finish", "usage", "done"]);
}

#[test]
fn a_completion_has_no_role_and_no_usage_unless_asked() {
    let answer =
        model(StreamFormat::Completions, StreamContent { events: 2, ..StreamContent::default() }, "", NO_CHUNKS);
    let chunks = chunks(&answer);
    assert_eq!(chunks.iter().map(|chunk| chunk["choices"][0]["text"].as_str().unwrap()).collect::<String>(), " 0 1");
    assert_eq!((chunks.len(), &chunks[2]["choices"][0]["finish_reason"]), (3, &"stop".into()));
}

#[test]
fn usage_may_be_missing_or_wrong() {
    let request = r#"{"stream":true,"max_tokens":5,"stream_options":{"include_usage":true}}"#;
    let said = |usage| {
        let content = StreamContent { tokens: 2, usage, ..StreamContent::default() };
        let chunks = chunks(&model(StreamFormat::Chat, content, request, NO_CHUNKS));
        let words = |chunk: &serde_json::Value| {
            chunk["choices"][0]["delta"]["content"].as_str().map_or(0, |text| text.split_whitespace().count())
        };
        (chunks.iter().map(words).sum::<usize>(), chunks.last().unwrap()["usage"]["completion_tokens"].as_u64())
    };
    use truetail_model::service::UsageReport::{Missing, Right, Wrong};
    assert_eq!([said(Right), said(Missing), said(Wrong)], [(5, Some(5)), (5, None), (5, Some(11))]);
}

#[test]
fn without_stream_it_is_one_piece() {
    let request = r#"{"max_tokens":3,"prompt":"x"}"#;
    let whole = model(StreamFormat::Completions, StreamContent::default(), request, FORM);
    assert_eq!((whole.writes.len(), whole.events.len()), (1, 0));
    assert_eq!(at_ms(&whole)[0].0, 20);
    let json: serde_json::Value = serde_json::from_str(&body(&whole)).unwrap();
    assert_eq!((&json["object"], &json["choices"][0]["text"]), (&"text_completion".into(), &" 0 1 2".into()));
    assert_eq!(json["usage"]["completion_tokens"], 3);
    let cut = model(StreamFormat::Chat, StreamContent { cut: Some(1), ..StreamContent::default() }, "{}", FORM);
    assert!(serde_json::from_str::<serde_json::Value>(&body(&cut)).is_err());
}

#[test]
fn a_model_that_breaks_off_has_no_end() {
    use truetail_model::service::StreamEnd::{Unfinished, Whole};
    let ends = |end| {
        let answer =
            model(StreamFormat::Chat, StreamContent { end: Some(end), ..StreamContent::default() }, "", NO_CHUNKS);
        body(&answer)
    };
    assert!(ends(Unfinished).ends_with("data: never finis"));
    assert!(ends(Whole).ends_with("\"finish_reason\":\"stop\"}]}\n\n"), "{}", ends(Whole));
}

#[test]
fn who_does_not_know_chunks_gets_none() {
    let without = model(StreamFormat::Chat, StreamContent::default(), "", NO_CHUNKS);
    assert!(without.closes() && !String::from_utf8(without.bytes).unwrap().contains("chunked"));
    assert!(!model(StreamFormat::Chat, StreamContent::default(), "", FORM).closes());
}
