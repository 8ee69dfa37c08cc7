//! Benchmark of the analysis after a run: `cargo bench -p truetail-analysis`.
//!
//! 250 000 requests at 50 000/s with exponential service times, each a little late and read a little later, as on
//! sockets. All are kept one by one, the most expensive case: larger runs are analysed from histograms.

use criterion::{Criterion, criterion_group, criterion_main};
use truetail_analysis::findings;
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::random::Random;
use truetail_model::record::{Recorder, RecorderOptions, RequestRecord};
use truetail_model::scenario::Scenario;
use truetail_model::service::{Service, Variation};
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::Run;
use truetail_sim::{SimOptions, simulate};

const REQUESTS: u64 = 250_000;

fn simulated() -> Run {
    let profile = Profile::constant(Rate::per_second(50_000.0).expect("a rate"));
    let horizon = Horizon { duration: None, requests: Some(REQUESTS) };
    let model = LoadModel::Open(Schedule { profile, spacing: Spacing::Even, seed: 1, horizon });
    let workload = Workload { model, limits: Limits::default(), warmup: Nanos::ZERO };
    let service = Service { variation: Variation::Exponential, ..Service::healthy(Nanos::from_micros(90)) };
    let scenario = Scenario { name: "bench".into(), about: String::new(), service, workload, path: "/".into() };
    simulate(&scenario, SimOptions::default()).expect("it has an end")
}

fn as_measured(run: &Run) -> Run {
    let mut random = Random::new(1, 0);
    let mut records: Vec<RequestRecord> = run.snapshot.samples.even().to_vec();
    for record in &mut records {
        let late = Nanos(random.next_u64() % 30_000);
        record.delay.generator_lag = late;
        record.actual_start = record.actual_start + late;
        record.end = record.end + late;
        record.read_lag = Some(Nanos(random.next_u64() % 50_000));
    }
    records.sort_by_key(|record| record.end);
    let mut recorder = Recorder::new(RecorderOptions::default());
    records.iter().for_each(|record| recorder.plan(record.intended_start));
    records.iter().for_each(|record| recorder.record(record));
    Run { facts: run.facts.clone(), snapshot: recorder.finish(run.snapshot.schedule_hash) }
}

fn analysis(c: &mut Criterion) {
    let run = as_measured(&simulated());
    assert!(run.snapshot.samples.is_complete());
    c.benchmark_group("findings").sample_size(10).bench_function("250 000 requests", |b| b.iter(|| findings(&run)));
}

criterion_group!(benches, analysis);
criterion_main!(benches);
