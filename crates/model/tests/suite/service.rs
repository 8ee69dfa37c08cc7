//! The service: gates, queue, faults, and the truth of each scenario for an ideal open-loop client.

use proptest::prelude::*;
use truetail_model::arrival::{Horizon, Schedule, Spacing};
use truetail_model::record::rank_of;
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::service::{
    Action, Fault, FaultKind, Gate, ResponsePlan, Selector, Service, ServiceState, Variation,
};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModel;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

fn at(millis: u64) -> Timestamp {
    Timestamp(millis * MS)
}

fn with(faults: Vec<Fault>) -> Service {
    Service { faults, ..Service::healthy(Nanos(10 * MS)) }
}

/// Returns the plans of requests that arrive at these instants.
fn plans(service: Service, arrivals: impl IntoIterator<Item = Timestamp>) -> Vec<ResponsePlan> {
    let mut state = ServiceState::new(service);
    arrivals.into_iter().map(|arrived| state.admit(arrived)).collect()
}

/// Returns when the answers leave, in milliseconds.
fn leaves(service: Service, arrivals: &[u64]) -> Vec<f64> {
    plans(service, arrivals.iter().map(|millis| at(*millis))).iter().map(|plan| plan.due.0 as f64 / 1e6).collect()
}

/// Returns the response times of an ideal open-loop client, ascending, in nanoseconds.
fn truth(schedule: &Schedule, service: &Service) -> Vec<u64> {
    let arrivals = schedule.arrivals().map(|arrival| arrival.intended_start);
    let response_time = |plan: ResponsePlan| plan.completed().since(plan.arrived).0;
    let mut times: Vec<u64> = plans(service.clone(), arrivals).into_iter().map(response_time).collect();
    times.sort_unstable();
    times
}

fn truth_of(scenario: &Scenario) -> Vec<u64> {
    let LoadModel::Open(schedule) = &scenario.workload.model else { panic!("{} is open", scenario.name) };
    truth(schedule, &scenario.service)
}

fn quantile(sorted: &[u64], q: f64) -> u64 {
    sorted[(rank_of(q, sorted.len() as u64) - 1) as usize]
}

fn mean_ms(times: &[u64]) -> f64 {
    times.iter().map(|time| u128::from(*time)).sum::<u128>() as f64 / times.len() as f64 / 1e6
}

fn schedule(rate: &str, duration: Nanos) -> Schedule {
    let horizon = Horizon { duration: Some(duration), requests: None };
    Schedule { profile: rate.parse().unwrap(), spacing: Spacing::Even, seed: 1, horizon }
}

/// Asserts quantiles in whole milliseconds, exactly; quantile 1 is the largest value.
#[track_caller]
fn exactly(name: &str, quantiles: &[(f64, u64)]) {
    let times = truth_of(&builtin::find(name).unwrap());
    assert_eq!(times.len(), 60_000, "{name}");
    for (q, ms) in quantiles {
        assert_eq!(quantile(&times, *q), ms * MS, "{name}: quantile {q}");
    }
}

#[test]
fn truth_of_01_healthy() {
    exactly("01", &[(0.0, 10), (0.5, 10), (0.9, 10), (0.99, 10), (0.9999, 10), (1.0, 10)]);
}

#[test]
fn truth_of_02_single_hiccup() {
    exactly("02", &[(0.5, 10), (0.95, 10), (0.99, 410), (0.999, 950), (0.9999, 1004), (1.0, 1010)]);
    let times = truth_of(&builtin::find("02").unwrap());
    assert!((mean_ms(&times) - 18.342).abs() < 0.0005, "{}", mean_ms(&times));
}

/// Quantiles on a ramp are not whole milliseconds: response time grows by 3 ns a microsecond, so neighbours differ by 3
/// µs.
#[test]
fn truth_of_03_sustained_slowdown() {
    let times = truth_of(&builtin::find("03").unwrap());
    assert_eq!(times.len(), 60_000);
    for (q, ms) in [(0.5, 40), (0.9, 100), (0.99, 100), (1.0, 100)] {
        assert!(quantile(&times, q).abs_diff(ms * MS) <= 3 * US, "quantile {q}: {}", quantile(&times, q));
    }
    assert!((mean_ms(&times) - 47.5).abs() < 0.05, "{}", mean_ms(&times));
}

