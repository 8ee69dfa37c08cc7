//! Canned answers of language models over sockets. The asserted counts, books and orderings hold on a busy machine too.

use std::io::Write;
use std::thread;
use std::time::Duration;

use truetail_model::time::Nanos;
use truetail_run::{LlmApi, LlmFacts, StreamFacts, StreamTime};
use truetail_stream::{LlmOptions, StreamOptions};

use crate::odd_answers::serve;
use crate::{MS, count, longest, plan, run, sse};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
const ROLE: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
const TOKEN: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}],\"usage\":null}\n\n";
const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":9}}\n\n";
const DONE: &str = "data: [DONE]\n\n";
/// Time between two writes.
const PAUSE: Duration = Duration::from_millis(30);

fn chat(slo: &[&str]) -> StreamOptions {
    let slo = slo.iter().map(|text| text.parse().unwrap()).collect();
    let llm = Some(LlmOptions::new(LlmApi::OpenaiChat, slo));
    StreamOptions { end_mark: Some("[DONE]".to_owned()), llm, ..sse() }
}

/// Returns the streams of five requests to a model that answers in these writes.
fn answers(writes: &'static [&'static str], slo: &[&str]) -> (StreamFacts, LlmFacts) {
    let url = serve(move |socket| {
        for (number, text) in writes.iter().enumerate() {
            thread::sleep(if number == 0 { Duration::ZERO } else { PAUSE });
            socket.write_all(text.as_bytes())?;
        }
        Ok(())
    });
    let (_, facts) = run(plan(&url, 50.0, 5), chat(slo));
    let llm = facts.llm.clone().expect("it was asked for");
    (facts, llm)
}

#[test]
fn the_first_token_is_the_first_content() {
    let (facts, llm) = answers(&[HEAD, ROLE, TOKEN, TOKEN, TOKEN, USAGE, DONE], &["ttft < 1h", "tpot < 1h"]);
    assert_eq!((facts.tally.complete, facts.events, llm.content_events, llm.other_events), (5, 30, 15, 15));
    assert_eq!((llm.tokens.counted, llm.tokens.output, llm.tokens.input), (5, 45, 20));
    let least = |time: StreamTime| facts.times.get(time).min().map_or(0, |min| min.0);
    assert_eq!(count(&facts, StreamTime::FirstContent), 5);
    // The head, the role and the first token are three writes.
    assert!(least(StreamTime::FirstContent) >= 60 * MS && least(StreamTime::FirstEvent) >= 30 * MS, "{facts:?}");
    assert!(least(StreamTime::FirstContentService) <= least(StreamTime::FirstContent), "{facts:?}");
    assert!(longest(&facts, StreamTime::FirstContent) <= longest(&facts, StreamTime::LastEvent), "{facts:?}");
    // Nine tokens come in three events. The span of about two pauses must not be divided by two.
    let span = longest(&facts, StreamTime::LastEvent);
    assert!(longest(&facts, StreamTime::TimePerOutputToken) <= span / 8, "{facts:?}");
    let slo = llm.slo.expect("two objectives");
    assert_eq!(slo.met + slo.cannot_tell, 5);
    assert_eq!(slo.cannot_tell, llm.tokens.unknown_time_per_output_token);
}

#[test]
fn tokens_that_nobody_counted_are_not_counted() {
    let (facts, llm) = answers(&[HEAD, TOKEN, TOKEN, DONE], &["ttft < 1h", "tpot < 1h"]);
    assert_eq!((llm.tokens.counted, llm.tokens.not_counted, llm.tokens.output), (0, 5, 0));
    assert_eq!((count(&facts, StreamTime::TimePerOutputToken), llm.tokens.unknown_time_per_output_token), (0, 5));
    assert_eq!(llm.slo.map(|slo| (slo.met, slo.cannot_tell)), Some((0, 5)));
}

#[test]
fn an_error_in_a_stream_is_an_end_of_its_own() {
    const ERROR: &str = "data: {\"error\":{\"message\":\"out of memory\",\"code\":500}}\n\n";
    let (facts, llm) = answers(&[HEAD, TOKEN, ERROR, DONE], &["ttft < 1h"]);
    assert_eq!((facts.tally.server_error, facts.tally.complete, facts.tally.planned), (5, 0, 5), "{:?}", facts.tally);
    assert_eq!((llm.error_events, count(&facts, StreamTime::ContentGapCensored)), (5, 5));
    assert_eq!(llm.slo.map(|slo| slo.met), Some(0), "it met the objective, but did not end well");
}

#[test]
fn an_answer_without_content_has_no_first_token() {
    let (facts, llm) = answers(&[HEAD, ROLE, USAGE, DONE], &["e2e < 1h"]);
    assert_eq!((facts.tally.complete, llm.content_events), (5, 0));
    assert_eq!(count(&facts, StreamTime::FirstContentFailed), 5);
    assert_eq!(llm.slo.map(|slo| slo.met), Some(0));
}

#[test]
fn what_is_not_issued_or_does_not_end_meets_nothing() {
    let url = serve(|socket| {
        socket.write_all(format!("{HEAD}{TOKEN}{TOKEN}").as_bytes())?;
        thread::sleep(Duration::from_secs(20));
        Ok(())
    });
    let mut plan = plan(&url, 100.0, 6);
    plan.workload.limits.connections = Some(2);
    plan.workload.limits.drain = Nanos::from_secs(1);
    let (_, facts) = run(plan, chat(&["ttft < 1h"]));
    assert_eq!((facts.tally.never_issued, facts.tally.in_flight_at_end), (4, 2), "{:?}", facts.tally);
    assert_eq!(count(&facts, StreamTime::FirstContentCensored) + count(&facts, StreamTime::FirstContent), 6);
    assert_eq!(facts.llm.and_then(|llm| llm.slo).map(|slo| (slo.met, slo.cannot_tell)), Some((0, 0)));
}

#[test]
fn an_oversized_event_is_read_as_far_as_it_is_kept() {
    let url = serve(|socket| {
        let long = "x".repeat(100_000);
        let event = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{long}\"}}}}]}}\n\n");
        socket.write_all(format!("{HEAD}{event}data: neither JSON\n\n{TOKEN}{DONE}").as_bytes())
    });
    let (_, facts) = run(plan(&url, 50.0, 5), chat(&[]));
    let llm = facts.llm.expect("it was asked for");
    assert_eq!((llm.content_events, llm.unreadable_events), (10, 5));
    // The other event may have been an error, and no reason for an end came after it.
    assert_eq!((facts.tally.complete, facts.tally.unfinished), (0, 5));
}
