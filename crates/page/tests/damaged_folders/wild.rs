//! Runs that are possible but implausible, with any load, generator and times.

use proptest::prelude::*;
use truetail_model::record::RequestRecord;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModelKind;
use truetail_run::{EndClock, Facts, GeneratorStats, OfferedLoad, Pause, Run, RunSource};

use crate::support;

fn any_size() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (0u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift),
        1 => Just(0),
        1 => Just(u64::MAX),
    ]
}

/// Returns a time of any magnitude that a run can have.
fn any_time() -> impl Strategy<Value = u64> {
    any_size().prop_map(|ns| ns >> 4)
}

fn optional<T: std::fmt::Debug>(of: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    proptest::option::weighted(0.7, of)
}

fn profiles() -> impl Strategy<Value = String> {
    let known = [
        "1000/s",
        "0.001/s",
        "ramp:1..1000000/1ns",
        "sine:100+-50/1s",
        "steps:1/s*1s,2/s*1s",
        "trace:x",
        "",
        "1e300/s",
    ];
    proptest::sample::select(known.to_vec()).prop_map(str::to_owned)
}

fn loads() -> impl Strategy<Value = OfferedLoad> {
    let models = vec![LoadModelKind::Open, LoadModelKind::Closed, LoadModelKind::PartlyOpen];
    let spacings = vec!["even", "poisson", "?"];
    let schedule = (
        optional(profiles()),
        optional(proptest::sample::select(spacings)),
        optional(any_size()),
        optional(any_size()),
    );
    let users = (optional(any::<u32>()), optional(any::<u32>()), optional(any::<u32>()), optional(any_size()));
    let limits = (optional(any_size()), any_size(), any_size());
    (proptest::sample::select(models), schedule, users, limits, any::<bool>()).prop_map(
        |(model, schedule, users, limits, is_mix)| {
            let (profile, spacing, duration_ns, requests) = schedule;
            let (users, requests_per_session, connections, think_time_ns) = users;
            let (timeout_ns, drain_ns, warmup_ns) = limits;
            let example = support::offered();
            OfferedLoad {
                model,
                profile,
                spacing: spacing.map(str::to_owned),
                duration_ns,
                requests,
                users,
                requests_per_session,
                connections,
                think_time_ns,
                timeout_ns,
                drain_ns,
                warmup_ns,
                mix: example.mix.clone().filter(|_| is_mix),
                ..example
            }
        },
    )
}

fn generators() -> impl Strategy<Value = GeneratorStats> {
    let pause = (any::<u32>(), any_time(), any_time());
    let pauses = proptest::collection::vec(pause, 0..4);
    let numbers = (any_time(), any_time(), any_time(), any_time(), any_time());
    (any::<u32>(), pauses, numbers, optional(any_time()), any::<bool>()).prop_map(
        |(threads, pauses, (a, b, c, d, e), clock_reading_ns, stamped)| GeneratorStats {
            threads,
            pauses: pauses.into_iter().map(|(worker, at_ns, length_ns)| Pause { worker, at_ns, length_ns }).collect(),
            paused_ns: a,
            pause_count: b,
            busiest_worker_cpu_ns: c,
            unstamped: d,
            connections_peak: e,
            clock_reading_ns,
            end_clock: if stamped { EndClock::Kernel } else { EndClock::User },
            ..support::generator()
        },
    )
}

/// Stretches the intended starts of the records to `to_ns`, and lengthens some requests.
fn stretched(
    mut records: Vec<RequestRecord>,
    to_ns: u64,
    long: &[(proptest::sample::Index, u64)],
) -> Vec<RequestRecord> {
    let last = records.last().map_or(1, |record| record.intended_start.0).max(1);
    for record in &mut records {
        let place = (u128::from(record.intended_start.0) * u128::from(to_ns) / u128::from(last)) as u64;
        let delay = record.delay.total();
        let service = record.service_time();
        record.intended_start = Timestamp(place);
        record.actual_start = record.intended_start + delay;
        record.end = record.actual_start + service;
    }
    let n = records.len();
    for (which, ns) in long.iter().filter(|_| n > 0) {
        let record = &mut records[which.index(n)];
        record.end = record.end + Nanos(*ns);
    }
    records
}

/// A wild run. Its debug output shows the facts, without all histograms.
pub struct WildRun(pub Run);

impl std::fmt::Debug for WildRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let WildRun(Run { facts, snapshot }) = self;
        write!(f, "{facts:?} {:?} {:?}", snapshot.tally, snapshot.samples.even())
    }
}

pub fn runs() -> impl Strategy<Value = WildRun> {
    // A longer timeline would be slow.
    let length = prop_oneof![Just(0u64), 0u64..20_000_000_000, 0u64..600_000_000_000];
    let long = proptest::collection::vec((any::<proptest::sample::Index>(), 0u64..600_000_000_000), 0..3);
    let records =
        (support::schedules(120), length, long).prop_map(|(records, to_ns, long)| stretched(records, to_ns, &long));
    let sources = vec![RunSource::Sockets, RunSource::Simulator, RunSource::Callable];
    let ends = (any::<bool>(), optional(any::<bool>()), any_time(), optional(any_size()));
    (records, support::options(), loads(), optional(generators()), proptest::sample::select(sources), ends).prop_map(
        |(records, options, offered, generator, source, (interrupted, cut_short, elapsed_ns, started))| {
            let run = support::run(options, &records);
            let facts = Facts {
                offered,
                generator,
                source,
                interrupted,
                cut_short,
                elapsed_ns,
                started_at_unix_ns: started,
                ..run.facts
            };
            WildRun(Run { facts, ..run })
        },
    )
}
