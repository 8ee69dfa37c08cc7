//! Throughput of a driver in requests started and ended per second: `cargo bench -p truetail-model --bench driver`.

use std::collections::VecDeque;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use truetail_model::arrival::{Horizon, Schedule, Spacing};
use truetail_model::driver::{Directive, Driver, WorkerShare};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

const REQUESTS: u64 = 100_000;
/// Service time of each request.
const SERVICE: Nanos = Nanos::from_micros(200);

fn schedule(spacing: Spacing, requests: u64) -> Schedule {
    let horizon = Horizon { duration: None, requests: Some(requests) };
    Schedule { profile: "50000".parse().expect("a rate"), spacing, seed: 1, horizon }
}

fn workload(model: LoadModel, connections: Option<u32>) -> Workload {
    Workload { model, limits: Limits { connections, ..Limits::default() }, warmup: Nanos::ZERO }
}

/// Plays the whole workload and returns the number of requests.
fn play(workload: &Workload) -> u64 {
    let mut driver = Driver::new(workload, WorkerShare::WHOLE);
    let mut now = Timestamp::ZERO;
    let mut count = 0;
    let mut under_way = VecDeque::new();
    loop {
        match driver.poll(now) {
            Directive::Start(start) => {
                count += 1;
                under_way.push_back((now + SERVICE, start.user));
            }
            Directive::Wait { until } if under_way.front().is_none_or(|(end, _)| *end > until) => now = until,
            Directive::Wait { .. } => {
                let (end, user) = under_way.pop_front().expect("one that ends before");
                now = now.max(end);
                driver.complete(user, end);
            }
            Directive::Expired | Directive::Finished => return count,
        }
    }
}

fn turns(c: &mut Criterion) {
    let horizon = Horizon { duration: None, requests: Some(REQUESTS) };
    let closed = LoadModel::Closed { users: 64.into(), think_time: Nanos::ZERO, horizon };
    let sessions = schedule(Spacing::Even, REQUESTS / 5);
    let partly_open = LoadModel::PartlyOpen { sessions, requests_per_session: 5, think_time: Nanos::from_millis(1) };
    let cases = [
        ("open", workload(LoadModel::Open(schedule(Spacing::Even, REQUESTS)), None)),
        ("open, random gaps", workload(LoadModel::Open(schedule(Spacing::Poisson, REQUESTS)), None)),
        ("open, 64 connections", workload(LoadModel::Open(schedule(Spacing::Even, REQUESTS)), Some(64))),
        ("closed, 64 users", workload(closed, None)),
        ("partly open", workload(partly_open, None)),
    ];
    let mut group = c.benchmark_group("driver");
    group.throughput(Throughput::Elements(REQUESTS));
    for (name, workload) in &cases {
        assert_eq!(play(workload), REQUESTS, "{name}");
        group.bench_function(*name, |b| b.iter(|| play(workload)));
    }
}

criterion_group!(benches, turns);
criterion_main!(benches);
