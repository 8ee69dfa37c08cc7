//! A load that is dealt out over machines and merged equals the undivided load, bit for bit.

use crate::common::*;
use crate::equivalence::service;
use proptest::prelude::*;
use truetail_model::arrival::{GammaShape, Horizon, Profile, Schedule, Spacing, Trace};
use truetail_model::record::Snapshot;
use truetail_model::scenario::Scenario;
use truetail_model::service::Service;
use truetail_model::time::Timestamp;
use truetail_model::users::Users;
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::{MergeError, Merger, MissingStripes, Run, merge};
use truetail_sim::{SimOptions, simulate, simulate_on};

fn profile() -> impl Strategy<Value = Profile> {
    let known = ["80/s", "steps:20/300ms,0/100ms,200/400ms", "ramp:0..200/1s", "sine:10..150/700ms"];
    let recorded = prop::collection::vec(0u64..1_000_000_000, 1..80).prop_map(|mut instants| {
        // Some arrivals are due together.
        instants.iter_mut().for_each(|instant| *instant -= *instant % 10_000_000);
        instants.sort_unstable();
        Profile::Trace(Trace::new(instants.into_iter().map(Timestamp).collect()).expect("they ascend"))
    });
    prop_oneof![prop::sample::select(known.to_vec()).prop_map(|text| text.parse().expect("a profile")), recorded]
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let bursts = GammaShape::new(0.2).expect("a shape");
    let spacing = prop_oneof![Just(Spacing::Even), Just(Spacing::Poisson), Just(Spacing::Gamma(bursts))];
    (profile(), spacing, any::<u64>(), prop::option::of(1u64..150)).prop_map(|(profile, spacing, seed, requests)| {
        Schedule { profile, spacing, seed, horizon: Horizon { duration: Some(ms(1_000)), requests } }
    })
}

fn changing_users() -> impl Strategy<Value = Users> {
    let stages =
        ["0..60/500ms,60..5/500ms", "steps:20/300ms,0/200ms,50/500ms", "80..1/900ms", "7..30/200ms,30..0/300ms"];
    prop::sample::select(stages.to_vec()).prop_map(|text| text.parse().expect("stages"))
}

fn models() -> impl Strategy<Value = LoadModel> {
    prop_oneof![
        schedules().prop_map(LoadModel::Open),
        (1u32..90, 1u64..50).prop_map(|(users, think)| closed(users, ms(think), for_secs(1))),
        (changing_users(), 1u64..50).prop_map(|(users, think)| closed(users, ms(think), for_secs(1))),
        (schedules(), 1u32..5, 0u64..50).prop_map(|(sessions, requests_per_session, think)| {
            LoadModel::PartlyOpen { sessions, requests_per_session, think_time: ms(think) }
        }),
    ]
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let limits = (prop::option::of(1u64..400), 0u64..1_500).prop_map(|(timeout, drain)| Limits {
        connections: None,
        timeout: timeout.map(ms),
        drain: ms(drain),
        ..Limits::default()
    });
    (service(), models(), limits, 0u64..300)
        .prop_map(|(service, model, limits, warmup)| scenario(service, Workload { model, limits, warmup: ms(warmup) }))
}

/// Formats books, histograms, seconds and intervals.
fn numbers(run: &Run) -> String {
    let Snapshot { tally, warmup, statuses, causes, metrics, error_status_time, seconds, intervals, .. } =
        &run.snapshot;
    let ends = (run.facts.elapsed_ns, run.snapshot.last_end, run.snapshot.measure_from);
    format!(
        "{tally:?} {warmup:?} {statuses:?} {causes:?} {ends:?} {metrics:?} {error_status_time:?} {seconds:?} {intervals:?}"
    )
}

/// Formats every request, by its place in the schedule, and the hash of the schedule.
fn requests(run: &Run) -> String {
    let mut records = run.snapshot.samples.even().to_vec();
    records.sort_by_key(|record| record.index);
    format!("{:?} {records:?}", run.snapshot.schedule_hash)
}

