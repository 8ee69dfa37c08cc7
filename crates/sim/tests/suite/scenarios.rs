//! The five built-in scenarios: every figure of the truth, from 60,000 requests that are all kept.

use crate::common::*;
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::workload::Limits;
use truetail_sim::Run;

fn shipped(name: &str) -> Scenario {
    builtin::find(name).unwrap()
}

/// Asserts quantiles (parts per 10,000) of a built-in scenario in exact milliseconds.
fn assert_quantiles_ms(name: &str, truth: &[(usize, f64)]) -> Run {
    let run = run(&shipped(name));
    let times = response_times(&run);
    assert_eq!(times.len(), 60_000);
    assert_eq!(run.snapshot.tally.responses, 60_000);
    for (q, expected_ms) in truth {
        assert_eq!(quantile_ns(&times, *q) as f64 / 1e6, *expected_ms, "quantile {q}/10000");
    }
    run
}

fn mean_ms(run: &Run) -> f64 {
    let times = response_times(run);
    times.iter().sum::<u64>() as f64 / times.len() as f64 / 1e6
}

#[test]
fn healthy_is_10_ms_everywhere() {
    let run = assert_quantiles_ms("01-healthy", &[(1, 10.0), (5000, 10.0), (9999, 10.0), (10_000, 10.0)]);
    assert_eq!(mean_ms(&run), 10.0);
}

#[test]
fn single_hiccup() {
    let truth = [(5000, 10.0), (9500, 10.0), (9900, 410.0), (9990, 950.0), (9999, 1004.0), (10_000, 1010.0)];
    let run = assert_quantiles_ms("02-single-hiccup", &truth);
    assert_eq!(format!("{:.3}", mean_ms(&run)), "18.342");
}

#[test]
fn sustained_slowdown() {
    let run = assert_quantiles_ms("03-sustained-slowdown", &[(9000, 100.0), (9900, 100.0), (10_000, 100.0)]);
    // p50 is arrival 30,000 of 60,000, which comes 9.999 s into the climb of 90 ms over 30 s.
    let times = response_times(&run);
    assert_eq!(quantile_ns(&times, 5000), 10_000_000 + 90_000_000 * 9_999 / 30_000);
    assert_eq!(format!("{:.0}", quantile_ns(&times, 5000) as f64 / 1e6), "40");
    // 20 s at 10 ms, 30 s at 55 ms on average, 10 s at 100 ms.
    assert_eq!(format!("{:.1}", mean_ms(&run)), "47.5");
}

#[test]
fn gc_pauses() {
    let truth = [(9800, 10.0), (9900, 110.0), (9990, 200.0), (9999, 209.0), (10_000, 210.0)];
    let run = assert_quantiles_ms("04-gc-pauses", &truth);
    assert_eq!(format!("{:.3}", mean_ms(&run)), "12.010");
}

#[test]
fn a_cap_that_does_not_bind_changes_nothing() {
    let capped = assert_quantiles_ms("05-saturation-not-binding", &[(1, 10.0), (9999, 10.0), (10_000, 10.0)]);
    assert_eq!(response_times(&capped), response_times(&run(&shipped("01-healthy"))));
}

#[test]
fn a_cap_that_binds_has_no_steady_state() {
    let truth = [(5000, 30_005.0), (9900, 59_405.0), (10_000, 60_005.0)];
    let run = assert_quantiles_ms("05-saturation", &truth);
    // Request 5b + j is served from 10b + j ms on, so its response time is 10 + 5b ms: the capacity is 500 a second.
    assert_eq!(run.snapshot.last_end, at_ms(120_004));
    let seconds = &run.snapshot.seconds;
    let mut planned = 0;
    let mut completed = 0;
    for (second, row) in seconds.iter().enumerate().take(60) {
        planned += row.planned;
        completed += row.completed;
        let backlog = planned - completed;
        // 500 more each second; an end at the turn of a second belongs to the next.
        assert_eq!(backlog, 500 * (second as u64 + 1) + 5, "second {second}");
    }
}

#[test]
fn saturation_with_a_timeout_is_the_timeout() {
    let mut scenario = shipped("05-saturation");
    let limits = Limits { timeout: Some(ms(1_000)), connections: None, ..scenario.workload.limits };
    scenario.workload.limits = limits;
    let tally = run(&scenario).snapshot.tally;
    assert_eq!(tally.responses + tally.timed_out, 60_000);
    // 10 + 5b ≤ 1,000 for b = 0 … 198, with five requests each.
    assert_eq!(tally.responses, 199 * 5);
}
