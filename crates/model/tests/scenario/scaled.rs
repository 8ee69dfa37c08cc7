//! Scenarios scaled to longer or shorter runs.

use proptest::prelude::*;
use truetail_model::arrival::{Horizon, Profile, Schedule};
use truetail_model::scenario::{ScaleError, builtin};
use truetail_model::service::{Fault, Gate};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModel;

use super::any_scenario::scenario;
use super::{S, file, parse};

proptest! {
    /// Faults of a scaled scenario can still happen, for any scenario and any sensible duration.
    #[test]
    fn a_scaled_scenario_is_one_that_can_be_read(scenario in scenario(), to in S..1_000_000 * S) {
        let scaled = scenario.scaled_to(Nanos(to)).unwrap();
        prop_assert_eq!(scaled.workload.model.horizon().duration, Some(Nanos(to)));
        // A recording is cut, and may become empty.
        if !matches!(&scaled.workload.model, LoadModel::Open(Schedule { profile: Profile::Trace(_), .. })
            | LoadModel::PartlyOpen { sessions: Schedule { profile: Profile::Trace(_), .. }, .. })
        {
            prop_assert_eq!(parse(&scaled.to_toml()), Ok(scaled));
        }
        let scaled_by_one = scenario.scaled_to(scenario.workload.model.horizon().duration.unwrap());
        prop_assert_eq!(scaled_by_one, Ok(scenario));
    }
}

#[test]
fn scaling_keeps_the_share_of_the_run() {
    let scaled = builtin::find("02").unwrap().scaled_to(Nanos::from_secs(6)).unwrap();
    assert_eq!(
        scaled.service.faults,
        [Fault::Stall { at: Timestamp(3 * S), length: Nanos::from_millis(100), gate: Gate::Answers }]
    );
    assert_eq!(scaled.service.baseline, Nanos::from_millis(10));
    assert_eq!(scaled.workload.limits.drain, Nanos::from_secs(30));

    let longer = builtin::find("05").unwrap().scaled_to(Nanos::from_secs(120)).unwrap();
    assert_eq!(longer.workload.limits.drain, Nanos::from_secs(180));
    assert_eq!(longer.service, builtin::find("05").unwrap().service);

    let ramp = builtin::find("03").unwrap().scaled_to(Nanos::from_secs(6)).unwrap();
    let target = Nanos::from_millis(100);
    assert_eq!(ramp.service.faults, [Fault::Ramp { from: Timestamp(2 * S), to: Timestamp(5 * S), target }]);
}

/// 59.999999999 s of a minute round to all of a second, but the fault still begins before the end.
#[test]
fn scaling_rounds_nothing_out_of_the_run() {
    let text = file("warmup = '59999999999ns'", "[[service.fault]]\nkind = 'reset'\nat = '59999999999ns'");
    let scaled = parse(&text).unwrap().scaled_to(Nanos(S)).unwrap();
    assert_eq!(scaled.workload.warmup, Nanos(S - 1));
    assert_eq!(parse(&scaled.to_toml()), Ok(scaled));
}

#[test]
fn scaling_a_count_and_a_profile() {
    let text = "[workload]\nprofile = 'ramp:0..200/10s'\nrequests = 1000\nwarmup = '1s'\n[service]\nbaseline = '1ms'";
    let scaled = parse(text).unwrap().scaled_to(Nanos::from_secs(1)).unwrap();
    let LoadModel::Open(schedule) = &scaled.workload.model else { panic!("open") };
    assert_eq!(schedule.horizon, Horizon { duration: Some(Nanos(S)), requests: Some(100) });
    // L(t) = 10·t², so arrival 999 comes after √99.9 = 9.994998750 s, which becomes 1 s.
    assert_eq!(schedule.profile.to_string(), "ramp:0..200/1000500375ns");
}

#[test]
fn what_cannot_be_scaled() {
    let healthy = builtin::find("01").unwrap();
    assert_eq!(healthy.scaled_to(Nanos::ZERO), Err(ScaleError::Zero));
    let closed = "[workload]\nmodel = 'closed'\nusers = 1\nrequests = 10\n[service]\nbaseline = '1ms'";
    assert_eq!(parse(closed).unwrap().scaled_to(Nanos(S)), Err(ScaleError::NoDuration));
}
