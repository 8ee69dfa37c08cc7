//! The scenarios of the laboratory: findings and truth against the figures that follow from the definitions.

use crate::support::{codes, ms, scenario, simulated, without_samples};
use truetail_analysis::{findings, omission, truth};
use truetail_model::arrival::Horizon;
use truetail_model::service::{Fault, Selector};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModel;
use truetail_run::VerdictState;

/// Quantiles with their value in milliseconds.
type Expected = &'static [(f64, f64)];

/// (scenario, quantiles, mean in milliseconds).
const TRUTH: [(&str, Expected, f64); 5] = [
    ("01-healthy", &[(0.5, 10.0), (0.9999, 10.0), (1.0, 10.0)], 10.0),
    ("02", &[(0.5, 10.0), (0.99, 410.0), (0.999, 950.0), (0.9999, 1004.0), (1.0, 1010.0)], 18.342),
    ("03", &[(0.5, 40.0), (0.9, 100.0), (0.99, 100.0)], 47.5),
    ("04", &[(0.9, 10.0), (0.99, 110.0), (0.999, 200.0), (0.9999, 209.0), (1.0, 210.0)], 12.010),
    ("05-saturation-not-binding", &[(0.5, 10.0), (0.9999, 10.0), (1.0, 10.0)], 10.0),
];

#[test]
fn the_truth_of_the_scenarios() {
    for (name, quantiles, mean_ms) in TRUTH {
        let truth = truth::truth(&scenario(name)).unwrap();
        for (q, expected) in quantiles {
            let value = truth.quantile(*q).unwrap().as_millis_f64();
            assert!((value - expected).abs() < 0.005, "{name} {q}: {value}");
        }
        let mean = truth.mean_ns().unwrap() / 1e6;
        assert!((mean - mean_ms).abs() < 0.001, "{name}: {mean}");
        assert_eq!((truth.count(), truth.unanswered()), (60_000, 0));
    }
}

#[test]
fn findings_are_the_truth_and_valid() {
    for (name, quantiles, _) in TRUTH {
        for run in [simulated(&scenario(name)), without_samples(&scenario(name))] {
            let found = findings(&run);
            // A service that gets ten times slower in mid-run gives true numbers of a mixture.
            let expected = if name == "03" { vec!["not_stationary"] } else { vec![] };
            assert_eq!(codes(&found), expected, "{name}: {:?}", found.verdict);
            for (q, expected) in quantiles {
                let value = ms(&found, *q);
                let tolerance = if found.response_time.exact { 0.005 } else { expected / 1000.0 };
                assert!((value - expected).abs() <= tolerance, "{name} {q}: {value}");
            }
            let offered = found.offered_per_second.unwrap();
            assert!((offered - 1000.0).abs() < 1e-9, "{offered}");
        }
    }
}

#[test]
fn every_quantile_is_within_its_interval() {
    for name in ["02", "03", "04", "05"] {
        for run in [simulated(&scenario(name)), without_samples(&scenario(name))] {
            for quantile in findings(&run).response_time.quantiles {
                let value = quantile.value_ns.unwrap();
                assert!(quantile.low_ns.is_none_or(|low| low <= value), "{name}: {quantile:?}");
                assert!(quantile.high_ns.is_none_or(|high| high >= value), "{name}: {quantile:?}");
                let has_interval = quantile.low_ns.is_some();
                // A level that moves for half of the run (03) or all of it (05) is one event, which bounds nothing.
                let moves = name == "03" || name == "05";
                let bounds = quantile.q < 1.0 && (!moves || has_interval);
                assert_eq!(has_interval, bounds, "{name}: {quantile:?}");
            }
        }
    }
}

/// One stall is one event, which does not tell how bad the next will be.
#[test]
fn one_stall_does_not_bound_the_tail() {
    let found = findings(&simulated(&scenario("02")));
    let p99 = found.response_time.quantiles[3];
    assert_eq!((p99.low_ns, p99.high_ns), (Some(10_000_000), None));
}

#[test]
fn saturation_is_invalid_and_gives_the_capacity() {
    let mut uncapped = scenario("05");
    uncapped.workload.limits.connections = None;
    for scenario in [scenario("05"), uncapped] {
        for run in [simulated(&scenario), without_samples(&scenario)] {
            let found = findings(&run);
            assert_eq!(found.verdict.state, VerdictState::Invalid);
            assert_eq!(found.verdict.reasons[0].code, "saturated");
            let capacity = found.verdict.reasons[0].numbers["capacity_per_second"].as_f64().unwrap();
            assert!((capacity - 500.0).abs() < 10.0, "{capacity}");
        }
    }
}

