//! Arrivals as planned, and as a generator in trouble makes them.

use crate::support::{changed, codes, scenario, simulated, without_samples};
use truetail_analysis::findings;
use truetail_model::arrival::Spacing;
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::LoadModel;
use truetail_run::{ArrivalFidelity, Run};

/// 1 000/s, and a service so slow that a little lag does not show in the response time.
fn slow_service(spacing: Spacing) -> Scenario {
    let mut slow = scenario("01");
    slow.service.baseline = Nanos::from_secs(1);
    let LoadModel::Open(schedule) = &mut slow.workload.model else { unreachable!() };
    schedule.spacing = spacing;
    slow
}

fn late(run: &Run, lag_ns: impl Fn(u64) -> u64) -> Run {
    changed(run, |record| {
        let lag = Nanos(lag_ns(record.intended_start.0));
        record.delay.generator_lag = lag;
        record.actual_start = record.actual_start + lag;
        record.end = record.end + lag;
    })
}

fn fidelity(run: &Run) -> ArrivalFidelity {
    findings(run).arrival_fidelity.unwrap()
}

#[test]
fn an_ideal_generator_is_on_time() {
    for spacing in [Spacing::Even, Spacing::Poisson] {
        let run = simulated(&slow_service(spacing));
        let found = fidelity(&run);
        assert_eq!((found.within_1ms, found.within_tenth_of_gap, found.displaced_by_generator), (1.0, 1.0, 0));
        assert!(found.mean_gap_ns.abs_diff(1_000_000) < 20_000, "{found:?}");
        let gaps = found.gaps.unwrap();
        let dispersion = found.dispersion.unwrap();
        assert_eq!((gaps.count + 1, gaps.distance, gaps.tolerance_ns), (found.issued, 0.0, found.mean_gap_ns / 10));
        assert_eq!(dispersion.planned, dispersion.actual);
        assert_eq!(gaps.exponential.is_some(), spacing == Spacing::Poisson);
        if let Some(exponential) = gaps.exponential {
            assert_eq!(exponential.planned_distance, exponential.actual_distance);
            assert!(exponential.planned_distance < exponential.critical_distance, "{exponential:?}");
            assert!((0.9..1.1).contains(&dispersion.planned), "{dispersion:?}");
        } else {
            assert!(dispersion.planned < 0.01, "{dispersion:?}");
        }
    }
}

/// For any profile, gaps are exponential on the clock on which the rate is 1.
#[test]
fn a_moving_rate_is_taken_into_account() {
    let mut moving = slow_service(Spacing::Poisson);
    let LoadModel::Open(schedule) = &mut moving.workload.model else { unreachable!() };
    schedule.profile = "sine:100..1900/20s".parse().unwrap();
    let exponential = fidelity(&simulated(&moving)).gaps.unwrap().exponential.unwrap();
    assert!(exponential.actual_distance < exponential.critical_distance, "{exponential:?}");
}

/// A generator that wakes every 20 ms sends 20 requests at once, which a response time of one second hardly shows.
#[test]
fn bursts_that_nobody_planned_are_told() {
    let wakes_every = |every: u64| move |intended: u64| intended.next_multiple_of(every) - intended;
    let bursts = late(&simulated(&slow_service(Spacing::Even)), wakes_every(20_000_000));
    let found = findings(&bursts);
    assert_eq!(codes(&found), ["arrivals_off_schedule"]);
    let fidelity = found.arrival_fidelity.unwrap();
    assert!(fidelity.within_1ms < 0.11 && fidelity.gaps.unwrap().distance > 0.9, "{fidelity:?}");
    assert!(fidelity.dispersion.unwrap().actual > 5.0, "{fidelity:?}");
    let numbers = &found.verdict.reasons[0].numbers;
    assert_eq!(numbers["issued"], 60_000);
    assert!(numbers["displaced"].as_u64().unwrap() > 50_000, "{numbers:?}");
    // A little lag has no effect.
    let little = late(&simulated(&slow_service(Spacing::Even)), |_| 60_000);
    assert!(codes(&findings(&little)).is_empty());
}

/// If the lag shows in the response time, only that is reported.
#[test]
fn lag_that_is_told_is_not_told_again() {
    let found = findings(&late(&simulated(&scenario("01")), |_| 15_000_000));
    assert_eq!(codes(&found), ["generator_lag"]);
    assert!(found.arrival_fidelity.unwrap().displaced_by_generator > 59_000);
}

/// Waiting for the user's own cap is not caused by the generator.
#[test]
fn a_cap_displaces_nothing_by_generator() {
    let mut capped = slow_service(Spacing::Even);
    capped.workload.limits.connections = Some(1_010);
    capped.service.faults = scenario("02").service.faults;
    let found = findings(&simulated(&capped));
    assert!(found.tally.planned == 60_000 && !codes(&found).contains(&"arrivals_off_schedule"), "{:?}", codes(&found));
    assert!(found.arrival_fidelity.unwrap().within_1ms < 1.0);
}

#[test]
fn shares_are_known_from_histograms_too() {
    let wide = late(&simulated(&slow_service(Spacing::Even)), |intended| intended % 7 * 500_000);
    let exact = fidelity(&wide);
    let mut thinned = wide.clone();
    thinned.snapshot.samples = without_samples(&scenario("01")).snapshot.samples;
    let by_bucket = fidelity(&thinned);
    assert!((exact.within_1ms - by_bucket.within_1ms).abs() < 0.002, "{exact:?} {by_bucket:?}");
    assert!(exact.displaced_by_generator.abs_diff(by_bucket.displaced_by_generator) < 200, "{exact:?} {by_bucket:?}");
    assert!(by_bucket.gaps.is_none() && by_bucket.dispersion.unwrap().window_ns == 1_000_000_000);
}

#[test]
fn a_closed_loop_has_no_schedule() {
    let mut closed = scenario("01");
    let horizon = closed.workload.model.horizon();
    closed.workload.model = LoadModel::Closed { users: 10.into(), think_time: Nanos::ZERO, horizon };
    assert_eq!(findings(&simulated(&closed)).arrival_fidelity, None);
}

#[test]
fn a_handful_of_arrivals_is_no_trouble() {
    let mut few = scenario("01");
    let LoadModel::Open(schedule) = &mut few.workload.model else { unreachable!() };
    schedule.profile = truetail_model::arrival::Profile::constant(Rate::per_second(0.05).unwrap());
    let found = fidelity(&simulated(&few));
    assert_eq!((found.issued, found.gaps, found.dispersion), (3, None, None));
}