#[test]
fn truth_of_04_gc_pauses() {
    exactly("04", &[(0.98, 10), (0.99, 110), (0.999, 200), (0.9999, 209), (1.0, 210)]);
    let times = truth_of(&builtin::find("04").unwrap());
    assert!((mean_ms(&times) - 12.010).abs() < 0.0005, "{}", mean_ms(&times));
}

#[test]
fn truth_of_05_saturation() {
    exactly("05-saturation", &[(0.5, 30_005), (0.99, 59_405), (1.0, 60_005)]);
    exactly("05-saturation-not-binding", &[(0.5, 10), (0.99, 10), (1.0, 10)]);
}

/// One request at a time, 450/s for 30 s: every 500th takes 200 ms, the others 1 ms.
#[test]
fn truth_of_the_every_500th_pause() {
    let pause = Fault::EveryNth { every: 500, pause: Nanos(200 * MS) };
    let service = Service { baseline: Nanos(MS), concurrency: Some(1), ..with(vec![pause]) };
    let times = truth(&schedule("450", Nanos::from_secs(30)), &service);
    assert_eq!(times.len(), 13_500);
    for (q, ms) in [(0.5, 1.00), (0.9, 137.67), (0.99, 193.89), (0.999, 200.00), (1.0, 200.00)] {
        let seen = quantile(&times, q) as f64 / 1e6;
        assert!((seen / ms - 1.0).abs() < 0.001, "quantile {q}: {seen}, not {ms}");
    }
    assert_eq!(times.last(), Some(&(200 * MS)));
    assert_eq!(times.iter().filter(|time| **time > 2 * MS).count(), 4_213);
}

/// A freeze from 2.5 to 3 s holds requests at the entry, and each takes its 10 ms after it; 100/s for 5 s.
#[test]
fn truth_of_the_deterministic_freeze() {
    let freeze = Fault::Stall { at: at(2_500), length: Nanos(500 * MS), gate: Gate::Arrivals };
    let times = truth(&schedule("100", Nanos::from_secs(5)), &with(vec![freeze]));
    assert_eq!((times.len(), quantile(&times, 0.99)), (500, 460 * MS));
    assert_eq!((quantile(&times, 0.5), times[499]), (10 * MS, 510 * MS));
    assert_eq!(times.iter().filter(|time| **time > 10 * MS).count(), 50);
}

#[test]
fn an_exit_gate_holds_answers_while_it_is_shut() {
    let service = with(vec![Fault::Stall { at: at(100), length: Nanos(50 * MS), gate: Gate::Answers }]);
    // Done at 99, 100, 149 and 150 ms: the gate shuts at 100 ms and is open at 150 ms.
    assert_eq!(leaves(service.clone(), &[89, 90, 139, 140]), [99.0, 150.0, 150.0, 150.0]);
    let met: Vec<_> =
        plans(service, [89, 90, 139, 140].map(at)).iter().map(|f| f.faults.contains(FaultKind::Stall)).collect();
    assert_eq!(met, [false, true, true, false]);
}

#[test]
fn an_entry_gate_holds_arrivals_while_it_is_shut() {
    let service = with(vec![Fault::Stall { at: at(100), length: Nanos(50 * MS), gate: Gate::Arrivals }]);
    assert_eq!(leaves(service.clone(), &[95, 99, 100, 149, 150]), [105.0, 109.0, 160.0, 160.0, 160.0]);
    let held = plans(service, [at(120)])[0];
    assert_eq!((held.arrived, held.began), (at(120), at(150)));
}

