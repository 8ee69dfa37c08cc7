//! Recorder and snapshot: merged workers equal one recorder, the tally can fail, and samples are what they claim.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::any::record;
use proptest::prelude::*;
use truetail_model::arrival::{Arrival, ScheduleHash};
use truetail_model::record::{
    Cause, Histogram, Metric, Outcome, Recorder, RecorderOptions, RequestRecord, Samples, SamplesOptions, Snapshot,
    StartDelay, Tally,
};
use truetail_model::time::{Nanos, Timestamp};

const S: u64 = 1_000_000_000;

/// Generates records with indices 0, 1, 2 …
fn records(most: usize) -> impl Strategy<Value = Vec<RequestRecord>> {
    proptest::collection::vec(record(), 0..most).prop_map(|mut records| {
        records.iter_mut().enumerate().for_each(|(i, record)| record.index = i as u64);
        records
    })
}

fn options(samples: SamplesOptions) -> RecorderOptions {
    RecorderOptions { measure_from: Timestamp(S), expected_seconds: 10, per_second: true, samples }
}

const FEW: SamplesOptions = SamplesOptions { capacity: 40, slowest: 10 };

/// Returns the hash of a worker's arrivals.
fn hash_of<'a>(records: impl Iterator<Item = &'a RequestRecord>) -> ScheduleHash {
    let mut hash = ScheduleHash::default();
    records.for_each(|r| hash.add(Arrival { index: r.index, intended_start: r.intended_start }));
    hash
}

fn recorded<'a>(records: impl Iterator<Item = &'a RequestRecord> + Clone, samples: SamplesOptions) -> Snapshot {
    let mut recorder = Recorder::new(options(samples));
    for record in records.clone() {
        recorder.plan(record.intended_start);
        recorder.record(record);
    }
    recorder.finish(hash_of(records))
}

/// Returns the contents of a snapshot in a form that can be compared.
fn contents(snapshot: &Snapshot) -> impl PartialEq + std::fmt::Debug + use<> {
    let exact = |h: &Histogram| (h.count(), h.sum_ns(), h.min(), h.max(), h.buckets().collect::<Vec<_>>());
    let indices = |records: &mut dyn Iterator<Item = &RequestRecord>| -> BTreeSet<u64> {
        records.map(|record| record.index).collect()
    };
    (
        (snapshot.tally, snapshot.warmup, snapshot.statuses.clone(), snapshot.causes.clone()),
        Metric::ALL.map(|metric| exact(snapshot.metric(metric))),
        exact(&snapshot.error_status_time),
        (snapshot.seconds.clone(), snapshot.intervals.clone(), snapshot.books.clone()),
        (snapshot.samples.offered(), snapshot.samples.one_in(), snapshot.samples.is_complete()),
        (indices(&mut snapshot.samples.even().iter()), indices(&mut snapshot.samples.slowest_left_out())),
        (snapshot.bytes_in, snapshot.measure_from, snapshot.last_end, snapshot.schedule_hash),
    )
}

/// Orders by class, then by time; of two equal records, the one planned first counts as slower.
fn slowness(record: &RequestRecord) -> (u8, u64, Reverse<u64>) {
    let class = if record.outcome.is_response() { 0 } else { 1 + u8::from(record.outcome.is_failed()) };
    (class, record.response_time().0, Reverse(record.index))
}

