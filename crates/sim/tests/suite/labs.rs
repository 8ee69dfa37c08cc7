//! The labs: every figure of the founding documents that follows from a definition.

use std::path::PathBuf;

use crate::common::*;
use truetail_model::record::Metric;
use truetail_model::time::{Nanos, Rate};
use truetail_sim::labs::{LabError, LabSeries, every_nth, freeze, order_router};

/// Reads a golden file from disk, so that a changed digit fails without a rebuild.
fn golden(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden/freeze").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn artifact(freeze: &freeze::FreezeResult, name: &str) -> String {
    let artifacts = freeze.artifacts(&[]);
    artifacts.iter().find(|artifact| artifact.name == name).expect(name).contents.clone()
}

fn assert_balanced(series: &LabSeries) {
    series.run.snapshot.tally.check().unwrap();
}

#[test]
fn freeze_is_its_golden_files_byte_by_byte() {
    let lab = freeze::run(&freeze::FreezeOptions::default()).unwrap();
    for (name, built_in) in freeze::GOLDEN {
        assert_eq!(artifact(&lab, name), golden(name), "{name}");
        assert_eq!(built_in, golden(name), "{name} as it was built in");
    }
    lab.series.iter().for_each(|series| assert_balanced(&series.series));
}

#[test]
fn freeze_gives_the_published_lines() {
    let lab = freeze::run(&freeze::FreezeOptions::default()).unwrap();
    let summary = "series,total_requests,whole_run_p99_ms\n\
                   closed-loop-raw,450,10.0\n\
                   closed-loop-corrected,450,460.0\n\
                   open-loop,500,460.0\n";
    assert_eq!(artifact(&lab, "summary.csv"), summary);
    assert_eq!(artifact(&lab, "closed-loop-raw.csv").lines().nth(3), Some("3,10.0,10.0,510.0,510.0,51.0,251"));
}

#[test]
fn the_freeze_as_runs_says_the_same() {
    let lab = freeze::run(&freeze::FreezeOptions::default()).unwrap();
    for (series, count, p99_ms) in [(0, 450, 10), (1, 500, 460), (2, 500, 460)] {
        let series = &lab.series[series].series;
        assert_eq!(series.count(), count, "{}", series.name);
        assert_eq!(series.quantile(0.99), Some(ms(p99_ms)), "{}", series.name);
    }
    let notes = &lab.series[1].series.run.facts.notes;
    assert!(notes[0].contains("450 requests were measured and 50 are reconstructed"), "{notes:?}");
}

#[test]
fn the_manifest_knows_golden_files_of_the_default_only() {
    let default = freeze::FreezeOptions::default();
    let manifest = artifact(&freeze::run(&default).unwrap(), "manifest.json");
    assert_eq!(manifest.matches("\"golden_match\": true").count(), 4, "{manifest}");
    let longer = freeze::FreezeOptions { duration: Nanos::from_secs(6), ..default };
    let manifest = artifact(&freeze::run(&longer).unwrap(), "manifest.json");
    assert_eq!(manifest.matches("\"golden_match\": null").count(), 4, "{manifest}");
    assert_eq!(manifest.matches("\"duration\": \"6s\"").count(), 1, "{manifest}");
}

#[test]
fn a_freeze_with_other_options() {
    let options = freeze::FreezeOptions {
        pause_start: ms(500),
        pause_length: ms(1_000),
        duration: ms(2_500),
        users: 10,
        ..freeze::FreezeOptions::default()
    };
    let lab = freeze::run(&options).unwrap();
    let raw = artifact(&lab, "closed-loop-raw.csv");
    // Ten users each: 50 requests and the one that waits, then 49 from 1,510 ms on, and 50 in the last half second.
    let rows = ["1,10.0,10.0,1010.0,1010.0,510.0,510", "2,10.0,10.0,10.0,10.0,490.0,1000"];
    assert_eq!(raw.lines().skip(1).take(2).collect::<Vec<_>>(), rows);
    assert_eq!(raw.lines().last(), Some("2.5,10.0,10.0,10.0,10.0,1000.0,1500"));
}

#[test]
fn an_interval_without_a_request_has_no_quantiles() {
    let options = freeze::FreezeOptions {
        pause_start: ms(0),
        pause_length: ms(3_000),
        duration: ms(4_000),
        ..freeze::FreezeOptions::default()
    };
    let lab = freeze::run(&options).unwrap();
    let raw = artifact(&lab, "closed-loop-raw.csv");
    assert_eq!(raw.lines().nth(2), Some("2,,,,,0.0,1"), "{raw}");
    // Beyond 2,047 ms the histogram has three digits: 3,010 and 3,011 share a bucket.
    assert_eq!(raw.lines().nth(1), Some("1,3011.0,3011.0,3011.0,3011.0,1.0,1"), "{raw}");
}