#[test]
fn a_recurring_gate_shuts_as_often_as_it_says() {
    let stall = |times| Fault::RecurringStall {
        first: at(50),
        every: Nanos(100 * MS),
        length: Nanos(20 * MS),
        times,
        gate: Gate::Answers,
    };
    // Done at 40, 55, 75, 155, 255 and 1055 ms. The third stall begins at 250 ms.
    let arrivals = [30, 45, 65, 145, 245, 1045];
    assert_eq!(leaves(with(vec![stall(Some(2))]), &arrivals), [40.0, 70.0, 75.0, 170.0, 255.0, 1055.0]);
    assert_eq!(leaves(with(vec![stall(None)]), &arrivals), [40.0, 70.0, 75.0, 170.0, 270.0, 1070.0]);
}

#[test]
fn a_gate_that_opens_on_another_shut_one_waits_for_both() {
    let gate = |from, length| Fault::Stall { at: at(from), length: Nanos(length * MS), gate: Gate::Answers };
    assert_eq!(leaves(with(vec![gate(150, 100), gate(100, 60)]), &[95]), [250.0]);
    // The gates of the two sides are independent, apart from the time that the first one costs.
    let way_in = Fault::Stall { at: at(90), length: Nanos(15 * MS), gate: Gate::Arrivals };
    assert_eq!(leaves(with(vec![gate(110, 10), way_in]), &[95]), [120.0]);
}

/// Recurring stalls that take turns never let anything through. This is detected and reported, and costs no time.
#[test]
fn gates_that_leave_no_gap_are_a_black_hole() {
    let stall = |first, gate| Fault::RecurringStall {
        first: at(first),
        every: Nanos(100 * MS),
        length: Nanos(60 * MS),
        times: None,
        gate,
    };
    for gate in [Gate::Answers, Gate::Arrivals] {
        let service = with(vec![stall(200, gate), stall(250, gate)]);
        assert!(service.never_reopens());
        let plans = plans(service, (0..100_000).map(at));
        assert_eq!(plans[150].due, at(160));
        assert!(plans[200..].iter().all(|plan| plan.due == Timestamp::NEVER && plan.action == Action::BlackHole));
    }
    assert!(!with(vec![stall(200, Gate::Answers), stall(250, Gate::Arrivals)]).never_reopens());
    assert!(!with(vec![stall(200, Gate::Answers), stall(220, Gate::Answers)]).never_reopens());
    // A stall of five centuries ends too, even if its end is beyond any clock.
    let long = Fault::Stall { at: at(0), length: Nanos(u64::MAX - 100 * MS), gate: Gate::Answers };
    assert!(!with(vec![long, stall(0, Gate::Answers)]).never_reopens());
    let text = "[workload]\nrate = 1\nduration = '60s'\n[service]\nbaseline = '1ms'\n\
                [[service.fault]]\nkind = 'recurring-stall'\nfirst = '0s'\nevery = '2s'\nfor = '1s'\n\
                [[service.fault]]\nkind = 'recurring-stall'\nfirst = '1s'\nevery = '2s'\nfor = '1s'\n";
    let error = Scenario::parse(text, "x.toml").unwrap_err().to_string();
    assert!(error.contains("leave no gap"), "{error}");
}

#[test]
fn a_ramp_moves_in_a_straight_line_and_stays() {
    let ramp = |target| Fault::Ramp { from: at(100), to: at(200), target: Nanos(target * MS) };
    let work = |service: Service| -> Vec<f64> {
        [50, 100, 150, 175, 200, 900].map(|t| leaves(service.clone(), &[t])[0] - t as f64).to_vec()
    };
    assert_eq!(work(with(vec![ramp(30)])), [10.0, 10.0, 20.0, 25.0, 30.0, 30.0]);
    assert_eq!(work(with(vec![ramp(0)])), [10.0, 10.0, 5.0, 2.5, 0.0, 0.0]);
    // A second ramp continues from the value of the first one.
    let back = Fault::Ramp { from: at(150), to: at(175), target: Nanos(10 * MS) };
    assert_eq!(work(with(vec![ramp(30), back])), [10.0, 10.0, 20.0, 10.0, 10.0, 10.0]);
}

