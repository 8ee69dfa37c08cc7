//! Rates of few arrivals, of arrivals at the last instant, and of late requests are over the whole schedule.

use proptest::prelude::*;
use truetail_analysis::findings;
use truetail_model::arrival::{Horizon, Profile, Spacing, Trace};
use truetail_model::record::{Outcome, SamplesOptions};
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::LoadModel;
use truetail_run::VerdictState::{Invalid, Valid};
use truetail_run::{Findings, Run};
use truetail_sim::{SimOptions, simulate};

use crate::support::{changed, codes, scenario, simulated};

/// Puts this load on the healthy service.
fn offered(profile: Profile, spacing: Spacing, horizon: Horizon) -> Scenario {
    let mut scenario = scenario("01");
    let LoadModel::Open(schedule) = &mut scenario.workload.model else { unreachable!() };
    (schedule.profile, schedule.spacing, schedule.horizon) = (profile, spacing, horizon);
    scenario
}

fn per_second(rate: f64) -> Profile {
    Profile::constant(Rate::per_second(rate).unwrap())
}

fn seconds(seconds: f64) -> Horizon {
    Horizon { duration: Some(Nanos((seconds * 1e9) as u64)), requests: None }
}

/// The run of a generator that sends each request this late.
fn late(run: &Run, lag: Nanos) -> Run {
    changed(run, |record| {
        record.delay.generator_lag = lag;
        record.actual_start = record.actual_start + lag;
        record.end = record.end + lag;
    })
}

fn is_not_doubted_for_its_rate(found: &Findings) -> bool {
    !codes(found).contains(&"rate_not_reached")
}

#[test]
fn one_request_a_second_is_valid() {
    let found = findings(&late(&simulated(&offered(per_second(1.0), Spacing::Even, seconds(10.0))), Nanos(900_000)));
    assert_eq!((found.verdict.state, codes(&found)), (Valid, vec![]));
    assert_eq!((found.offered_per_second, found.throughput_per_second), (Some(1.0), Some(1.0)));
}

/// 240 arrivals in each whole second, the last of them at the very end.
#[test]
fn a_recording_in_whole_seconds_is_valid() {
    let instants: Vec<Timestamp> = (0..2_400).map(|i| Timestamp(i / 240 * 1_000_000_000)).collect();
    let profile = Profile::Trace(Trace::new(instants).unwrap());
    for samples in [SamplesOptions::default(), SamplesOptions::NONE] {
        let horizon = Horizon { duration: profile.natural_length(), requests: None };
        let scenario = offered(profile.clone(), Spacing::Even, horizon);
        let run = simulate(&scenario, SimOptions { samples, ..SimOptions::default() }).unwrap();
        assert!(is_not_doubted_for_its_rate(&findings(&run)), "{:?}", codes(&findings(&run)));
    }
}

/// Nine of ten requests took too long to send, however short the run was.
#[test]
fn what_was_never_sent_is_no_load() {
    for length in [0.1, 1.0, 5.0] {
        let run = simulated(&offered(per_second(1_000.0), Spacing::Even, seconds(length)));
        let unsent = changed(&run, |record| {
            if record.index % 10 > 0 {
                record.outcome = Outcome::NeverIssued;
            }
        });
        let found = findings(&unsent);
        assert_eq!(found.verdict.state, Invalid);
        assert!(codes(&found).contains(&"rate_not_reached"), "{length} s: {:?}", codes(&found));
    }
}

/// 300 a second, and 2 % of them take 300 ms: the last answers come after the end of the schedule.
#[test]
fn a_run_whose_requests_were_all_answered_met_its_rate() {
    let run = simulated(&offered(per_second(300.0), Spacing::Even, seconds(10.0)));
    let slow = changed(&run, |record| {
        if record.index % 50 == 49 {
            record.end = record.actual_start + Nanos::from_millis(300);
        }
    });
    let found = findings(&slow);
    assert_eq!((found.offered_per_second, found.throughput_per_second), (Some(300.0), Some(300.0)));
}

/// A service that answers half of the offered rate continues after the end of the schedule. Its rate is its capacity.
#[test]
fn an_overloaded_service_did_not_meet_the_rate() {
    let mut overloaded = offered(per_second(1_000.0), Spacing::Even, seconds(10.0));
    overloaded.service.concurrency = Some(5);
    let found = findings(&simulated(&overloaded));
    let throughput = found.throughput_per_second.unwrap();
    assert!((throughput / 500.0 - 1.0).abs() < 0.01, "{throughput}");
}

proptest! {
    /// No schedule misses its rate if all requests are sent within milliseconds. Answered and offered rate are equal.
    #[test]
    fn no_schedule_misses_its_rate_by_milliseconds(
        rate in 0.2f64..400.0,
        length in 0.2f64..30.0,
        poisson in any::<bool>(),
        by_count in any::<bool>(),
        lag_us in 0u64..50_000,
    ) {
        let spacing = if poisson { Spacing::Poisson } else { Spacing::Even };
        let count = (rate * length).ceil() as u64;
        let horizon = if by_count { Horizon { duration: None, requests: Some(count) } } else { seconds(length) };
        let run = simulated(&offered(per_second(rate), spacing, horizon));
        prop_assume!(run.snapshot.tally.planned > 0);
        let found = findings(&late(&run, Nanos::from_micros(lag_us)));
        prop_assert!(is_not_doubted_for_its_rate(&found), "{:?}", found.verdict);
        if run.snapshot.tally.planned > 1 {
            prop_assert_eq!(found.offered_per_second, found.throughput_per_second);
        }
    }
}