#[test]
fn a_freeze_that_makes_no_sense() {
    let default = freeze::FreezeOptions::default();
    let half = freeze::FreezeOptions { base: Nanos::from_micros(10_500), ..default };
    let message = freeze::run(&half).unwrap_err().to_string();
    assert!(message.starts_with("base is 10500us; this lab counts in whole milliseconds"), "{message}");
    let never = freeze::FreezeOptions { expected_interval: Nanos::ZERO, ..default };
    assert_eq!(freeze::run(&never).unwrap_err(), LabError::Zero { option: "expected-interval" });
    let nobody = freeze::FreezeOptions { users: 0, ..default };
    assert_eq!(freeze::run(&nobody).unwrap_err(), LabError::Zero { option: "users" });
    let long = freeze::FreezeOptions { duration: Nanos::from_secs(1_000_000_000), ..default };
    assert!(matches!(freeze::run(&long), Err(LabError::TooManyRequests { .. })));
}

fn assert_ms(series: &LabSeries, q: f64, expected: f64) {
    let value = series.quantile(q).unwrap().as_millis_f64();
    assert!((value - expected).abs() < 0.005, "{} q={q}: {value} and not {expected}", series.name);
}

#[test]
fn every_nth_is_the_truth_of_the_table() {
    let lab = every_nth::run(&every_nth::EveryNthOptions::default()).unwrap();
    for (q, closed, open) in
        [(0.5, 1.0, 1.0), (0.9, 1.0, 137.67), (0.99, 1.0, 193.89), (0.999, 200.0, 200.0), (1.0, 200.0, 200.0)]
    {
        assert_ms(&lab.closed, q, closed);
        assert_ms(&lab.open, q, open);
    }
    assert_eq!((lab.closed.count(), lab.open.count()), (13_500, 13_500));
    assert_eq!((lab.closed_slow, lab.open_slow), (27, 4_213));
    let p99 = lab.ratios().find(|line| line.q == 0.99).unwrap();
    assert_eq!(format!("{:.0}", p99.ratio()), "194");
    [&lab.closed, &lab.open].into_iter().for_each(assert_balanced);
}

#[test]
fn every_nth_knows_when_it_asks_too_much() {
    let default = every_nth::EveryNthOptions::default();
    assert!((default.utilisation() - 0.6291).abs() < 1e-9);
    let message = every_nth::run(&every_nth::EveryNthOptions { pause_every: 0, ..default }).unwrap_err().to_string();
    assert_eq!(message, "pause-every is zero; it must be above zero");
    let rate = Rate::per_second(1e12).unwrap();
    let many = every_nth::EveryNthOptions { rate, ..default };
    assert!(matches!(every_nth::run(&many), Err(LabError::TooManyRequests { .. })));
}

#[test]
fn a_lab_whose_service_never_catches_up_has_no_quantiles() {
    let default = every_nth::EveryNthOptions::default();
    let hopeless = every_nth::EveryNthOptions { pause: Nanos::from_secs(3_600), ..default };
    // 27 pauses of an hour: the requests behind the 24th have no answer within the day.
    assert!(matches!(every_nth::run(&hopeless), Err(LabError::Unanswered { .. })));
}

#[test]
fn a_pause_of_the_order_router_holds_up_200_arrivals() {
    let lab = order_router::run(&order_router::OrderRouterOptions::default()).unwrap();
    let short = Nanos::from_micros(50);
    let longest = Nanos::from_micros(10_050);
    let slow = |series: &LabSeries| {
        let times = response_times(&series.run);
        times.iter().filter(|time| **time > short.0).count()
    };
    // Ten pauses: one request each for the naive loop, and 200 arrivals each in truth.
    assert_eq!((slow(&lab.naive), slow(&lab.open)), (10, 2_000));
    for series in [&lab.naive, &lab.corrected, &lab.open] {
        assert_balanced(series);
        assert_eq!(series.quantile(0.5), Some(short), "{}", series.name);
        assert_eq!(series.quantile(1.0), Some(longest), "{}", series.name);
    }
    assert_eq!(lab.naive.quantile(0.9999), Some(short), "the naive loop hides it");
    // 2,000 of 160,000 arrivals wait 10.05, 10 … 0.1 ms, ten each: p99 is the 1,601st from above, p99.9 the 161st.
    assert_eq!(lab.open.quantile(0.99), Some(Nanos::from_micros(2_050)));
    assert_eq!(lab.open.quantile(0.999), Some(Nanos::from_micros(9_250)));
}

#[test]
fn the_correction_of_the_order_router_finds_the_truth() {
    let lab = order_router::run(&order_router::OrderRouterOptions::default()).unwrap();
    // Here the naive loop really sends at the expected interval, so the correction is exact.
    assert_eq!(lab.corrected.count(), lab.open.count());
    let corrected = lab.corrected.run.snapshot.metric(Metric::ResponseTime);
    let open = lab.open.run.snapshot.metric(Metric::ResponseTime);
    assert!(corrected.buckets().eq(open.buckets()));
}

#[test]
fn an_order_router_that_never_works() {
    let default = order_router::OrderRouterOptions::default();
    let stuck = order_router::OrderRouterOptions { pause: ms(800), ..default };
    let message = order_router::run(&stuck).unwrap_err().to_string();
    assert!(message.starts_with("a pause of 800ms every 800ms never ends"), "{message}");
}
