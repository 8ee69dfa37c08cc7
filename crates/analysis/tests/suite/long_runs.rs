//! Long runs, with several seconds per distribution. The findings must be the same, to the length of an interval.

use crate::support::{codes, queue, scenario, simulated, without_samples};
use truetail_analysis::{WarmupCutError, findings, settling, without_warmup};
use truetail_model::arrival::{Horizon, Profile};
use truetail_model::record::SamplesOptions;
use truetail_model::scenario::Scenario;
use truetail_model::service::Fault;
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::LoadModel;
use truetail_run::SettlingState::Settles;
use truetail_sim::{SimOptions, simulate};

const S: u64 = 1_000_000_000;
/// More than 1 024 s, and less than 2 048: intervals of four seconds.
const LENGTH_S: u64 = 1_200;

fn long(mut scenario: Scenario, per_second: f64) -> Scenario {
    let LoadModel::Open(schedule) = &mut scenario.workload.model else { unreachable!("an open scenario") };
    schedule.profile = Profile::constant(Rate::per_second(per_second).unwrap());
    schedule.horizon = Horizon { duration: Some(Nanos::from_secs(LENGTH_S)), requests: None };
    scenario
}

/// Ten times as slow for the first 303 s.
fn warming() -> Scenario {
    let mut scenario = long(scenario("01"), 20.0);
    let from = Timestamp(303 * S);
    let to = Timestamp(303 * S + 1);
    scenario.service.baseline = Nanos::from_millis(100);
    scenario.service.faults = vec![Fault::Ramp { from, to, target: Nanos::from_millis(10) }];
    scenario
}

#[test]
fn a_warm_up_is_found_to_an_interval_and_cut_between_two() {
    let scenario = warming();
    let run = without_samples(&warming());
    assert_eq!(run.snapshot.intervals.width_s(), 4);
    let found = settling(&run);
    assert_eq!((found.state, found.cut_ns), (Settles, Some(304 * S)), "{found:?}");
    assert_eq!(found.cut_arrivals, Some(304 * 20));

    let cut = without_warmup(&run, Timestamp(304 * S)).unwrap();
    let mut measured = scenario;
    measured.workload.warmup = Nanos::from_secs(304);
    let measured = simulate(&measured, SimOptions { samples: SamplesOptions::NONE, ..SimOptions::default() }).unwrap();
    assert_eq!((cut.snapshot.tally, cut.snapshot.warmup), (measured.snapshot.tally, measured.snapshot.warmup));
    assert_eq!(cut.snapshot.intervals, measured.snapshot.intervals);
    assert_eq!(cut.snapshot.books, measured.snapshot.books);
    assert_eq!(settling(&cut).cut_ns, None);

    let refused = without_warmup(&run, Timestamp(302 * S)).unwrap_err();
    assert_eq!(refused, WarmupCutError::WithinAnInterval { width_s: 4 });
    assert!(refused.to_string().contains("multiple of 4 s"), "{refused}");
}

/// A warm-up that ends within an interval leaves a part of it, and a part of the run's first interval.
#[test]
fn a_partial_interval_is_no_backlog_and_no_shift() {
    let mut scenario = long(scenario("01"), 20.0);
    scenario.workload.warmup = Nanos::from_secs(6);
    let run = simulate(&scenario, SimOptions { samples: SamplesOptions::NONE, ..SimOptions::default() }).unwrap();
    let found = findings(&run);
    assert_eq!(codes(&found), [""; 0], "{:?}", found.verdict);
    assert_eq!(found.settling.cut_ns, None, "{:?}", found.settling);
}

#[test]
fn saturation_is_seen_in_long_intervals() {
    let mut saturated = long(scenario("05"), 20.0);
    saturated.service.baseline = Nanos::from_millis(500);
    saturated.workload.limits.connections = Some(5);
    for run in [simulated(&saturated), without_samples(&saturated)] {
        assert_eq!(codes(&findings(&run)), ["saturated"]);
    }
}

/// For dependent arrivals, the confidence of a quantile is as by second, except for chance.
#[test]
fn dependence_is_seen_in_long_intervals() {
    let scenario = long(queue(0.8, 1), 160.0);
    let every = findings(&simulated(&scenario));
    let folded = findings(&without_samples(&scenario));
    for (every, folded) in every.response_time.quantiles.iter().zip(&folded.response_time.quantiles).take(4) {
        let a = every.effective_n.unwrap() as f64;
        let b = folded.effective_n.unwrap() as f64;
        assert!(b > a / 2.0 && b < a * 2.0, "p{}: {a} by requests, {b} by intervals", every.q * 100.0);
    }
}
