//! Arbitrary scenarios whose faults can happen.

use proptest::prelude::*;
use truetail_model::arrival::{GammaShape, Horizon, Schedule, Spacing};
use truetail_model::scenario::Scenario;
use truetail_model::service::{
    Batch, Fault, Gate, ReplyOrder, Route, Selector, Service, StreamContent, StreamDescription, StreamEnd, StreamPace,
    StreamTiming, UsageReport, Variation,
};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::users::Users;
use truetail_model::workload::{Limits, LoadModel, Workload};

use super::S;
use super::any::profile;

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9._-]{1,12}"
}

fn nanos(low: u64, high: u64) -> impl Strategy<Value = Nanos> {
    (low..=high).prop_map(Nanos)
}

/// Long enough that the faults below can happen.
fn horizon() -> impl Strategy<Value = Horizon> {
    (nanos(1000 * S, u64::MAX), proptest::option::of(1_000..=u64::MAX))
        .prop_map(|(duration, requests)| Horizon { duration: Some(duration), requests })
}

fn schedule() -> impl Strategy<Value = Schedule> {
    (
        profile(),
        prop_oneof![
            Just(Spacing::Even),
            Just(Spacing::Poisson),
            Just(Spacing::Gamma(GammaShape::new(0.5).expect("a shape")))
        ],
        any::<u64>(),
        horizon(),
    )
        .prop_map(|(profile, spacing, seed, horizon)| Schedule { profile, spacing, seed, horizon })
}

fn users() -> impl Strategy<Value = Users> {
    let stage = (any::<u32>(), 1..=u32::MAX, 1..1000 * S);
    let stages = proptest::collection::vec(stage, 1..4).prop_map(|stages| {
        let stage = |(from, to, length): &(u32, u32, u64)| format!("{from}..{to}/{}", Nanos(*length));
        stages.iter().map(stage).collect::<Vec<_>>().join(",").parse().unwrap()
    });
    prop_oneof![(1..=u32::MAX).prop_map(Users::constant), stages]
}

fn model() -> impl Strategy<Value = LoadModel> {
    prop_oneof![
        schedule().prop_map(LoadModel::Open),
        (users(), nanos(0, u64::MAX), horizon()).prop_map(|(users, think_time, horizon)| {
            // Requests cannot be shared out among users who leave.
            let requests = horizon.requests.filter(|_| users.is_constant());
            LoadModel::Closed { users, think_time, horizon: Horizon { requests, ..horizon } }
        }),
        (schedule(), 1..=u32::MAX, nanos(0, S)).prop_map(|(sessions, requests_per_session, think_time)| {
            LoadModel::PartlyOpen { sessions, requests_per_session, think_time }
        }),
    ]
}

prop_compose! {
    fn workload()(
        model in model(),
        connections in proptest::option::of(1..=u32::MAX),
        per_session in any::<bool>(),
        timeout in proptest::option::of(nanos(1, u64::MAX)),
        drain in nanos(0, u64::MAX),
        warmup in nanos(0, 999 * S),
    ) -> Workload {
        let connection_per_session = per_session && matches!(model, LoadModel::PartlyOpen { .. });
        Workload { model, limits: Limits { connections, connection_per_session, channels: None, timeout, drain }, warmup }
    }
}

prop_compose! {
    /// Narrowed at least by a share, so that every fault leaves requests for the next.
    fn select()(
        share in 1e-9..=1.0,
        every in proptest::option::of(Just(1)),
        at in proptest::option::of((0..1000 * S).prop_map(Timestamp)),
        length in proptest::option::of(nanos(1, u64::MAX)),
    ) -> Selector {
        Selector { every, share: Some(share), at, length }
    }
}

prop_compose! {
    fn content()(
        events in 0..=1000u64,
        tokens in 1..=100u64,
        bytes in 0..=10_000u64,
        cut in proptest::option::of(0..=2000u64),
        end in proptest::option::of(prop_oneof![
            Just(StreamEnd::Whole),
            Just(StreamEnd::Done),
            Just(StreamEnd::Unfinished)
        ]),
        usage in prop_oneof![Just(UsageReport::Right), Just(UsageReport::Missing), Just(UsageReport::Wrong)],
    ) -> StreamContent {
        StreamContent { events, tokens, bytes, cut, end, usage }
    }
}

prop_compose! {
    fn timing()(
        first in nanos(0, u64::MAX),
        gap in nanos(0, u64::MAX),
        seed in proptest::option::of(any::<u64>()),
        burst in 1..=1000u64,
        trickle in nanos(0, u64::MAX),
        stall in proptest::option::of((0..=1000u64, nanos(1, u64::MAX))),
    ) -> StreamTiming {
        StreamTiming { first, gap, seed, burst, trickle, stall }
    }
}

prop_compose! {
    fn batch()(
        cap in 1..=u32::MAX,
        prefill in nanos(0, u64::MAX),
        step in nanos(1, u64::MAX),
        step_per_stream in nanos(0, u64::MAX),
    ) -> Batch {
        Batch { cap, prefill, step, step_per_stream }
    }
}

