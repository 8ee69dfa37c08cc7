//! A run in progress, as if it had been stopped now: its books balance, and unfinished arrivals are counted.

use crate::support::{scenario, simulated};
use truetail_analysis::{findings, stopped_now};
use truetail_model::arrival::ScheduleHash;
use truetail_model::record::{Metric, Outcome, Recorder, RecorderOptions, RequestRecord};
use truetail_model::time::Timestamp;
use truetail_run::Run;

const S: u64 = 1_000_000_000;

/// Returns what an engine would have recorded of `run` at `now`, with open books, and the arrivals due by then.
fn at(run: &Run, now: Timestamp, measure_from: Timestamp) -> (Run, Vec<u64>) {
    let mut recorder = Recorder::new(RecorderOptions { measure_from, ..RecorderOptions::default() });
    let mut due = vec![0; now.second() + 1];
    let begun = |record: &&RequestRecord| record.actual_start <= now && record.outcome != Outcome::NeverIssued;
    for record in run.snapshot.samples.even() {
        if record.intended_start < now && record.intended_start >= measure_from {
            due[record.intended_start.second()] += 1;
        }
    }
    for record in run.snapshot.samples.even().iter().filter(begun) {
        recorder.plan(record.intended_start);
        if record.end <= now {
            recorder.record(record);
        }
    }
    let mut facts = run.facts.clone();
    facts.elapsed_ns = now.0;
    (Run { facts, snapshot: recorder.finish(ScheduleHash::default()) }, due)
}

/// Returns true if the arrival's second ended at least a second before `now`.
fn is_old(record: &RequestRecord, now: Timestamp) -> bool {
    Timestamp((record.intended_start.second() as u64 + 1) * S) + truetail_model::time::Nanos(S) <= now
}

#[test]
fn books_balance_at_any_time_and_the_backlog_is_in_them() {
    // A stall of some seconds; with few connections, arrivals wait in the client too.
    for connections in [None, Some(3)] {
        let mut stalled = scenario("02");
        stalled.workload.limits.connections = connections;
        let whole = simulated(&stalled);
        let mut most_waiting = 0;
        // Every one and a half seconds: in the middle of a second, and at its end.
        for now in (0..140).step_by(3).map(|halves| Timestamp(halves * S / 2 + 1)) {
            let (so_far, due) = at(&whole, now, Timestamp::ZERO);
            let closed = stopped_now(so_far.clone(), &due);
            let tally = closed.snapshot.tally;
            tally.check().unwrap_or_else(|error| panic!("{now:?}: {error}"));
            let records = whole.snapshot.samples.even();
            let has_ended = |record: &&RequestRecord| {
                record.end <= now && record.outcome != Outcome::NeverIssued && record.outcome != Outcome::InFlightAtEnd
            };
            let expected = records.iter().filter(|record| has_ended(record) || is_old(record, now)).count() as u64;
            assert_eq!(tally.planned, expected, "{now:?}");
            let outstanding = records.iter().filter(|record| is_old(record, now) && !has_ended(record)).count() as u64;
            assert_eq!(tally.in_flight_at_end + tally.never_issued, outstanding, "{now:?}");
            most_waiting = most_waiting.max(tally.never_issued);
            let snapshot = &closed.snapshot;
            assert_eq!(snapshot.metric(Metric::Censored).count(), tally.censored());
            let in_rows: u64 = snapshot.intervals.rows().iter().map(|row| row.metric(Metric::Censored).count()).sum();
            assert_eq!(in_rows, tally.censored());
            assert_eq!(snapshot.seconds.iter().map(|row| row.planned).sum::<u64>(), tally.planned);
            assert_eq!(snapshot.books.rows().iter().map(|row| row.tally.planned).sum::<u64>(), tally.planned);
            let reasons = findings(&closed).verdict.reasons;
            assert!(reasons.iter().all(|reason| reason.code != "books_unbalanced"), "{now:?}: {reasons:?}");
        }
        assert_eq!(most_waiting > 0, connections.is_some());
    }
}

#[test]
fn a_stall_shows_while_it_lasts() {
    let mut stalled = scenario("02");
    stalled.workload.limits.connections = Some(3);
    let whole = simulated(&stalled);
    let slowest = whole.snapshot.samples.even().iter().max_by_key(|record| record.response_time()).unwrap();
    // Shortly before the slowest request is answered: no request of the stall has ended.
    let now = Timestamp(slowest.end.0 - 100_000_000);
    let (so_far, due) = at(&whole, now, Timestamp::ZERO);
    let p99 = |run: &Run| truetail_analysis::quantile(run, Metric::ResponseTime, 0.99);
    let quantile = p99(&stopped_now(so_far, &due));
    assert!(quantile.at_least || quantile.value_ns > Some(S / 2), "{quantile:?}");
}

#[test]
fn of_a_healthy_run_every_answered_request_is_kept_one_by_one() {
    let whole = simulated(&scenario("01"));
    let now = Timestamp(5 * S + 1);
    let (so_far, due) = at(&whole, now, Timestamp(S));
    let closed = stopped_now(so_far, &due);
    assert_eq!(closed.snapshot.samples.even().len() as u64, closed.snapshot.tally.planned);
    assert_eq!(closed.snapshot.tally.censored(), 0);
    assert!(closed.snapshot.warmup.planned > 0);
    closed.snapshot.warmup.check().unwrap();
    // The result is the same if the schedule is not known in advance.
    let (so_far, _) = at(&whole, now, Timestamp(S));
    assert_eq!(stopped_now(so_far, &[]).snapshot.tally, closed.snapshot.tally);
}