proptest! {
    // A recorder has room for many values, which is slow to make and to compare without optimisation.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn merged_hands_are_one_recorder(records in records(400), workers in 1usize..6, thin in any::<bool>()) {
        let samples = if thin { FEW } else { SamplesOptions::default() };
        let whole = recorded(records.iter(), samples);
        let parts = (0..workers).map(|worker| recorded(records.iter().skip(worker).step_by(workers), samples));
        let merged = parts.reduce(|mut merged, part| { merged.merge(&part); merged }).unwrap();
        prop_assert_eq!(contents(&merged), contents(&whole));
        prop_assert_eq!(merged.tally.check(), Ok(()));
    }

    /// All records are counted, and the warm-up is only in its own books.
    #[test]
    fn every_record_is_counted_where_it_belongs(records in records(200)) {
        let snapshot = recorded(records.iter(), SamplesOptions::default());
        let measured: Vec<_> = records.iter().filter(|record| record.intended_start.0 >= S).collect();
        let n = measured.len() as u64;
        let count = |wanted: fn(&RequestRecord) -> bool| measured.iter().filter(|record| wanted(record)).count() as u64;
        prop_assert_eq!((snapshot.tally.planned, snapshot.warmup.planned), (n, records.len() as u64 - n));
        let of = |metric| snapshot.metric(metric).count();
        let issued = count(|record| record.outcome != Outcome::NeverIssued);
        prop_assert_eq!(of(Metric::ResponseTime), count(|record| record.outcome.is_response()));
        prop_assert_eq!(of(Metric::ServiceTime), of(Metric::ResponseTime));
        prop_assert_eq!(of(Metric::Censored), count(|record| record.outcome.is_censored()));
        prop_assert_eq!(of(Metric::Failed), count(|record| record.outcome.is_failed()));
        prop_assert_eq!(of(Metric::ResponseTime) + of(Metric::Censored) + of(Metric::Failed), n);
        for metric in [Metric::StartDelay, Metric::GeneratorLag, Metric::ConnectionWait] {
            prop_assert_eq!(of(metric), issued);
        }
        let sum: u128 = measured.iter().filter(|r| r.outcome.is_response()).map(|r| u128::from(r.response_time().0)).sum();
        prop_assert_eq!(snapshot.metric(Metric::ResponseTime).sum_ns(), sum);
        let without_status = measured.iter().filter(|r| r.outcome == Outcome::ANSWERED).count() as u64;
        prop_assert_eq!(snapshot.answers_without_status(), without_status);
        prop_assert_eq!(snapshot.statuses.values().sum::<u64>() + without_status, of(Metric::ResponseTime));
        prop_assert!(!snapshot.statuses.contains_key(&0));
        prop_assert_eq!(snapshot.causes.values().sum::<u64>(), of(Metric::Failed));
        prop_assert_eq!(snapshot.seconds.iter().map(|second| second.planned).sum::<u64>(), n);
        prop_assert_eq!(snapshot.seconds.iter().map(|second| second.sent).sum::<u64>(), issued);
        let mut added_up = Snapshot::default();
        snapshot.books.rows().iter().for_each(|row| added_up.add_books(row));
        prop_assert_eq!((added_up.tally, added_up.statuses, added_up.causes), (snapshot.tally, snapshot.statuses.clone(), snapshot.causes.clone()));
        prop_assert_eq!((added_up.bytes_in, added_up.last_end), (snapshot.bytes_in, snapshot.last_end));
        let errors: u64 = snapshot.books.rows().iter().map(|row| row.error_status_time.count()).sum();
        prop_assert_eq!(errors, snapshot.error_status_time.count());
        for metric in Metric::ALL {
            let by_interval: u64 = snapshot.intervals.rows().iter().map(|row| row.metric(metric).count()).sum();
            prop_assert_eq!(by_interval, of(metric), "{}", metric.name());
        }
    }

}

proptest! {
    /// Books with a missing record, or with one too many, do not balance.
    #[test]
    fn a_dropped_record_is_found(outcomes in proptest::collection::vec(record(), 1..50), index in any::<prop::sample::Index>()) {
        let mut tally = Tally::default();
        tally.plan(outcomes.len() as u64);
        outcomes.iter().for_each(|record| tally.count(record.outcome));
        prop_assert_eq!(tally.check(), Ok(()));
        let mut dropped = Tally::default();
        dropped.plan(outcomes.len() as u64);
        let missing = index.index(outcomes.len());
        outcomes.iter().enumerate().filter(|(i, _)| *i != missing).for_each(|(_, r)| dropped.count(r.outcome));
        let error = dropped.check().unwrap_err();
        prop_assert_eq!((error.planned, error.accounted), (outcomes.len() as u64, outcomes.len() as u64 - 1));
        tally.count(outcomes[missing].outcome);
        prop_assert!(tally.check().is_err());
    }

    #[test]
    fn samples_that_fit_are_all_and_others_keep_the_tail(records in records(300), capacity in 1usize..200, slowest in 0usize..50) {
        let mut samples = Samples::new(SamplesOptions { capacity, slowest });
        records.iter().for_each(|record| samples.offer(record));
        samples.settle();
        prop_assert_eq!(samples.offered(), records.len() as u64);
        prop_assert_eq!(samples.is_complete(), records.len() <= capacity);
        prop_assert!(samples.even().len() <= capacity);
        prop_assert!(samples.even().iter().chain(samples.slowest_left_out()).all(|kept| records[kept.index as usize] == *kept));
        let kept: BTreeSet<u64> = samples.even().iter().chain(samples.slowest_left_out()).map(|record| record.index).collect();
        prop_assert_eq!(kept.len(), samples.even().len() + samples.slowest_left_out().count(), "none is there twice");
        let mut by_slowness = records.clone();
        by_slowness.sort_by_key(slowness);
        prop_assert!(by_slowness.iter().rev().take(slowest).all(|record| kept.contains(&record.index)));
    }
}

#[test]
fn a_recorder_that_never_hears_of_an_arrival_does_not_balance() {
    let mut recorder = Recorder::new(RecorderOptions::default());
    recorder.plan(Timestamp(5));
    assert_eq!(
        recorder.tally().check().unwrap_err().to_string().split(';').next().unwrap(),
        "the books do not balance: planned 1, accounted for 0"
    );
}