#[test]
fn kinds_of_answer_and_what_they_hold_up() {
    let only_second = Selector { every: Some(2), ..Selector::default() };
    let of = |fault: Fault| plans(with(vec![fault]), [at(0), at(1)])[1];
    let answered = |plan: ResponsePlan| (plan.action, plan.due, plan.completed());
    let refusal = |immediately| Fault::ErrorStatus { status: 503, immediately, select: only_second };
    let status = Action::Answer { status: 503 };
    assert_eq!(answered(of(refusal(false))), (status, at(11), at(11)));
    assert_eq!(answered(of(refusal(true))), (status, at(1), at(1)));
    assert_eq!(answered(of(Fault::Reset { select: only_second })), (Action::Reset, at(11), at(11)));
    assert_eq!(answered(of(Fault::ShortBody { select: only_second })), (Action::ShortBody, at(11), at(11)));
    assert_eq!(answered(of(Fault::Garbage { select: only_second })), (Action::Garbage, at(11), at(11)));
    let never = Timestamp::NEVER;
    assert_eq!(answered(of(Fault::BlackHole { select: only_second })), (Action::BlackHole, never, never));
    let slow = of(Fault::SlowBody { over: Nanos(S), select: only_second });
    assert_eq!(answered(slow), (Action::SlowBody { until: at(1_011) }, at(11), at(1_011)));
    assert!(slow.faults.contains(FaultKind::SlowBody) && slow.faults.iter().count() == 1);
}

#[test]
fn the_order_of_the_list_decides() {
    let every = |n| Selector { every: Some(n), ..Selector::default() };
    let faults = vec![Fault::Reset { select: every(4) }, Fault::Garbage { select: every(2) }];
    let actions: Vec<_> = plans(with(faults), (0..4).map(at)).iter().map(|plan| plan.action).collect();
    let answer = Action::Answer { status: 200 };
    assert_eq!(actions, [answer, Action::Garbage, answer, Action::Reset]);
}

#[test]
fn a_place_is_held_by_slow_bodies_and_not_by_refusals() {
    let first = Selector { at: None, length: Some(Nanos(MS)), ..Selector::default() };
    let one_at_a_time = |fault| Service { concurrency: Some(1), ..with(vec![fault]) };
    let slow = one_at_a_time(Fault::SlowBody { over: Nanos(100 * MS), select: first });
    assert_eq!(leaves(slow, &[0, 5]), [10.0, 120.0]);
    let refused = one_at_a_time(Fault::ErrorStatus { status: 503, immediately: true, select: first });
    assert_eq!(leaves(refused, &[0, 5]), [0.0, 15.0]);
    let held = plans(Service { concurrency: Some(1), ..with(vec![]) }, [at(0), at(5)])[1];
    assert_eq!((held.began, held.due), (at(10), at(20)));
    assert!(held.faults.contains(FaultKind::Queue));
}

#[test]
fn a_selector_narrows_by_time_number_and_share() {
    let select = Selector { every: Some(3), share: None, at: Some(at(10)), length: Some(Nanos(10 * MS)) };
    let met: Vec<u64> = (1..=40).filter(|number| select.meets(1, *number, at(*number))).collect();
    assert_eq!(met, [12, 15, 18]);
}

/// The affected share is within five standard deviations of the requested share.
#[test]
fn a_share_is_met_as_often_as_it_says() {
    let n = 1_000_000u32;
    for share in [0.001, 0.05, 0.5, 0.999] {
        for seed in [0, 1, u64::MAX] {
            let select = Selector { share: Some(share), ..Selector::default() };
            let met = (1..=u64::from(n)).filter(|number| select.meets(seed, *number, at(0))).count();
            let deviation = (f64::from(n) * share * (1.0 - share)).sqrt();
            let off = (met as f64 - f64::from(n) * share).abs() / deviation;
            assert!(off < 5.0, "seed {seed}, share {share}: {met} met, {off} standard deviations off");
        }
    }
    let all = Selector { share: Some(1.0), ..Selector::default() };
    assert!((1..10_000).all(|number| all.meets(7, number, at(0))));
}

