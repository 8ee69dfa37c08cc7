//! Effects of marks, in simulated runs with a known answer.

use truetail_analysis::findings;
use truetail_analysis::gates::Gate;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{GateState, Mark, MarkFinding, MarkState, Run};

use crate::support::{changed, scenario, simulated, without_samples};

const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

fn marked(run: &Run, at_s: &[u64]) -> Run {
    let mut run = run.clone();
    let mark = |at: &u64| Mark { name: "restart".to_owned(), at_ns: at * S, took_ns: Some(MS), problem: None };
    run.facts.marks = at_s.iter().map(mark).collect();
    run
}

fn effects(run: &Run, at_s: &[u64]) -> Vec<MarkFinding> {
    findings(&marked(run, at_s)).marks
}

/// One stall of a second at 30 s, at 1000 requests per second that take 10 ms otherwise.
fn stalled() -> Run {
    simulated(&scenario("02-single-hiccup"))
}

#[test]
fn a_stall_of_a_second_harms_a_thousand_requests_and_is_over_after_a_second() {
    let run = stalled();
    let effect = &effects(&run, &[30])[0];
    assert_eq!((effect.state, effect.limit_ns), (MarkState::Recovered, Some(10 * MS)), "{effect:?}");
    // A request counts if it was due in the stall, or less than its service time before it.
    assert!(effect.harmed.is_some_and(|harmed| (990..=1_010).contains(&harmed)), "{effect:?}");
    let [low, best, high] = [effect.recovery_low_ns, effect.recovery_ns, effect.recovery_high_ns].map(Option::unwrap);
    assert!(low <= best && best <= high && (990 * MS..=1_000 * MS).contains(&best), "{effect:?}");
    assert!(high - low <= 10 * MS, "{effect:?}");
    assert!(effect.peak_ns.is_some_and(|peak| (1_000 * MS..=1_012 * MS).contains(&peak)), "{effect:?}");
    assert!(effect.message.contains("requests harmed, the longest time was 1.0"), "{}", effect.message);
}

#[test]
fn a_mark_without_an_effect_says_so_and_a_later_stall_is_of_the_later_mark() {
    let run = stalled();
    let [before, at] = &effects(&run, &[10, 30])[..] else { panic!("two marks") };
    assert_eq!((before.state, before.harmed, before.recovery_high_ns), (MarkState::NoEffect, Some(0), Some(0)));
    assert_eq!(at.state, MarkState::Recovered);
    // Of a mark long before it, the effect comes late, and is over at the same instant.
    let early = &effects(&run, &[20])[0];
    assert!(early.recovery_ns.is_some_and(|ns| (10_990 * MS..=11_000 * MS).contains(&ns)), "{early:?}");
}

/// Requests that are due between these seconds take 500 ms longer.
fn slow_in(seconds: &[(u64, u64)]) -> Run {
    changed(&simulated(&scenario("01-healthy")), |record| {
        if seconds.iter().any(|(from, to)| (from * S..to * S).contains(&record.intended_start.0)) {
            record.end = record.end + Nanos(500 * MS);
        }
    })
}

#[test]
fn a_mark_is_not_compared_with_the_damage_of_the_one_before() {
    let effects = effects(&slow_in(&[(20, 22), (40, 42)]), &[20, 40]);
    let [first, second] = &effects[..] else { panic!("two marks") };
    for effect in [first, second] {
        assert_eq!(effect.state, MarkState::Recovered, "{effect:?}");
        assert!(effect.recovery_ns.is_some_and(|ns| ns.abs_diff(2 * S) <= S / 10), "{effect:?}");
    }
    assert!(first.harmed.zip(second.harmed).is_some_and(|(a, b)| a.abs_diff(b) <= a / 20), "{effects:?}");
    // No request comes between these two: the first cannot be judged, and the second has the calm time before both.
    let together = self::effects(&slow_in(&[(20, 22)]), &[20, 20]);
    assert_eq!(together[0].state, MarkState::CannotTell);
    assert_eq!(together[1].recovery_ns, first.recovery_ns, "{together:?}");
}

