//! Streams over sockets, compared with the truth of the misbehaving server and of an independent HTTP/2 server. The
//! asserted counts, books and orderings hold on a busy machine too.

mod described;
mod dialects;
mod http1;
mod http2;
mod llm;
mod model_server;
mod odd_answers;
mod recognised;
mod spoken;
#[cfg(feature = "tokenizer")]
mod tokenizer;
mod whole_answers;

use truetail_engine::{Control, Method, Plan, RunOutput, Target};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::{StreamFacts, StreamKind, StreamTime};
use truetail_stream::{StreamOptions, StreamRun};

const MS: u64 = 1_000_000;

/// A plan of `requests` evenly spaced requests.
fn plan(url: &str, rate: f64, requests: u64) -> Plan {
    let schedule = Schedule {
        profile: Profile::constant(Rate::per_second(rate).unwrap()),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: None, requests: Some(requests) },
    };
    let limits = Limits {
        connections: None,
        timeout: Some(Nanos::from_secs(20)),
        drain: Nanos::from_secs(30),
        ..Limits::default()
    };
    let target = Target::resolve(Method::Get, url, &[], Vec::new()).unwrap();
    Plan::new(Workload { model: LoadModel::Open(schedule), limits, warmup: Nanos::ZERO }, target)
}

fn sse() -> StreamOptions {
    StreamOptions::new(StreamKind::Sse)
}

/// Runs the plan and checks what must hold for the streams of every run.
fn run(mut plan: Plan, options: StreamOptions) -> (RunOutput, StreamFacts) {
    let streams = StreamRun::new(options, Timestamp(plan.workload.warmup.0));
    plan.observer = Some(streams.observer_factory());
    let output = truetail_engine::run(&plan, &Control::new()).unwrap();
    output.snapshot.tally.check().unwrap();
    let facts = streams.facts(&output.snapshot.samples);
    assert_eq!(facts.imbalance(output.snapshot.tally.planned), None, "{facts:?}");
    (output, facts)
}

fn longest(facts: &StreamFacts, time: StreamTime) -> u64 {
    facts.times.get(time).max().map_or(0, |max| max.0)
}

fn count(facts: &StreamFacts, time: StreamTime) -> u64 {
    facts.times.get(time).count()
}