fn merged(parts: &[Run], holes: MissingStripes) -> Result<Run, MergeError> {
    let mut merger = Merger::default();
    parts.iter().try_for_each(|part| merger.add(part.clone(), None))?;
    merger.finish(holes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn stripes_merged_are_the_undivided_run(scenario in scenarios(), machines in 1u32..=64) {
        let whole = simulate(&scenario, SimOptions::default()).unwrap();
        let parts = simulate_on(machines, &scenario, SimOptions::default()).unwrap();
        parts.iter().for_each(|part| part.snapshot.tally.check().unwrap());
        let merged = merge(parts).unwrap();
        prop_assert_eq!(numbers(&merged), numbers(&whole));
        // In the open model, the arrivals of each machine are known beforehand.
        if matches!(scenario.workload.model, LoadModel::Open(_)) {
            prop_assert_eq!(requests(&merged), requests(&whole));
        }
    }

    #[test]
    fn what_missing_stripes_held_was_never_issued(
        scenario in scenarios(), machines in 2u32..=16, keep in any::<u16>(),
    ) {
        let whole = simulate(&scenario, SimOptions::default()).unwrap();
        let parts = simulate_on(machines, &scenario, SimOptions::default()).unwrap();
        let present = |index: usize| index == 0 || keep & (1 << index) != 0;
        let lacking: Vec<u32> = (0..machines).filter(|index| !present(*index as usize)).map(|index| index + 1).collect();
        let mut issued = 0;
        let there: Vec<Run> = parts.into_iter().enumerate().filter(|(index, _)| present(*index)).map(|(_, run)| run).collect();
        for part in &there {
            issued += part.snapshot.tally.issued + part.snapshot.warmup.issued;
        }
        if lacking.is_empty() {
            prop_assert!(merged(&there, MissingStripes::Refused).is_ok());
            return Ok(());
        }
        let expected = MergeError::Holes { missing: lacking.clone(), of: machines };
        prop_assert_eq!(merged(&there, MissingStripes::Refused).unwrap_err(), expected);
        let recording = match scenario.workload.model.schedule().map(|schedule| &schedule.profile) {
            Some(Profile::Trace(trace)) => Some(trace.clone()),
            _ => None,
        };
        if let Some(trace) = &recording {
            let longer = [trace.instants(), &trace.instants()[trace.instants().len() - 1..]].concat();
            let wrong = [(None, MergeError::UnknownHoles), (Trace::new(longer).ok(), MergeError::AnotherRecording)];
            for (recording, why) in wrong {
                prop_assert_eq!(merged(&there, MissingStripes::NeverIssued { recording }).unwrap_err(), why);
            }
        }
        let merged = merged(&there, MissingStripes::NeverIssued { recording }).unwrap();
        merged.snapshot.tally.check().unwrap();
        prop_assert_eq!(merged.snapshot.tally.issued + merged.snapshot.warmup.issued, issued);
        prop_assert_eq!(&merged.facts.shards.as_ref().unwrap().missing, &lacking);
        if matches!(scenario.workload.model, LoadModel::Open(_)) {
            let planned = |run: &Run| (run.snapshot.tally.planned, run.snapshot.warmup.planned, run.snapshot.schedule_hash);
            prop_assert_eq!(planned(&merged), planned(&whole));
        }
    }
}

/// Another version of the random gaps, as `stripe.schedule` records it, gives other arrivals.
#[test]
fn what_stripes_of_another_version_held_is_not_filled_in() {
    let load = workload(poisson(80.0, 1, for_secs(1)), unlimited(ms(500)));
    let scenario = scenario(Service::healthy(ms(10)), load);
    let parts = simulate_on(3, &scenario, SimOptions::default()).unwrap();
    let filled = |is_of_another_version: bool| {
        let mut there = parts[..2].to_vec();
        if is_of_another_version {
            there
                .iter_mut()
                .for_each(|part| part.facts.stripe.as_mut().unwrap().schedule = "0123456789abcdef".to_owned());
        }
        merged(&there, MissingStripes::NeverIssued { recording: None })
    };
    assert!(filled(false).is_ok());
    assert_eq!(filled(true).unwrap_err(), MergeError::HolesOfAnotherVersion);
}
