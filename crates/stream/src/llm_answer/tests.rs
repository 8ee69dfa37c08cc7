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
        let event = ServerSentEvent { data: data.as_bytes(), data_bytes: data.len() as u64, is_error: false };
        if *data == "[DONE]" {
            LlmAnswer::other_event(&mut found);
            continue;
        }
        answer.event(event, ReadInstant { number: *at, at: Timestamp(at * MS) }, llm, &mut text, &mut found);
    }
    let end = Timestamp(events.last().map_or(9, |(at, _)| *at) * MS);
    let ended = AnswerEnd {
        index: 0,
        row: 0,
        outcome: if is_complete { Outcome::response(200) } else { Outcome::TimedOut },
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
    assert!(size_of::<LlmAnswer>() <= 200, "{}", size_of::<LlmAnswer>());
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
    // The event that was not understood may have been content, so that there may have been two gaps.
    assert_eq!(times(&found, &options, StreamTime::ContentGap).0, 0);
    assert_eq!((facts.unmeasured.gaps, facts.unmeasured.without_gap), (2, 1));
    assert_eq!(times(&found, &options, StreamTime::ContentGapCensored), (1, 0));
    let data = &b"{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}"[..];
    let mut answer = LlmAnswer::default();
    let mut found = StreamResults::new(&options);
    let cut_off = ServerSentEvent { data, data_bytes: data.len() as u64 + 1, is_error: false };
    let now = ReadInstant { number: 1, at: Timestamp(1) };
    answer.event(cut_off, now, options.llm.as_ref().unwrap(), &mut AnswerText::default(), &mut found);
    assert_eq!(
        found.llm.map(|facts| (facts.content_events, facts.unreadable_events)),
        Some((1, 0)),
        "a long event has content at its beginning"
    );
}

#[test]
fn tokens_that_were_not_sent_do_not_divide_the_time() {
    let usage = |details: &str| {
        format!(r#"{{"choices":[],"usage":{{"completion_tokens":503,"completion_tokens_details":{details}}}}}"#)
    };
    let hidden = usage(r#"{"reasoning_tokens":500}"#);
    let thought = r#"{"choices":[{"index":0,"delta":{"reasoning":"hm"}}]}"#;
    let summary = r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":"hm"}]}}]}"#;
    for (first, usage, per_token, hidden) in [
        (TOKEN, &hidden, (1, 251_000), 500),
        // The reasoning was sent too.
        (thought, &hidden, (1, 1_000), 0),
        // How many tokens a summary has is unknown.
        (summary, &hidden, (0, 0), 0),
        (TOKEN, &usage("{}"), (1, 1_000), 0),
        // The server contradicts itself.
        (TOKEN, &usage(r#"{"reasoning_tokens":504}"#), (0, 0), 504),
        (TOKEN, &usage(r#"{"reasoning_tokens":503}"#), (0, 0), 503),
        // Three events cannot have two tokens: some of the reasoning came as content.
        (TOKEN, &usage(r#"{"reasoning_tokens":501}"#), (0, 0), 501),
    ] {
        let found = answer(&[(20, first), (271, TOKEN), (522, TOKEN), (522, usage.as_str())], &[], true);
        assert_eq!(times(&found, &options(&[]), StreamTime::TimePerOutputToken), per_token, "{first} {usage}");
        let tokens = found.llm.unwrap().tokens;
        assert_eq!((tokens.output, tokens.hidden_reasoning), (503, hidden), "{first} {usage}");
    }
}

#[test]
fn a_count_that_cannot_be_is_no_count() {
    let one = usage(1);
    for (events, counted) in [
        // No token, for an answer with content.
        (vec![(20, TOKEN), (20, r#"{"usage":{"completion_tokens":0}}"#)], 0),
        // The count of each event, and not their sum.
        (vec![(20, TOKEN), (20, &one), (30, TOKEN), (30, &one), (40, TOKEN), (40, &one)], 0),
        // The same sum twice.
        (vec![(20, TOKEN), (20, &one), (20, &one)], 1),
        (vec![(20, ROLE), (20, r#"{"usage":{"completion_tokens":0}}"#)], 1),
        // An event that was not understood may have had a later count.
        (vec![(20, TOKEN), (20, &one), (30, "hm")], 0),
    ] {
        let tokens = answer(&events, &[], true).llm.unwrap().tokens;
        assert_eq!((tokens.counted, tokens.not_counted), (counted, 1 - counted), "{events:?}");
    }
}

#[test]
fn each_choice_has_its_own_gaps() {
    let second = r#"{"choices":[{"index":1,"delta":{"content":"b"}}]}"#;
    let both = r#"{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}"#;
    let events = [(20, TOKEN), (25, second), (40, TOKEN), (45, second), (45, second), (60, both)];
    let found = answer(&events, &[], true);
    let facts = found.facts(&options(&[]));
    let gaps = facts.times.get(StreamTime::ContentGap);
    assert_eq!((gaps.count(), gaps.min().unwrap().0 / 1000, gaps.max().unwrap().0 / 1000), (4, 15_000, 20_000));
    let llm = facts.llm.unwrap();
    assert_eq!((llm.content_events, llm.coalesced_content_gaps), (6, 1));
    assert_eq!((llm.unmeasured.without_gap, llm.unmeasured.further_parts, llm.unmeasured.gaps), (1, 1, 0));
}

#[test]
fn what_is_not_understood_makes_times_unknown() {
    const UNKNOWN: &str = r#"{"choices":[{"index":0,"delta":{"monologue":"hm"}}]}"#;
    let options = options(&["ttft < 25ms", "tpot < 1h", "e2e < 1h"]);
    let slo = ["ttft < 25ms", "tpot < 1h", "e2e < 1h"];
    let done = usage(3);
    let found = answer(&[(10, UNKNOWN), (30, TOKEN), (40, TOKEN), (40, done.as_str())], &slo, true);
    assert_eq!(times(&found, &options, StreamTime::FirstContent).0, 0);
    assert_eq!(times(&found, &options, StreamTime::TimePerOutputToken).0, 0);
    assert_eq!(times(&found, &options, StreamTime::ContentGap), (1, 10_000), "this one is known");
    let llm = found.llm.unwrap();
    assert_eq!((llm.unmeasured.first_content, llm.unmeasured.without_gap, llm.unmeasured.gaps), (1, 1, 1));
    let each = llm.slo.unwrap().each;
    assert_eq!(each.iter().map(|each| each.cannot_tell).collect::<Vec<_>>(), [1, 1, 0]);
    // The first content came at 20 ms or before, which meets the objective.
    let found = answer(&[(10, UNKNOWN), (20, TOKEN), (20, done.as_str())], &slo, true);
    assert_eq!(found.llm.unwrap().slo.unwrap().each[0].met, 1);
    // Nothing is known of an answer without a word that was understood.
    let found = answer(&[(10, UNKNOWN)], &slo, true);
    assert_eq!(found.llm.unwrap().slo.unwrap().each.iter().map(|each| each.cannot_tell).sum::<u64>(), 3);
}
