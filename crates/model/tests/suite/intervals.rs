//! Data by interval equals the recorded data, for any length of intervals and any order of merging.

use std::collections::BTreeMap;

use crate::any::record;
use proptest::prelude::*;
use truetail_model::arrival::ScheduleHash;
use truetail_model::random::mix64;
use truetail_model::record::{
    IntervalBooks, Mergeable, Metric, Outcome, Recorder, RecorderOptions, RequestRecord, SamplesOptions, Snapshot,
};
use truetail_model::time::{Nanos, Timestamp};

const S: u64 = 1_000_000_000;
/// Maximum number of intervals.
const MOST: u64 = 512;

/// Generates arrivals of a run of up to some hours, in no order.
fn records() -> impl Strategy<Value = Vec<RequestRecord>> {
    let length = prop_oneof![Just(10u64), Just(MOST), Just(MOST + 1), 1u64..20_000];
    let arrival = (record(), 0.0..1.0f64);
    (length, proptest::collection::vec(arrival, 0..150)).prop_map(|(length, arrivals)| {
        let moved = |(index, (record, at)): (usize, (RequestRecord, f64))| {
            let by = Nanos((at * length as f64) as u64 * S);
            RequestRecord {
                index: index as u64,
                intended_start: Timestamp(record.intended_start.0 % S) + by,
                actual_start: Timestamp(record.actual_start.0 - record.intended_start.0 + record.intended_start.0 % S)
                    + by,
                end: Timestamp(record.end.0 - record.intended_start.0 + record.intended_start.0 % S) + by,
                ..record
            }
        };
        arrivals.into_iter().enumerate().map(moved).collect()
    })
}

fn recorded<'a>(records: impl Iterator<Item = &'a RequestRecord>) -> Snapshot {
    let samples = SamplesOptions::NONE;
    let mut recorder = Recorder::new(RecorderOptions { expected_seconds: 1, samples, ..RecorderOptions::default() });
    for record in records {
        recorder.plan(record.intended_start);
        recorder.record(record);
    }
    recorder.finish(ScheduleHash::default())
}

/// Returns the shortest length of intervals, a power of two of seconds, that needs at most [`MOST`] intervals.
fn expected_width_s(records: &[RequestRecord]) -> u64 {
    let last = records.iter().map(|record| record.intended_start.second() as u64).max().unwrap_or(0);
    (last / MOST + 1).next_power_of_two()
}

fn response_times(records: &[RequestRecord], width_s: u64) -> BTreeMap<(usize, Nanos), u64> {
    let mut counts = BTreeMap::new();
    for record in records.iter().filter(|record| record.outcome.is_response()) {
        let one = recorded([record].into_iter());
        let (lowest, ..) = one.metric(Metric::ResponseTime).buckets().next().unwrap();
        *counts.entry((record.intended_start.second() / width_s as usize, lowest)).or_default() += 1;
    }
    counts
}

fn kept(snapshot: &Snapshot) -> BTreeMap<(usize, Nanos), u64> {
    let rows = snapshot.intervals.rows().iter().enumerate();
    rows.flat_map(|(i, row)| row.metric(Metric::ResponseTime).buckets().map(move |(value, n)| ((i, value), n)))
        .collect()
}

