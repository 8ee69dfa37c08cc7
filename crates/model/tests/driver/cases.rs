//! Arbitrary cases: load models, caps, stops, and the behaviour of service and generator.

use proptest::prelude::*;
use truetail_model::arrival::{Horizon, Schedule, Spacing};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::users::Users;
use truetail_model::workload::{Limits, LoadModel, Workload};

use super::MS;

#[derive(Clone, Copy, Debug)]
pub struct Stop {
    pub at: Timestamp,
    pub at_once: bool,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub workload: Workload,
    pub workers: u32,
    pub stop: Option<Stop>,
    /// Mean service time; a single one is at most five times as long.
    pub service: Nanos,
    /// True if some requests never end.
    pub black_holes: bool,
    /// True if the caller wakes up late and hears of ends in any order, instead of at the instant of each event.
    pub late: bool,
    pub seed: u64,
}

fn millis(low: u64, high: u64) -> impl Strategy<Value = Nanos> {
    (low * MS..=high * MS).prop_map(Nanos)
}

fn horizon() -> impl Strategy<Value = Horizon> {
    prop_oneof![
        millis(1, 2_000).prop_map(|duration| Horizon { duration: Some(duration), requests: None }),
        (1u64..200).prop_map(|requests| Horizon { duration: None, requests: Some(requests) }),
        (millis(1, 2_000), 1u64..2_000)
            .prop_map(|(duration, requests)| Horizon { duration: Some(duration), requests: Some(requests) }),
    ]
}

prop_compose! {
    fn schedule()(
        profile in prop_oneof![
            Just("300"), Just("7.5"), Just("steps:100/300ms,0/300ms,400/1s"), Just("ramp:0..400/1s"), Just("ramp:300..0/1s"),
        ],
        poisson in any::<bool>(),
        seed in any::<u64>(),
        horizon in horizon(),
    ) -> Schedule {
        let spacing = if poisson { Spacing::Poisson } else { Spacing::Even };
        Schedule { profile: profile.parse().unwrap(), spacing, seed, horizon }
    }
}

/// Users of a constant number, or of one that changes while the load lasts.
fn users() -> impl Strategy<Value = Users> {
    let stage = (0u32..7, 0u32..7, 1u64..900);
    let stages = proptest::collection::vec(stage, 2..6).prop_filter_map("every number is zero", |stages| {
        let stage = |(from, to, length): &(u32, u32, u64)| format!("{from}..{to}/{length}ms");
        stages.iter().map(stage).collect::<Vec<_>>().join(",").parse().ok()
    });
    prop_oneof![(1u32..7).prop_map(Users::constant), stages]
}

fn model() -> impl Strategy<Value = LoadModel> {
    prop_oneof![
        schedule().prop_map(LoadModel::Open),
        (users(), millis(0, 40), horizon()).prop_map(|(users, think_time, horizon)| LoadModel::Closed {
            users,
            think_time,
            horizon
        }),
        (schedule(), 1u32..5, millis(0, 40)).prop_map(|(sessions, requests_per_session, think_time)| {
            LoadModel::PartlyOpen { sessions, requests_per_session, think_time }
        }),
    ]
}

prop_compose! {
    pub fn case()(
        model in model(),
        connections in proptest::option::of(1u32..9),
        connection_per_session in any::<bool>(),
        drain in millis(0, 600),
        workers in 1u32..=5,
        stop in proptest::option::of((0..2_500 * MS, any::<bool>())),
        service in millis(1, 150),
        black_holes in any::<bool>(),
        late in any::<bool>(),
        seed in any::<u64>(),
    ) -> Case {
        // A request that never ends may hold up a count forever, but not a duration.
        let black_holes = black_holes && model.horizon().duration.is_some();
        let stop = stop.map(|(at, at_once)| Stop { at: Timestamp(at), at_once });
        let limits = Limits { connections, connection_per_session, channels: None, timeout: None, drain };
        Case { workload: Workload { model, limits, warmup: Nanos::ZERO }, workers, stop, service, black_holes, late, seed }
    }
}
