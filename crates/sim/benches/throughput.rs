//! Simulated requests per second on one core: `cargo bench -p truetail-sim`.
//!
//! The goal is 20 million a second for `open, constant service`. It includes the schedule (even spacing at a constant
//! rate, each instant computed from its index), the driver, the hash, the service, the books, the counts of each second
//! and the distributions of the whole run. It leaves out distributions of each second and single requests
//! ([`SimOptions::LEAN`]); `everything a real run keeps` includes them.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::scenario::Scenario;
use truetail_model::service::{Service, Variation};
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_sim::{SimOptions, simulate};

/// Number of requests in one iteration, large enough that the beginning and end of a run do not count.
const REQUESTS: u64 = 2_000_000;

const HORIZON: Horizon = Horizon { duration: None, requests: Some(REQUESTS) };

fn open(spacing: Spacing) -> LoadModel {
    let profile = Profile::constant(Rate::per_second(10_000.0).expect("a rate"));
    LoadModel::Open(Schedule { profile, spacing, seed: 1, horizon: HORIZON })
}

fn scenario(service: Service, model: LoadModel, connections: Option<u32>) -> Scenario {
    let limits = Limits { connections, ..Limits::default() };
    let workload = Workload { model, limits, warmup: Nanos::ZERO };
    Scenario { name: "bench".into(), about: String::new(), service, workload, path: "/".into() }
}

fn service(variation: Variation, concurrency: Option<u32>) -> Service {
    Service { variation, concurrency, ..Service::healthy(Nanos::from_micros(90)) }
}

fn throughput(c: &mut Criterion) {
    use Variation::{Constant, Exponential};
    let even = || open(Spacing::Even);
    let closed = LoadModel::Closed { users: 100.into(), think_time: Nanos::from_millis(1), horizon: HORIZON };
    let lean = SimOptions::LEAN;
    let cases = [
        ("open, constant service", scenario(service(Constant, None), even(), None), lean),
        ("everything a real run keeps", scenario(service(Constant, None), even(), None), SimOptions::default()),
        ("open, one server", scenario(service(Constant, Some(1)), even(), None), lean),
        ("M/M/1", scenario(service(Exponential, Some(1)), open(Spacing::Poisson), None), lean),
        ("open, 8 connections", scenario(service(Exponential, None), even(), Some(8)), lean),
        ("closed, 100 users", scenario(service(Exponential, None), closed, None), lean),
    ];
    let mut group = c.benchmark_group("simulate");
    group.throughput(Throughput::Elements(REQUESTS)).sample_size(10);
    for (name, scenario, options) in &cases {
        group.bench_function(*name, |b| b.iter(|| simulate(scenario, *options).expect("it has an end")));
    }
}

criterion_group!(benches, throughput);
criterion_main!(benches);
