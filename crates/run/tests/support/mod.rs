//! Example runs, and comparisons of runs.
#![allow(dead_code)] // Each test binary uses a part of it.

mod arbitrary;
mod examples;
mod findings;

use tempfile::TempDir;
use truetail_model::arrival::{Arrival, ScheduleHash};
use truetail_model::record::{
    Cause, Histogram, Metric, Outcome, Recorder, RecorderOptions, RequestRecord, Samples, Snapshot, TargetTimes,
};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{Findings, Run, folder};

pub use arbitrary::*;
pub use examples::*;
pub use findings::*;

pub fn snapshot(options: RecorderOptions, records: &[RequestRecord]) -> Snapshot {
    let mut recorder = Recorder::new(options);
    let mut hash = ScheduleHash::default();
    for record in records {
        recorder.plan(record.intended_start);
        recorder.record(record);
        hash.add(Arrival { index: record.index, intended_start: record.intended_start });
    }
    recorder.finish(hash)
}

/// Returns a run of these records, all for one target.
pub fn run(options: RecorderOptions, records: &[RequestRecord]) -> Run {
    let mut snapshot = snapshot(options, records);
    let mut times = TargetTimes::default();
    records
        .iter()
        .filter(|record| record.intended_start >= options.measure_from)
        .for_each(|record| times.record(record));
    snapshot.targets = vec![times];
    Run { facts: facts(&snapshot), snapshot }
}

/// Saves a run, with its example findings, in a new folder.
pub fn saved(run: &Run) -> TempDir {
    saved_with(run, &findings(run))
}

/// Saves a run in a new folder.
pub fn saved_with(run: &Run, findings: &Findings) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    folder::save(folder.path(), run, findings).unwrap();
    folder
}

/// Returns the run as its folder gives it back.
pub fn through_a_folder(run: &Run) -> Run {
    folder::load(saved(run).path()).unwrap().run
}

/// Returns two runs of a second that began at different times.
pub fn two_runs() -> [Run; 2] {
    [1, 2].map(|started| {
        let mut run = run(RecorderOptions::default(), &steady(1));
        run.facts.started_at_unix_ns = Some(started);
        run
    })
}

/// Asserts that a run in which any of these changes was made to `part` is refused when it is read, in one line that
/// contains `says`.
#[track_caller]
pub fn assert_refused<P>(
    (run, findings): (Run, Findings),
    part: fn(&mut Run) -> &mut P,
    says: &str,
    changes: &[fn(&mut P)],
) {
    for (number, change) in changes.iter().enumerate() {
        let mut run = run.clone();
        change(part(&mut run));
        let error =
            folder::load(saved_with(&run, &findings).path()).expect_err("a folder that no run writes").to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{number}: {error}");
    }
}

/// A thousand answers per second for `seconds`, 10 ms each, with a stall, 503 answers, and arrivals without an answer.
pub fn steady(seconds: u64) -> Vec<RequestRecord> {
    let record = |index: u64| {
        let intended = index * 1_000_000;
        let outcome = match index % 500 {
            7 => Outcome::TimedOut,
            8 => Outcome::Reset(Cause::ResetByPeer),
            9 => Outcome::response(503),
            _ => Outcome::response(200),
        };
        let generator_lag = Nanos(20_000 + (index * 7919) % 5_000);
        let actual_start = Timestamp(intended) + generator_lag;
        let stall = 300_000_000u64.saturating_sub(intended % 2_000_000_000);
        let arrival = Arrival { index, intended_start: Timestamp(intended) };
        let end = actual_start + Nanos(10_000_000 + stall + (index * 104_729) % 999_983);
        RequestRecord {
            connected: index < 64,
            tls_handshake: (index < 32).then_some(Nanos(90_000 + index)),
            read_lag: (index % 500 != 11).then_some(Nanos(3_000 + index % 700)),
            knock_on: Nanos(index % 3 * 400),
            bytes_in: 67,
            ..RequestRecord::new(arrival, actual_start, end, outcome)
        }
    };
    (0..seconds * 1000).map(record).collect()
}

/// One arrival per second for `seconds`. All are answered within a second, except every tenth.
pub fn slow(seconds: u64) -> Vec<RequestRecord> {
    let moved = |(index, record): (u64, RequestRecord)| {
        let by = index * 1_000_000_000 - record.intended_start.0;
        RequestRecord {
            intended_start: record.intended_start + Nanos(by),
            actual_start: record.actual_start + Nanos(by),
            end: record.end + Nanos(by),
            outcome: if index % 10 == 3 { Outcome::TimedOut } else { Outcome::response(200) },
            ..record
        }
    };
    (0..seconds).zip(steady(seconds.div_ceil(1000))).map(moved).collect()
}

/// Asserts that two histograms have the same contents, regardless of their capacity.
#[track_caller]
pub fn assert_same_histogram(name: &str, a: &Histogram, b: &Histogram) {
    let figures = |h: &Histogram| (h.count(), h.sum_ns(), h.min(), h.max());
    assert_eq!(figures(a), figures(b), "{name}");
    assert!(a.buckets().eq(b.buckets()), "buckets of {name} differ");
}

/// Asserts that two samples have the same contents, in any order.
#[track_caller]
pub fn assert_same_samples(a: &Samples, b: &Samples) {
    let sorted = |mut records: Vec<RequestRecord>| {
        records.sort_by_key(|record| record.index);
        records
    };
    let parts = |samples: &Samples| {
        (sorted(samples.even().to_vec()), sorted(samples.slowest_left_out().copied().collect()), samples.one_in())
    };
    assert_eq!((a.offered(), a.options(), a.is_complete()), (b.offered(), b.options(), b.is_complete()));
    assert_eq!(parts(a), parts(b));
}

/// Asserts that two snapshots are equal except for their samples.
#[track_caller]
pub fn assert_same_counts(a: &Snapshot, b: &Snapshot) {
    assert_eq!((a.tally, a.warmup, &a.statuses, &a.causes), (b.tally, b.warmup, &b.statuses, &b.causes));
    let figures = |s: &Snapshot| (s.bytes_in, s.measure_from, s.last_end, s.schedule_hash);
    assert_eq!(figures(a), figures(b));
    for metric in Metric::ALL {
        assert_same_histogram(metric.name(), a.metric(metric), b.metric(metric));
    }
    assert_same_histogram("error_status_time", &a.error_status_time, &b.error_status_time);
    assert_eq!(a.seconds, b.seconds);
    assert_eq!(a.intervals, b.intervals);
    assert_eq!(a.targets, b.targets);
}

#[track_caller]
pub fn assert_same_snapshot(a: &Snapshot, b: &Snapshot) {
    assert_same_counts(a, b);
    assert_same_samples(&a.samples, &b.samples);
}
