//! Settling a request at its start, if no end can change a start, gives the same result as waiting for its end. A cap
//! on connections that never binds forces the second way.

use crate::common::*;
use proptest::prelude::*;
use truetail_model::arrival::{GammaShape, Spacing};
use truetail_model::record::Snapshot;
use truetail_model::scenario::Scenario;
use truetail_model::service::{Fault, Gate, Selector, Service, ServiceState, Variation};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

fn select() -> impl Strategy<Value = Selector> {
    (prop::option::of(1u64..6), prop::option::of(0.05..1.0)).prop_map(|(every, share)| Selector {
        every,
        share,
        at: None,
        length: None,
    })
}

fn span() -> impl Strategy<Value = Nanos> {
    (1u64..400).prop_map(ms)
}

fn gate() -> impl Strategy<Value = Gate> {
    prop_oneof![Just(Gate::Answers), Just(Gate::Arrivals)]
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        (0u64..1_000, span(), gate()).prop_map(|(at, length, gate)| Fault::Stall { at: at_ms(at), length, gate }),
        (0u64..500, span(), gate()).prop_map(|(first, length, gate)| Fault::RecurringStall {
            first: at_ms(first),
            every: length + ms(50),
            length,
            times: None,
            gate
        }),
        (1u64..9, span()).prop_map(|(every, pause)| Fault::EveryNth { every, pause }),
        span().prop_map(|target| Fault::Ramp { from: Timestamp::ZERO, to: at_ms(800), target }),
        select().prop_map(|select| Fault::Reset { select }),
        select().prop_map(|select| Fault::BlackHole { select }),
        select().prop_map(|select| Fault::Garbage { select }),
        (span(), select()).prop_map(|(over, select)| Fault::SlowBody { over, select }),
        (any::<bool>(), select()).prop_map(|(immediately, select)| Fault::ErrorStatus {
            status: 500,
            immediately,
            select
        }),
    ]
}

pub fn service() -> impl Strategy<Value = Service> {
    let variation = prop_oneof![Just(Variation::Constant), Just(Variation::Exponential)];
    (0u64..60, variation, prop::option::of(1u32..5), prop::collection::vec(fault(), 0..4), any::<u64>()).prop_map(
        |(baseline, variation, concurrency, faults, seed)| Service {
            variation,
            concurrency,
            faults,
            seed,
            ..Service::healthy(ms(baseline))
        },
    )
}

fn open_scenario() -> impl Strategy<Value = Scenario> {
    let bursts = GammaShape::new(0.2).expect("a shape");
    let spacing = prop_oneof![Just(Spacing::Even), Just(Spacing::Poisson), Just(Spacing::Gamma(bursts))];
    let model = (10.0..300.0, spacing, any::<u64>())
        .prop_map(|(rate, spacing, seed)| LoadModel::Open(schedule(rate, spacing, seed, for_secs(1))));
    let limits = (prop::option::of(span()), 0u64..1_500).prop_map(|(timeout, drain)| Limits {
        connections: None,
        timeout,
        drain: ms(drain),
        ..Limits::default()
    });
    (service(), model, limits, 0u64..300)
        .prop_map(|(service, model, limits, warmup)| scenario(service, Workload { model, limits, warmup: ms(warmup) }))
}

/// Returns everything that was recorded, in a fixed order.
pub fn all_of(snapshot: &Snapshot) -> String {
    let mut records = snapshot.samples.even().to_vec();
    records.sort_by_key(|record| record.index);
    let Snapshot { tally, warmup, statuses, causes, metrics, seconds, .. } = snapshot;
    let ends = (snapshot.last_end, snapshot.schedule_hash);
    format!("{tally:?} {warmup:?} {statuses:?} {causes:?} {metrics:?} {seconds:?} {ends:?} {records:#?}")
}

/// A plain service answers like a service whose only fault never comes.
#[test]
fn the_short_way_through_a_plain_service_is_the_long_one() {
    let mut plain = ServiceState::new(Service::healthy(ms(10)));
    let mut long = ServiceState::new(Service { faults: vec![stall(1 << 40, 1)], ..Service::healthy(ms(10)) });
    for arrived in (0..10_000).map(|k| Timestamp(k * 777_777)) {
        assert_eq!(plain.admit(arrived), long.admit(arrived));
    }
    assert_eq!(plain.admitted(), long.admitted());
}

proptest! {
    #[test]
    fn settling_at_the_start_is_waiting_for_the_end(settled in open_scenario()) {
        let mut waited = settled.clone();
        waited.workload.limits.connections = Some(100_000);
        let settled = run(&settled);
        let waited = run(&waited);
        prop_assert_eq!(all_of(&settled.snapshot), all_of(&waited.snapshot));
        prop_assert_eq!(settled.facts.elapsed_ns, waited.facts.elapsed_ns);
    }

    #[test]
    fn the_same_scenario_gives_the_same_run(scenario in open_scenario(), connections in prop::option::of(1u32..8)) {
        let mut scenario = scenario;
        scenario.workload.limits.connections = connections;
        let first = run(&scenario);
        let second = run(&scenario);
        prop_assert_eq!(all_of(&first.snapshot), all_of(&second.snapshot));
    }

    #[test]
    fn the_books_balance_whatever_the_users_do(
        service in service(), users in 1u32..6, think in 1u64..50, connections in prop::option::of(1u32..4),
        timeout in prop::option::of(span()), drain in 0u64..1_000,
    ) {
        let limits = Limits { connections, timeout, drain: ms(drain), ..Limits::default() };
        run(&scenario(service, workload(closed(users, ms(think), for_secs(1)), limits)));
    }

    #[test]
    fn the_books_balance_whatever_the_sessions_do(
        service in service(), requests_per_session in 1u32..5, think in 0u64..50,
        connections in prop::option::of(1u32..4), timeout in prop::option::of(span()), drain in 0u64..1_000,
    ) {
        let sessions = schedule(50.0, Spacing::Poisson, 3, for_secs(1));
        let model = LoadModel::PartlyOpen { sessions, requests_per_session, think_time: ms(think) };
        run(&scenario(service, workload(model, Limits { connections, timeout, drain: ms(drain), ..Limits::default() })));
    }
}