/// `one_in` is the true share: the even part of a million is within five standard deviations of it.
#[test]
fn the_even_part_is_an_even_part() {
    let mut samples = Samples::new(SamplesOptions { capacity: 10_000, slowest: 0 });
    let arrival = |index| Arrival { index, intended_start: Timestamp(index) };
    let n = 1_000_000;
    (0..n).for_each(|index| samples.offer(&RequestRecord::never_issued(arrival(index), Timestamp(n))));
    samples.settle();
    let kept = samples.even().len() as f64;
    let share = 1.0 / samples.one_in() as f64;
    assert!(samples.one_in() == 128, "one in {}", samples.one_in());
    let deviation = (n as f64 * share * (1.0 - share)).sqrt();
    assert!((kept - n as f64 * share).abs() < 5.0 * deviation, "{kept} kept");
}

/// Instants and times at the end of time need no overflow, and no row for each second until then.
#[test]
fn the_end_of_time_can_be_recorded() {
    let never = Timestamp::NEVER;
    let first = Arrival { index: 0, intended_start: Timestamp(0) };
    let last = Arrival { index: u64::MAX, intended_start: never };
    let mut recorder = Recorder::new(RecorderOptions { expected_seconds: usize::MAX, ..RecorderOptions::default() });
    let records = [
        RequestRecord::never_issued(last, Timestamp(0)),
        RequestRecord {
            tls_handshake: Some(Nanos::MAX),
            read_lag: Some(Nanos::MAX),
            bytes_in: u64::MAX,
            ..RequestRecord::new(first, never, never, Outcome::response(u16::MAX))
                .with_start_delay(Nanos::MAX, Some(Nanos::MAX))
        },
    ];
    for record in &records {
        recorder.plan(record.intended_start);
        recorder.record(record);
    }
    let snapshot = recorder.finish(ScheduleHash::default());
    assert_eq!(snapshot.tally.check(), Ok(()));
    assert_eq!(snapshot.metric(Metric::ResponseTime).max(), Some(Nanos::MAX));
    assert_eq!(snapshot.metric(Metric::ConnectTime).max(), Some(Nanos::MAX));
    assert!(snapshot.seconds.len() <= 1 << 20);
    assert_eq!(snapshot.seconds.iter().map(|second| second.planned).sum::<u64>(), 2);
}

/// A connection that no arrival waited for has its time, and is in no arrival's books.
#[test]
fn a_connection_opened_before_the_load_counts_in_the_first_second() {
    for per_second in [true, false] {
        let measure_from = Timestamp(3_000_000_000);
        let mut recorder = Recorder::new(RecorderOptions { measure_from, per_second, ..RecorderOptions::default() });
        recorder.record_opening(Nanos(300), Some(Nanos(200)));
        recorder.record_opening(Nanos(100), None);
        let nothing_else = recorder.clone().finish(ScheduleHash::default());
        assert_eq!((nothing_else.seconds.len(), nothing_else.tally.planned), (1, 0));
        let arrival = Arrival { index: 0, intended_start: measure_from };
        recorder.plan(measure_from);
        let record = RequestRecord::new(arrival, measure_from, Timestamp(3_000_000_007), Outcome::response(200));
        recorder.record(&record.with_start_delay(Nanos::ZERO, Some(Nanos::ZERO)));
        let snapshot = recorder.finish(ScheduleHash::default());
        let connecting = snapshot.metric(Metric::ConnectTime);
        assert_eq!((connecting.count(), connecting.max(), connecting.sum_ns()), (3, Some(Nanos(300)), 400));
        assert_eq!(snapshot.metric(Metric::TlsHandshakeTime).count(), 1);
        assert_eq!((snapshot.metric(Metric::StartDelay).count(), snapshot.tally.planned), (1, 1));
        if per_second {
            let by_second = [0, 1, 3].map(|second| snapshot.intervals.at(second).unwrap().metric(Metric::ConnectTime));
            assert_eq!(by_second.map(|times| times.count()), [2, 0, 1]);
        }
    }
}

#[test]
fn the_parts_of_a_delay_add_up_to_it() {
    let split = |total, wait, connect| {
        let delay = StartDelay::split(Timestamp(100), Timestamp(100 + total), Nanos(wait), Nanos(connect));
        assert_eq!(delay.total(), Nanos(total));
        (delay.generator_lag.0, delay.connection_wait.0, delay.connect.0)
    };
    assert_eq!(split(10, 3, 4), (3, 3, 4));
    assert_eq!(split(10, 0, 0), (10, 0, 0));
    assert_eq!(split(10, 30, 4), (0, 6, 4));
    assert_eq!(split(10, 3, 40), (0, 0, 10));
    assert_eq!(split(0, 1, 1), (0, 0, 0));
}

#[test]
fn names_are_names_of_one_thing() {
    assert_eq!(Cause::ALL.iter().map(|cause| cause.name()).collect::<BTreeSet<_>>().len(), Cause::ALL.len());
    for metric in Metric::ALL {
        assert_eq!(Metric::from_name(metric.name()), Some(metric));
    }
    assert_eq!(Metric::from_name("latency"), None);
}
