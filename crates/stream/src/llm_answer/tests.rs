use truetail_model::time::Timestamp;
use truetail_run::{LlmApi, StreamKind};

use super::*;
use crate::options::StreamOptions;

const MS: u64 = 1_000_000;
const ROLE: &str = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#;
const TOKEN: &str = r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#;

fn options(slo: &[&str]) -> StreamOptions {
    let slo = slo.iter().map(|text| text.parse().unwrap()).collect();
    StreamOptions { llm: Some(LlmOptions::new(LlmApi::OpenaiChat, slo)), ..StreamOptions::new(StreamKind::Sse) }
}

fn usage(tokens: u64) -> String {
    format!(r#"{{"choices":[],"usage":{{"prompt_tokens":5,"completion_tokens":{tokens}}}}}"#)
}

/// An answer with events at these milliseconds, due at 0 and sent at 1 ms. Events at the same instant come in one read.
fn answer(events: &[(u64, &str)], slo: &[&str], is_complete: bool) -> StreamResults {
    let options = options(slo);
    let llm = options.llm.as_ref().unwrap();
    let mut found = StreamResults::new(&options);
    let mut answer = LlmAnswer::default();
    let mut text = AnswerText::default();
    for (at, data) in events {
        let event = ServerSentEvent { data: data.as_bytes(), data_bytes: data.len() as u64 };
        answer.event(
            event,
            *data == "[DONE]",
            ReadInstant { number: *at, at: Timestamp(at * MS) },
            llm,
            &mut text,
            &mut found,
        );
    }
    let end = Timestamp(events.last().map_or(9, |(at, _)| *at) * MS);
    let ended = AnswerEnd {
        outcome: if is_complete { Outcome::Response { status: 200 } } else { Outcome::TimedOut },
        head: Head::OfStream,
        is_complete,
        intended_start: Timestamp::ZERO,
        start: Timestamp(MS),
        end,
        last_event: (!events.is_empty()).then_some(end),
    };
    answer.end(ended, &mut found);
    answer.count(ended, None, llm, &mut found);
    found
}

/// Returns the number of values of a time and the largest, in microseconds.
fn times(found: &StreamResults, options: &StreamOptions, time: StreamTime) -> (u64, u64) {
    let facts = found.facts(options);
    let times = facts.times.get(time);
    (times.count(), times.max().map_or(0, |max| max.0 / 1000))
}

#[test]
fn the_times_of_an_answer() {
    let events = [(10, ROLE), (20, TOKEN), (25, TOKEN), (25, TOKEN), (50, TOKEN), (50, &*usage(7)), (51, "[DONE]")];
    let found = answer(&events, &[], true);
    let options = options(&[]);
    let of = |time| times(&found, &options, time);
    assert_eq!(of(StreamTime::FirstContent), (1, 20_000));
    assert_eq!(of(StreamTime::FirstContentService), (1, 19_000));
    assert_eq!(of(StreamTime::ContentGap), (2, 25_000));
    assert_eq!(of(StreamTime::TimePerOutputToken), (1, 5_000), "30 ms for six tokens");
    let facts = found.llm.unwrap();
    assert_eq!((facts.content_events, facts.other_events, facts.coalesced_content_gaps), (4, 3, 1));
    assert_eq!((facts.tokens.counted, facts.tokens.output, facts.tokens.input), (1, 7, 5));
}

#[test]
fn an_answer_under_way_takes_little_memory() {
    assert_eq!(size_of::<LlmAnswer>(), 80);
}

#[test]
fn chunks_are_not_tokens() {
    let found = answer(&[(20, TOKEN), (40, TOKEN), (41, "[DONE]")], &["tpot < 1h"], true);
    let facts = found.llm.clone().unwrap();
    assert_eq!((facts.tokens.counted, facts.tokens.not_counted, facts.tokens.output), (0, 1, 0));
    assert_eq!(facts.tokens.unknown_time_per_output_token, 1);
    assert_eq!(facts.slo.map(|slo| (slo.met, slo.cannot_tell)), Some((0, 1)));
    assert_eq!(times(&found, &options(&[]), StreamTime::TimePerOutputToken).0, 0);
}

#[test]
fn what_has_no_time_per_token_gets_none() {
    let parallel = r#"{"choices":[{"index":1,"delta":{"content":"b"}}]}"#;
    for (events, unknown, none) in [
        (vec![(20, TOKEN.to_owned()), (20, usage(1))], 0, 1),
        (vec![(20, ROLE.to_owned()), (20, usage(0))], 0, 1),
        (vec![(20, ROLE.to_owned())], 0, 1),
        // All content came at once.
        (vec![(20, TOKEN.to_owned()), (20, TOKEN.to_owned()), (20, usage(9))], 1, 0),
        // The server contradicts itself.
        (vec![(20, TOKEN.to_owned()), (30, TOKEN.to_owned()), (30, usage(0))], 1, 0),
        (vec![(20, TOKEN.to_owned()), (30, TOKEN.to_owned()), (30, usage(1))], 1, 0),
        (vec![(20, ROLE.to_owned()), (30, usage(9))], 1, 0),
        (vec![(20, TOKEN.to_owned()), (30, parallel.to_owned()), (30, usage(9))], 1, 0),
    ] {
        let events: Vec<(u64, &str)> = events.iter().map(|(at, data)| (*at, data.as_str())).collect();
        let tokens = answer(&events, &[], true).llm.unwrap().tokens;
        let found = (tokens.unknown_time_per_output_token, tokens.no_time_per_output_token);
        assert_eq!(found, (unknown, none), "{events:?}");
    }
}

#[test]
fn the_last_usage_counts() {
    let events =
        [(20, &*usage(1)), (30, TOKEN), (40, TOKEN), (40, &*usage(11)), (41, r#"{"choices":[],"usage":null}"#)];
    assert_eq!(answer(&events, &[], true).llm.unwrap().tokens.output, 11);
}

#[test]
fn objectives_are_met_missed_or_open() {
    let events = [(20, TOKEN), (30, TOKEN), (30, &*usage(3)), (31, "[DONE]")];
    for (slo, met, cannot_tell) in [
        (&["ttft < 21ms", "tpot <= 5ms", "e2e < 32ms"][..], 1, 0),
        (&["ttft < 20ms", "tpot <= 5ms"], 0, 0),
        (&["ttft < 21ms", "tpot < 5ms"], 0, 0),
        (&["e2e < 31ms"], 0, 0),
    ] {
        let counts = answer(&events, slo, true).llm.unwrap().slo.unwrap();
        assert_eq!((counts.met, counts.cannot_tell), (met, cannot_tell), "{slo:?}");
        let cut = answer(&events, slo, false).llm.unwrap().slo.unwrap();
        assert_eq!((cut.met, cut.cannot_tell), (0, 0), "what did not end meets nothing");
    }
    let uncounted = [(20, TOKEN), (30, TOKEN), (31, "[DONE]")];
    for (slo, cannot_tell) in [(&["ttft < 21ms", "tpot < 5ms"][..], 1), (&["ttft < 20ms", "tpot < 5ms"], 0)] {
        let counts = answer(&uncounted, slo, true).llm.unwrap().slo.unwrap();
        assert_eq!((counts.met, counts.cannot_tell), (0, cannot_tell), "{slo:?}");
    }
    let empty = answer(&[(20, ROLE), (20, "[DONE]")], &["tpot < 1h"], true).llm.unwrap().slo.unwrap();
    assert_eq!((empty.met, empty.cannot_tell), (0, 0), "an answer without content meets nothing");
}

#[test]
fn what_cannot_be_read_is_counted_and_not_guessed() {
    let error = r#"{"error":{"message":"out of memory"}}"#;
    let found = answer(&[(10, TOKEN), (20, "{\"choices\":"), (30, error), (40, TOKEN)], &[], false);
    let options = options(&[]);
    let facts = found.llm.clone().unwrap();
    assert_eq!((facts.content_events, facts.unreadable_events, facts.error_events), (2, 1, 1));
    assert_eq!(times(&found, &options, StreamTime::ContentGap), (1, 30_000));
    assert_eq!(times(&found, &options, StreamTime::ContentGapCensored), (1, 0));
    let data = &b"{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}"[..];
    let mut answer = LlmAnswer::default();
    let mut found = StreamResults::new(&options);
    let cut_off = ServerSentEvent { data, data_bytes: data.len() as u64 + 1 };
    let now = ReadInstant { number: 1, at: Timestamp(1) };
    answer.event(cut_off, false, now, options.llm.as_ref().unwrap(), &mut AnswerText::default(), &mut found);
    assert_eq!(found.llm.map(|facts| (facts.content_events, facts.unreadable_events)), Some((0, 1)));
}