#[test]
fn exponential_work_has_the_baseline_as_its_mean_and_follows_its_seed() {
    let service = |seed| Service { variation: Variation::Exponential, seed, ..with(vec![]) };
    let works = |seed| -> Vec<u64> {
        plans(service(seed), (0..100_000).map(at)).iter().map(|plan| plan.due.since(plan.arrived).0).collect()
    };
    // The mean of n exponentials has the standard deviation mean/√n: 0.3 %.
    assert!((mean_ms(&works(1)) / 10.0 - 1.0).abs() < 0.016, "{}", mean_ms(&works(1)));
    assert_eq!(works(1), works(1));
    assert_ne!(works(1), works(2));
}

/// Extremes neither overflow nor cost memory.
#[test]
fn a_service_of_extremes() {
    let forever = Nanos::MAX;
    let faults = vec![
        Fault::Ramp { from: Timestamp(0), to: Timestamp::NEVER, target: Nanos(0) },
        Fault::Ramp { from: Timestamp(1), to: Timestamp::NEVER, target: forever },
        Fault::Stall { at: Timestamp(5), length: forever, gate: Gate::Answers },
        Fault::RecurringStall {
            first: at(1),
            every: forever,
            length: Nanos(1),
            times: Some(u64::MAX),
            gate: Gate::Arrivals,
        },
        Fault::EveryNth { every: u64::MAX, pause: forever },
    ];
    let service = Service { baseline: forever, concurrency: Some(u32::MAX), ..with(faults) };
    for service in [service, Service::healthy(forever)] {
        for plan in plans(service.clone(), [0, 1, 7, u64::MAX - 1, u64::MAX].map(Timestamp)) {
            assert_eq!((plan.due, plan.action), (Timestamp::NEVER, Action::BlackHole));
        }
    }
}

prop_compose! {
    fn select()(
        every in proptest::option::of(1u64..6),
        share in proptest::option::of(0.01..=1.0),
        from in proptest::option::of((0..2 * S).prop_map(Timestamp)),
        length in proptest::option::of((1..S).prop_map(Nanos)),
    ) -> Selector {
        Selector { every, share, at: from, length }
    }
}

fn fault() -> impl Strategy<Value = Fault> {
    let instant = || (0..2 * S).prop_map(Timestamp);
    let length = || (1..S / 2).prop_map(Nanos);
    let gate = || prop_oneof![Just(Gate::Answers), Just(Gate::Arrivals)];
    prop_oneof![
        (instant(), length(), gate()).prop_map(|(at, length, gate)| Fault::Stall { at, length, gate }),
        (instant(), length(), length(), proptest::option::of(1u64..5), gate()).prop_map(
            |(first, length, gap, times, gate)| Fault::RecurringStall {
                first,
                every: length + gap,
                length,
                times,
                gate
            }
        ),
        (instant(), length(), length()).prop_map(|(from, over, target)| Fault::Ramp { from, to: from + over, target }),
        (1u64..20, length()).prop_map(|(every, pause)| Fault::EveryNth { every, pause }),
        (any::<bool>(), select()).prop_map(|(immediately, select)| Fault::ErrorStatus {
            status: 500,
            immediately,
            select
        }),
        (length(), select()).prop_map(|(over, select)| Fault::SlowBody { over, select }),
        select().prop_map(|select| Fault::BlackHole { select }),
        select().prop_map(|select| Fault::Reset { select }),
    ]
}

prop_compose! {
    fn service()(
        baseline in 0..50 * MS,
        exponential in any::<bool>(),
        concurrency in proptest::option::of(1u32..8),
        seed in any::<u64>(),
        faults in proptest::collection::vec(fault(), 0..5),
    ) -> Service {
        let variation = if exponential { Variation::Exponential } else { Variation::Constant };
        Service { variation, concurrency, seed, faults, ..Service::healthy(Nanos(baseline)) }
    }
}