fn all_books(snapshot: &Snapshot) -> IntervalBooks {
    let mut sum = IntervalBooks::default();
    snapshot.books.rows().iter().for_each(|row| sum.merge(row));
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_was_recorded_is_kept(records in records()) {
        let snapshot = recorded(records.iter());
        let width_s = expected_width_s(&records);
        prop_assert_eq!((snapshot.intervals.width_s(), snapshot.books.width_s()), (width_s, width_s));
        prop_assert!(snapshot.intervals.rows().len() as u64 <= MOST && snapshot.books.rows().len() as u64 <= MOST);
        prop_assert_eq!(kept(&snapshot), response_times(&records, width_s));
        for metric in Metric::ALL {
            let by_interval: u64 = snapshot.intervals.rows().iter().map(|row| row.metric(metric).count()).sum();
            prop_assert_eq!(by_interval, snapshot.metric(metric).count(), "{}", metric.name());
        }
        let books = all_books(&snapshot);
        prop_assert_eq!((books.tally, &books.causes), (snapshot.tally, &snapshot.causes));
        prop_assert_eq!(&books.statuses.to_map(), &snapshot.statuses);
        for (i, row) in snapshot.books.rows().iter().enumerate() {
            let seconds = snapshot.books.seconds_of(i);
            let planned: u64 = snapshot.seconds.iter().take(seconds.end).skip(seconds.start).map(|row| row.planned).sum();
            prop_assert_eq!(row.tally.planned, planned);
        }
    }

    /// Parts of different lengths, and so with different intervals, merge in any order.
    #[test]
    fn parts_are_the_whole_in_any_order(records in records(), workers in proptest::collection::vec(0usize..5, 150), order in Just(vec![0usize, 1, 2, 3, 4]).prop_shuffle()) {
        let part = |worker: usize| recorded(records.iter().filter(|record| workers[record.index as usize] == worker));
        let mut merged = Snapshot::default();
        order.into_iter().for_each(|worker| merged.merge(&part(worker)));
        let whole = recorded(records.iter());
        prop_assert_eq!(&merged.intervals, &whole.intervals);
        prop_assert_eq!(&merged.books, &whole.books);
        prop_assert_eq!(&merged.seconds, &whole.seconds);
    }

    #[test]
    fn the_order_of_records_does_not_matter(records in records()) {
        let forth = recorded(records.iter());
        let back = recorded(records.iter().rev());
        prop_assert_eq!(&forth.intervals, &back.intervals);
        prop_assert_eq!(&forth.books, &back.books);
    }

    #[test]
    fn folding_and_then_adding_is_adding_and_then_folding(a in records(), b in records(), width in 0u32..14) {
        let a = recorded(a.iter()).intervals;
        let b = recorded(b.iter()).intervals;
        let folded = |mut intervals: truetail_model::record::ByInterval<_>| {
            intervals.coarsen_to(1 << width);
            intervals
        };
        let mut first = folded(a.clone());
        let mut then = a;
        first.merge(&folded(b.clone()));
        then.merge(&b);
        prop_assert_eq!(first, folded(then));
    }
}

/// Distributions with many buckets, which are folded before there are many intervals.
#[test]
fn wide_distributions_are_folded_early_and_lose_nothing() {
    let record = |index: u64| {
        let intended_start = Timestamp(index * S / 6_000);
        // All powers of two are equally likely.
        let wide = |salt: u64| Nanos(mix64(index ^ (salt << 60)) >> (24 + index % 24));
        RequestRecord {
            intended_start,
            actual_start: intended_start,
            end: intended_start + wide(1),
            connected: true,
            tls_handshake: Some(wide(2)),
            read_lag: Some(wide(3)),
            outcome: Outcome::response(200),
            ..RequestRecord::never_issued(truetail_model::arrival::Arrival { index, intended_start }, intended_start)
        }
    };
    let records: Vec<RequestRecord> = (0..6_000 * 300).map(record).collect();
    let snapshot = recorded(records.iter());
    let bytes: usize = snapshot.intervals.rows().iter().map(|row| row.heap_bytes()).sum();
    // The limit is 16 MiB, plus more values during folding.
    assert!(bytes < 24 << 20, "{bytes} bytes");
    assert!(snapshot.intervals.width_s() > 1 && snapshot.books.width_s() == snapshot.intervals.width_s());
    for metric in Metric::ALL {
        let by_interval: u64 = snapshot.intervals.rows().iter().map(|row| row.metric(metric).count()).sum();
        assert_eq!(by_interval, snapshot.metric(metric).count(), "{}", metric.name());
    }
}