fn stream() -> impl Strategy<Value = StreamDescription> {
    let pace = prop_oneof![timing().prop_map(StreamPace::Independent), batch().prop_map(StreamPace::Batched)];
    (content(), pace).prop_map(|(content, pace)| StreamDescription { content, pace })
}

fn any_fault(gates: &'static [Gate]) -> impl Strategy<Value = Fault> {
    let gate = move || proptest::sample::select(gates);
    let instant = || (0..1000 * S).prop_map(Timestamp);
    prop_oneof![
        (instant(), nanos(1, u64::MAX), gate()).prop_map(|(at, length, gate)| Fault::Stall { at, length, gate }),
        (instant(), nanos(1, 1 << 62), nanos(1, 1 << 62), proptest::option::of(1..=u64::MAX), gate()).prop_map(
            |(first, length, more, times, gate)| Fault::RecurringStall {
                first,
                every: length + more,
                length,
                times,
                gate
            }
        ),
        (instant(), nanos(1, u64::MAX / 2), nanos(0, u64::MAX)).prop_map(|(from, over, target)| Fault::Ramp {
            from,
            to: from + over,
            target
        }),
        nanos(1, u64::MAX).prop_map(|pause| Fault::EveryNth { every: 1, pause }),
        (400..=599u16, any::<bool>(), select()).prop_map(|(status, immediately, select)| Fault::ErrorStatus {
            status,
            immediately,
            select
        }),
        select().prop_map(|select| Fault::Reset { select }),
        select().prop_map(|select| Fault::BlackHole { select }),
        (nanos(1, u64::MAX), select()).prop_map(|(over, select)| Fault::SlowBody { over, select }),
        select().prop_map(|select| Fault::ShortBody { select }),
        select().prop_map(|select| Fault::Garbage { select }),
    ]
}

prop_compose! {
    /// A route whose place is later added to its path, so that no route hides another.
    fn route()(
        end in "[a-z/]{0,5}[*]?",
        baseline in nanos(1, u64::MAX),
        faults in proptest::collection::vec(any_fault(&[Gate::Answers]), 0..3),
    ) -> Route {
        Route { path: end, baseline, faults }
    }
}

fn routes() -> impl Strategy<Value = Vec<Route>> {
    let placed = |(nth, route): (usize, Route)| Route { path: format!("/{nth}{}", route.path), ..route };
    proptest::collection::vec(route(), 0..3)
        .prop_map(move |routes| routes.into_iter().enumerate().map(placed).collect())
}

prop_compose! {
    fn service_of_pieces()(
        baseline in nanos(1, u64::MAX),
        exponential in any::<bool>(),
        concurrency in proptest::option::of(1..=u32::MAX),
        body_bytes in any::<u32>(),
        seed in any::<u64>(),
        faults in proptest::collection::vec(any_fault(&[Gate::Answers, Gate::Arrivals]), 0..4),
        routes in routes(),
    ) -> Service {
        let variation = if exponential { Variation::Exponential } else { Variation::Constant };
        Service { baseline, variation, concurrency, body_bytes, replies: ReplyOrder::InOrder, stream: None, seed, faults, routes }
    }
}

prop_compose! {
    fn service_of_streams()(
        service in service_of_pieces(),
        stream in stream(),
        faults in proptest::collection::vec(any_fault(&Gate::ALL), 0..4),
    ) -> Service {
        Service { concurrency: None, stream: Some(stream), faults, routes: Vec::new(), ..service }
    }
}

fn service() -> impl Strategy<Value = Service> {
    prop_oneof![service_of_pieces(), service_of_streams()]
}

prop_compose! {
    pub fn scenario()(
        name in name(),
        about in ".*",
        path in "/[a-z/?&=]{0,9}",
        service in service(),
        workload in workload(),
        channels in proptest::option::of((1..=1_000_000u32, any::<bool>())),
    ) -> Scenario {
        let scenario = Scenario { name, about, service, workload, path };
        match channels.filter(|_| scenario.service.stream.is_none()) {
            Some((count, are_in_order)) => on_channels(scenario, count, are_in_order),
            None => scenario,
        }
    }
}

/// Makes the requests messages on channels, and leaves out what channels do not have.
fn on_channels(mut scenario: Scenario, count: u32, are_in_order: bool) -> Scenario {
    let limits = &mut scenario.workload.limits;
    (limits.channels, limits.connections, limits.connection_per_session) = (Some(count), None, false);
    let service = &mut scenario.service;
    let concerns_one = |fault: &Fault| match fault {
        Fault::Reset { .. } | Fault::ShortBody { .. } | Fault::Garbage { .. } => false,
        Fault::SlowBody { .. } => are_in_order,
        _ => true,
    };
    service.faults.retain(concerns_one);
    service.routes.iter_mut().for_each(|route| route.faults.retain(concerns_one));
    service.replies = if are_in_order { ReplyOrder::InOrder } else { ReplyOrder::AsReady };
    scenario
}