/// Returns the times of work of the requests, as half-open intervals.
fn work(plans: &[ResponsePlan]) -> Vec<(Timestamp, Timestamp)> {
    let refused = |plan: &&ResponsePlan| plan.faults.contains(FaultKind::ErrorStatus) && plan.due == plan.arrived;
    let never = |plan: &&ResponsePlan| plan.action == Action::BlackHole;
    plans.iter().filter(|plan| !refused(plan) && !never(plan)).map(|plan| (plan.began, plan.completed())).collect()
}

proptest! {
    #[test]
    fn what_always_holds(service in service(), mut arrivals in proptest::collection::vec(0..3 * S, 1..200)) {
        arrivals.sort_unstable();
        let plans = plans(service.clone(), arrivals.iter().map(|ns| Timestamp(*ns)));
        for (i, (plan, arrived)) in plans.iter().zip(&arrivals).enumerate() {
            prop_assert_eq!((plan.number, plan.arrived.0), (i as u64 + 1, *arrived));
            prop_assert!(plan.arrived <= plan.began || plan.action == Action::BlackHole);
            prop_assert!(plan.began <= plan.due && plan.due <= plan.completed());
            prop_assert_eq!(plan.action == Action::BlackHole, plan.due == Timestamp::NEVER);
            let worked_on = !(plan.due == plan.arrived && matches!(plan.action, Action::Answer { status: 500 }));
            let can_only_be_slower = service.variation == Variation::Constant
                && service.faults.iter().all(|f| !matches!(f, Fault::Ramp { .. } | Fault::EveryNth { .. }));
            if worked_on && can_only_be_slower {
                prop_assert!(plan.due >= plan.arrived + service.baseline, "left before its work was done");
            }
        }
        let work = work(&plans);
        prop_assert!(work.windows(2).all(|pair| pair[0].0 <= pair[1].0), "the queue is first in, first out");
        if let Some(cap) = service.concurrency {
            for (began, _) in &work {
                let at_work = work.iter().filter(|(from, to)| from <= began && began < to).count();
                prop_assert!(at_work <= cap as usize, "{} at work at {:?}", at_work, began);
            }
        }
        prop_assert_eq!(plans.clone(), self::plans(service, arrivals.iter().map(|ns| Timestamp(*ns))), "it is determined");
    }

    /// With only a gate, nothing leaves while it is shut, and everything that waited leaves when it opens.
    #[test]
    fn nobody_passes_a_shut_gate(from in 0..S, length in 1..S, arrivals in proptest::collection::vec(0..3 * S, 1..50)) {
        let gate = Fault::Stall { at: Timestamp(from), length: Nanos(length), gate: Gate::Answers };
        for arrived in arrivals {
            let plan = plans(with(vec![gate.clone()]), [Timestamp(arrived)])[0];
            let done = arrived + 10 * MS;
            let shut = from <= done && done < from + length;
            prop_assert_eq!(plan.due.0, if shut { from + length } else { done });
        }
    }

    /// A ramp never turns back, in either direction, and stays between its ends.
    #[test]
    fn a_ramp_is_monotone(start in any::<u64>(), target in any::<u64>(), from in 0..S, over in 1u64.., mut t in proptest::collection::vec(any::<u64>(), 2..50)) {
        let start = start / 4;
        let target = target / 4;
        let ramp = Fault::Ramp { from: Timestamp(from), to: Timestamp(from) + Nanos(over), target: Nanos(target) };
        let service = Service { baseline: Nanos(start), ..with(vec![ramp]) };
        t.iter_mut().for_each(|t| *t /= 2);
        t.sort_unstable();
        let work: Vec<u64> = plans(service, t.into_iter().map(Timestamp)).iter().map(|f| f.due.since(f.began).0).collect();
        let low = start.min(target);
        let high = start.max(target);
        prop_assert!(work.iter().all(|work| (low..=high).contains(work)));
        let turns_back = |pair: &[u64]| if target >= start { pair[0] > pair[1] } else { pair[0] < pair[1] };
        prop_assert!(!work.windows(2).any(turns_back), "{:?}", work);
    }
}
