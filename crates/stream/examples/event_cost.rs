//! Measures the processor time that a worker spends per event, with and without `--llm`, in nanoseconds.
//!
//! `cargo run --release -p truetail-stream --example event_cost [EVENTS]`
//!
//! One worker's observer reads answers of 200 events, each event in a separate read. Sockets, kernel and HTTP cost the
//! same in both cases and are left out. The cases take turns for five rounds; the fastest and slowest are printed.

use std::env;

use rustix::time::{ClockId, clock_gettime};
use truetail_engine::{AnswerHead, EndedRequest, FieldList, RequestId};
use truetail_model::arrival::Arrival;
use truetail_model::record::{Outcome, Samples, SamplesOptions};
use truetail_model::time::Timestamp;
use truetail_run::{LlmApi, StreamKind};
use truetail_stream::{LlmOptions, StreamOptions, StreamRun};

const ROUNDS: usize = 5;
/// Events of an answer, including the usage and the end mark.
const PER_ANSWER: usize = 200;

const TOKEN: &str = r#"data: {"id":"chatcmpl-5b1f3c1c0f6a4c0e9d1a7f3b8c2d4e6f","object":"chat.completion.chunk","created":1795157951,"model":"example/model-8b","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}],"usage":null}"#;
const ESCAPED: &str = r#"data: {"id":"chatcmpl-5b1f3c1c0f6a4c0e9d1a7f3b8c2d4e6f","object":"chat.completion.chunk","created":1795157951,"model":"example/model-8b","choices":[{"index":0,"delta":{"content":"\n\u00e9\"x\""},"logprobs":null,"finish_reason":null}],"usage":null}"#;
const USAGE: &str = r#"data: {"id":"chatcmpl-5b1f","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":198,"total_tokens":218}}"#;

fn main() {
    let events: usize = env::args().nth(1).map_or(2_000_000, |text| text.parse().expect("a number of events"));
    let llm = |slo: &[&str]| {
        let slo = slo.iter().map(|text| text.parse().expect("an objective")).collect();
        Some(LlmOptions::new(LlmApi::OpenaiChat, slo))
    };
    let cases = [
        ("--stream sse", TOKEN, None),
        ("--llm openai-chat", TOKEN, llm(&[])),
        ("--llm, escapes", ESCAPED, llm(&[])),
        ("--llm --slo --slo", TOKEN, llm(&["ttft < 200ms", "tpot < 50ms"])),
    ];
    let mut costs = vec![Vec::new(); cases.len()];
    for _ in 0..ROUNDS {
        for (cost, (_, event, llm)) in costs.iter_mut().zip(&cases) {
            cost.push(nanoseconds_per_event(event, llm.clone(), events));
        }
    }
    println!("{:<20} {:>9} {:>9}   ns of processor time per event of {} bytes", "", "fastest", "slowest", TOKEN.len());
    for (cost, (name, ..)) in costs.iter_mut().zip(&cases) {
        cost.sort_by(f64::total_cmp);
        println!("{name:<20} {:>9.0} {:>9.0}", cost[0], cost[ROUNDS - 1]);
    }
}

fn nanoseconds_per_event(event: &str, llm: Option<LlmOptions>, events: usize) -> f64 {
    let end_mark = Some("[DONE]".to_owned());
    let run = StreamRun::new(StreamOptions { llm, end_mark, ..StreamOptions::new(StreamKind::Sse) }, Timestamp::ZERO);
    let mut observer = run.observer_factory().observer();
    let mut fields = FieldList::default();
    fields.push(b"content-type", b"text/event-stream");
    let [event, usage, done] = [event, USAGE, "data: [DONE]"].map(|event| format!("{event}\n\n").into_bytes());
    let begin = cpu_nanoseconds();
    let mut now = 0;
    for index in 0..events / PER_ANSWER {
        let arrival = Arrival { index: index as u64, intended_start: Timestamp(now) };
        observer.begin(0, 0, arrival);
        observer.head(0, AnswerHead::with_fields(200, &fields));
        for number in 0..PER_ANSWER {
            now += 10_000_000 + (number as u64 * 7_919) % 100_000;
            observer.arrive(Timestamp(now));
            observer.body(
                0,
                match PER_ANSWER - number {
                    1 => &done,
                    2 => &usage,
                    _ => &event,
                },
            );
        }
        let id = RequestId { target: 0, row: 0 };
        let outcome = Outcome::response(200);
        observer.end(0, EndedRequest { arrival, id, outcome, start: Timestamp(now), end: Timestamp(now) });
    }
    let used = cpu_nanoseconds() - begin;
    observer.finish(Timestamp::ZERO);
    let facts = run.facts(&Samples::new(SamplesOptions::NONE));
    let answers = (events / PER_ANSWER) as u64;
    assert_eq!((facts.tally.complete, facts.events), (answers, answers * PER_ANSWER as u64));
    used / facts.events as f64
}

/// Returns the processor time that this thread has used.
fn cpu_nanoseconds() -> f64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as f64 * 1e9 + used.tv_nsec as f64
}
