//! Throughput of a recorder in records per second: `cargo bench -p truetail-model --bench recorder`.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use truetail_model::arrival::Arrival;
use truetail_model::random::Random;
use truetail_model::record::{Outcome, Recorder, RecorderOptions, RequestRecord, SamplesOptions};
use truetail_model::time::{Nanos, Timestamp};

const REQUESTS: u64 = 100_000;
const GAP_NS: u64 = 20_000;

/// Requests at 50,000/s that take 200 µs and more.
fn records(outcome: impl Fn(u64) -> Outcome) -> Vec<RequestRecord> {
    let mut random = Random::new(1, 0);
    let record = |index: u64| {
        let arrival = Arrival { index, intended_start: Timestamp(index * GAP_NS) };
        let actual_start = arrival.intended_start + Nanos(random.next_u64() % 50_000);
        let end = actual_start + Nanos::from_micros(200) + Nanos((random.exponential() * 100_000.0) as u64);
        RequestRecord {
            read_lag: Some(Nanos(random.next_u64() % 20_000)),
            bytes_in: 200,
            ..RequestRecord::new(arrival, actual_start, end, outcome(index))
        }
    };
    (0..REQUESTS).map(record).collect()
}

fn take(mut recorder: Recorder, records: &[RequestRecord]) -> Recorder {
    for record in records {
        recorder.plan(record.intended_start);
        recorder.record(record);
    }
    recorder
}

fn record(c: &mut Criterion) {
    let answered = records(|_| Outcome::response(200));
    let mixed = records(|index| if index % 4 == 0 { Outcome::TimedOut } else { Outcome::response(503) });
    let whole = RecorderOptions::default();
    let lean = RecorderOptions { per_second: false, samples: SamplesOptions::NONE, ..whole };
    let cases = [
        ("answers, all that a run keeps", whole, &answered),
        ("answers, of the whole run only", lean, &answered),
        ("errors and timeouts, all that a run keeps", whole, &mixed),
    ];
    let mut group = c.benchmark_group("recorder");
    group.throughput(Throughput::Elements(REQUESTS));
    for (name, options, records) in cases {
        let new = || Recorder::new(options);
        group.bench_function(name, |b| b.iter_batched(new, |recorder| take(recorder, records), BatchSize::LargeInput));
    }
}

criterion_group!(benches, record);
criterion_main!(benches);
