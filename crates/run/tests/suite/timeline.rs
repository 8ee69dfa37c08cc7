//! Tests of `timeline.csv` through a CSV reader.

use std::collections::HashMap;

use crate::support::{options, run, saved, schedules, slow, steady};
use proptest::prelude::*;
use truetail_model::record::{Outcome, RecorderOptions, RequestRecord};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{Run, folder};

fn rows(run: &Run) -> Vec<HashMap<String, Option<u64>>> {
    let folder = saved(run);
    let mut csv = csv::Reader::from_path(folder.path().join(folder::TIMELINE)).unwrap();
    csv.deserialize().collect::<Result<_, _>>().unwrap()
}

fn column(rows: &[HashMap<String, Option<u64>>], name: &str) -> Vec<Option<u64>> {
    rows.iter().map(|row| row[name]).collect()
}

/// Returns an arrival intended at `intended_ms`, sent `delay_ms` later, and ended `service_ms` after that.
fn arrival(intended_ms: u64, delay_ms: u64, service_ms: u64, outcome: Outcome) -> RequestRecord {
    let intended_start = Timestamp(intended_ms * 1_000_000);
    let actual_start = intended_start + Nanos::from_millis(delay_ms);
    RequestRecord {
        intended_start,
        actual_start,
        end: actual_start + Nanos::from_millis(service_ms),
        delay: truetail_model::record::StartDelay::split(intended_start, actual_start, Nanos::MAX, Nanos::ZERO),
        outcome,
        ..steady(1)[0]
    }
}

const OK: Outcome = Outcome::response(200);

#[test]
fn three_axes_and_two_queues() {
    let records = [
        arrival(0, 0, 10, OK),
        arrival(500, 0, 1_000, OK),
        arrival(600, 500, 100, Outcome::response(500)),
        arrival(700, 0, 800, Outcome::TimedOut),
        arrival(800, 0, 2_200, Outcome::InFlightAtEnd),
        arrival(1_200, 1_800, 0, Outcome::NeverIssued),
    ];
    let rows = rows(&run(RecorderOptions::default(), &records));
    for (name, expected) in [
        ("second", [0, 1, 2, 3]),
        ("planned", [5, 1, 0, 0]),
        ("sent", [4, 1, 0, 0]),
        ("completed", [1, 2, 0, 0]),
        ("error_status", [0, 1, 0, 0]),
        ("failed", [0, 1, 0, 0]),
        ("in_flight", [3, 1, 1, 1]),
        ("backlog", [1, 1, 1, 1]),
        ("interval_s", [1, 1, 1, 1]),
        ("unanswered", [2, 1, 0, 0]),
    ] {
        assert_eq!(column(&rows, name), expected.map(Some), "{name}");
    }
}

#[test]
fn a_quantile_among_the_unanswered_is_blank() {
    let records: Vec<_> = (0..100)
        .map(|i| arrival(i * 10, 0, 10 + i, if i < 95 { OK } else { Outcome::TimedOut }))
        .chain([arrival(2_000, 0, 10, OK)])
        .collect();
    let rows = rows(&run(RecorderOptions::default(), &records));
    let near = |ms: u64, value: Option<u64>| {
        let exact = ms * 1_000_000;
        value.is_some_and(|value| value >= exact && value - exact <= exact / 1000)
    };
    let first = &rows[0];
    assert!(near(59, first["response_time_p50_ns"]) && near(99, first["response_time_p90_ns"]), "{first:?}");
    for name in ["response_time_p99_ns", "response_time_p99_9_ns", "response_time_max_ns"] {
        assert_eq!(column(&rows, name)[..2], [None, None], "{name}");
    }
    assert!(near(104, first["service_time_max_ns"]) && near(10, rows[2]["response_time_max_ns"]), "{first:?}");
    assert_eq!(column(&rows, "unanswered"), [Some(5), Some(0), Some(0)]);
    assert!(rows[1].iter().filter(|(name, _)| name.contains("time")).all(|(_, value)| value.is_none()));
}

/// In a long run, only the first row of an interval has its quantiles; counts are per second.
#[test]
fn an_interval_says_how_long_it_is_and_is_said_once() {
    let rows = rows(&run(RecorderOptions::default(), &slow(700)));
    assert_eq!(rows.len(), 700);
    assert!(column(&rows, "planned").iter().all(|planned| *planned == Some(1)));
    for (second, row) in rows.iter().enumerate() {
        let first = second % 2 == 0;
        assert_eq!(row["interval_s"], first.then_some(2), "second {second}");
        let unanswered = u64::from(second % 10 == 2);
        assert_eq!(row["unanswered"], first.then_some(unanswered), "second {second}");
        assert_eq!(row["response_time_p50_ns"].is_some(), first, "second {second}");
        assert_eq!(row["response_time_max_ns"].is_some(), first && unanswered == 0, "second {second}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_last_row_agrees_with_the_books(options in options(), records in schedules(200)) {
        let run = run(options, &records);
        let rows = rows(&run);
        let tally = run.snapshot.tally;
        let sum = |name| column(&rows, name).into_iter().flatten().sum::<u64>();
        prop_assert_eq!((sum("planned"), sum("sent"), sum("completed")), (tally.planned, tally.issued, tally.responses));
        prop_assert_eq!(sum("failed"), tally.failed() + tally.timed_out);
        if options.per_second {
            prop_assert_eq!(sum("unanswered"), tally.unanswered());
        }
        if let Some(last) = rows.last() {
            prop_assert_eq!((last["in_flight"], last["backlog"]), (Some(tally.in_flight_at_end), Some(tally.never_issued)));
        }
    }
}
