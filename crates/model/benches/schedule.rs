//! Throughput of a schedule in arrivals per second: `cargo bench -p truetail-model --bench schedule`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use truetail_model::arrival::{Horizon, Schedule, Spacing};

const ARRIVALS: u64 = 100_000;

fn schedule(profile: &str, spacing: Spacing) -> Schedule {
    let horizon = Horizon { duration: None, requests: Some(ARRIVALS) };
    Schedule { profile: profile.parse().expect("a profile"), spacing, seed: 1, horizon }
}

fn walk(c: &mut Criterion) {
    let cases = [
        ("constant", schedule("50000", Spacing::Even)),
        ("constant, random gaps", schedule("50000", Spacing::Poisson)),
        ("ramp", schedule("ramp:1000..50000/60s", Spacing::Even)),
        ("sine", schedule("sine:1000..50000/10s", Spacing::Even)),
        ("steps, random gaps", schedule("steps:1000/1s,50000/60s", Spacing::Poisson)),
    ];
    let mut group = c.benchmark_group("schedule");
    group.throughput(Throughput::Elements(ARRIVALS));
    for (name, schedule) in &cases {
        group.bench_function(*name, |b| b.iter(|| schedule.arrivals().map(|arrival| arrival.intended_start).max()));
    }
    group.bench_function("one stripe of four", |b| {
        let whole = schedule("50000", Spacing::Poisson);
        b.iter(|| whole.stripe(1, 4).map(|arrival| arrival.intended_start).max());
    });
}

criterion_group!(benches, walk);
criterion_main!(benches);