#[test]
fn a_few_requests_after_a_mark_show_nothing() {
    let last = simulated(&scenario("01-healthy")).snapshot.samples.even().iter().map(|r| r.intended_start.0).max();
    let mut run = slow_in(&[]);
    run.facts.marks = vec![Mark {
        name: "restart".to_owned(),
        at_ns: last.expect("requests") - 100 * MS,
        took_ns: Some(MS),
        problem: None,
    }];
    let effect = &findings(&run).marks[0];
    assert_eq!((effect.state, effect.harmed, effect.recovery_high_ns), (MarkState::CannotTell, None, None));
    assert!(effect.message.contains("requests are known from after it, and p99 needs 368"), "{}", effect.message);
}

#[test]
fn a_service_that_stays_slow_has_not_recovered() {
    let run = changed(&simulated(&scenario("01-healthy")), |record| {
        if record.intended_start >= Timestamp(30 * S) {
            record.end = record.end + Nanos(500 * MS);
        }
    });
    let effect = &effects(&run, &[30])[0];
    assert_eq!((effect.state, effect.recovery_ns, effect.recovery_high_ns), (MarkState::NotRecovered, None, None));
    assert!(effect.message.contains("was not shown to be back"), "{}", effect.message);
}

#[test]
fn failed_requests_are_harmed_too() {
    let run = changed(&simulated(&scenario("01-healthy")), |record| {
        if (Timestamp(30 * S)..Timestamp(32 * S)).contains(&record.intended_start) {
            record.outcome = Outcome::response(503);
        }
    });
    let rate = run.snapshot.tally.planned / 60;
    let effect = &effects(&run, &[30])[0];
    assert_eq!(effect.state, MarkState::Recovered, "{effect:?}");
    let harmed = effect.harmed.unwrap();
    assert!(harmed.abs_diff(2 * rate) <= rate / 20, "{harmed} of {rate} per second: {effect:?}");
    let recovery = effect.recovery_ns.unwrap();
    assert!(recovery.abs_diff(2 * S) <= S / 10, "{effect:?}");
}

#[test]
fn what_is_not_known_stays_open() {
    let run = stalled();
    assert_eq!(effects(&run, &[0])[0].state, MarkState::CannotTell);
    assert_eq!(effects(&run, &[61])[0].state, MarkState::CannotTell);
    let without = without_samples(&scenario("02-single-hiccup"));
    assert_eq!(effects(&without, &[30])[0].state, MarkState::CannotTell);
}

#[test]
fn gates_are_decided_by_the_interval() {
    let judged = |run: &Run, gate: &str| gate.parse::<Gate>().unwrap().judge(run, &findings(run)).state;
    let run = marked(&stalled(), &[30]);
    for (gate, state) in [
        ("recovery > 2s", GateState::Holds),
        ("recovery > 900ms", GateState::Fails),
        ("recovery < 30s", GateState::Holds),
        ("harmed > 1%", GateState::Fails),
        ("harmed < 3%", GateState::Holds),
    ] {
        assert_eq!(judged(&run, gate), state, "{gate}");
    }
    assert_eq!(judged(&stalled(), "recovery > 2s"), GateState::Open);
    let slow = changed(&stalled(), |record| {
        if record.intended_start >= Timestamp(30 * S) {
            record.end = record.end + Nanos(500 * MS);
        }
    });
    let slow = marked(&slow, &[30]);
    assert_eq!(judged(&slow, "recovery > 2s"), GateState::Fails);
    assert_eq!(judged(&slow, "recovery > 5m"), GateState::Open);
    assert!("recovery{GET /} > 2s".parse::<Gate>().is_err() && "harmed > 2s".parse::<Gate>().is_err());
}