#[test]
fn unsupported_quantiles_are_refused() {
    let mut short = scenario("01");
    let LoadModel::Open(schedule) = &mut short.workload.model else { unreachable!() };
    schedule.horizon = Horizon { duration: None, requests: Some(71) };
    let found = findings(&simulated(&short));
    let [p50, p90, p95, p99, p999, p9999, max] = found.response_time.quantiles[..] else { panic!() };
    assert!(p50.supported && p50.low_ns.is_some() && p50.high_ns.is_some(), "{p50:?}");
    assert!(p90.supported && max.supported && max.value_ns.is_some());
    for (refused, needs_n) in [(p95, 72), (p99, 368), (p999, 3_688), (p9999, 36_887)] {
        assert_eq!((refused.supported, refused.value_ns, refused.needs_n), (false, None, Some(needs_n)));
    }
    assert_eq!(codes(&found), [""; 0], "the rows say it");
}

#[test]
fn a_closed_loop_omits_the_stall_and_an_open_one_does_not() {
    let scenario = scenario("02");
    let mut closed = scenario.clone();
    let horizon = scenario.workload.model.horizon();
    closed.workload.model = LoadModel::Closed { users: 10.into(), think_time: Nanos::ZERO, horizon };
    let closed = simulated(&closed);
    let open = simulated(&scenario);
    let truth = truth::truth(&scenario).unwrap();
    let stall = (Timestamp(30_000_000_000), Nanos::from_secs(1));
    let three = omission::comparison((&closed, &findings(&closed)), (&open, &findings(&open)), &truth, Some(stall));
    let p99 = &three.rows[3];
    assert_eq!((p99.closed_factor, p99.open_factor), (Some(41.0), Some(1.0)));
    let stall = three.stall.unwrap();
    assert_eq!((stall.closed, stall.open, stall.truth), (Some(0), Some(1000), 1000));
    assert_eq!(three.arrivals, [59_000, 60_000, 60_000]);
}

#[test]
fn a_black_hole_is_unanswered_in_truth_and_bounded_in_a_run() {
    let mut scenario = scenario("01");
    scenario.service.faults = vec![Fault::BlackHole { select: Selector { every: Some(50), ..Selector::default() } }];
    scenario.workload.limits.timeout = Some(Nanos::from_secs(2));
    let truth = truth::truth(&scenario).unwrap();
    assert_eq!(truth.unanswered(), 1200);
    assert_eq!((truth.quantile(0.98), truth.quantile(0.99)), (Some(Nanos::from_millis(10)), None));
    for run in [simulated(&scenario), without_samples(&scenario)] {
        let found = findings(&run);
        let [p50, p90, p95, p99, ..] = found.response_time.quantiles[..] else { panic!() };
        assert!(!p50.at_least && !p90.at_least && !p95.at_least && p99.at_least && !p99.no_answer, "{p99:?}");
        assert!((ms(&found, 0.99) - 2000.0).abs() <= 2.0 && ms(&found, 0.99) <= 2000.0);
        assert_eq!((p99.low_ns.is_some(), p99.high_ns), (true, None));
        assert_eq!((codes(&found), found.verdict.state), (vec!["censored_tail"], VerdictState::Suspect));
        assert_eq!((found.response_time.count, found.response_time.censored), (60_000, 1200));
    }
}

/// A server that refuses fast must not look fast. Its failures are facts, and no reason against the run.
#[test]
fn failures_are_slower_than_every_answer() {
    let mut scenario = scenario("01");
    scenario.service.faults = vec![Fault::Reset { select: Selector { every: Some(20), ..Selector::default() } }];
    let found = findings(&simulated(&scenario));
    let [_, p90, _, p99, ..] = found.response_time.quantiles[..] else { panic!() };
    assert!(!p90.at_least && p99.at_least && p99.no_answer);
    assert_eq!(found.verdict.state, VerdictState::Valid, "{:?}", found.verdict);
    assert_eq!(found.response_time.failed, 3000);
}

#[test]
fn error_statuses_are_answers_and_shown_apart() {
    let mut scenario = scenario("01");
    let select = Selector { every: Some(10), ..Selector::default() };
    scenario.service.faults = vec![Fault::ErrorStatus { status: 503, immediately: true, select }];
    for run in [simulated(&scenario), without_samples(&scenario)] {
        let found = findings(&run);
        let success = found.response_time_success.unwrap();
        let errors = found.response_time_error_status.unwrap();
        assert_eq!((found.response_time.count, success.count, errors.count), (60_000, 54_000, 6_000));
        let fastest = success.min_ns.unwrap();
        assert!((9_990_000..=10_000_000).contains(&fastest), "{fastest}");
        assert_eq!(errors.max_ns, Some(0));
        assert_eq!(found.verdict.state, VerdictState::Valid);
    }
    let healthy = findings(&simulated(&crate::support::scenario("01")));
    assert!(healthy.response_time_success.is_none() && healthy.response_time_error_status.is_none());
}
