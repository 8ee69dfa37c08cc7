//! The settling of the response time, in runs whose settling is known.

use crate::support::{codes, queue, recorded, scenario, simulated, without_samples};
use truetail_analysis::{findings, settling};
use truetail_model::arrival::{Horizon, Spacing};
use truetail_model::record::Outcome;
use truetail_model::scenario::Scenario;
use truetail_model::service::{Fault, Gate, Selector};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModel;
use truetail_run::SettlingState::{NotJudged, Settles, Steady, Unsettled};
use truetail_run::VerdictState::{Suspect, Valid};

const S: u64 = 1_000_000_000;

fn ramp(from_s: u64, to_s: u64, target_ms: u64) -> Fault {
    Fault::Ramp { from: Timestamp(from_s * S), to: Timestamp(to_s * S), target: Nanos::from_millis(target_ms) }
}

/// Returns the healthy scenario with this baseline, these faults and this length.
fn with(baseline_ms: u64, faults: Vec<Fault>, seconds: u64) -> Scenario {
    let mut scenario = scenario("01");
    scenario.service.baseline = Nanos::from_millis(baseline_ms);
    scenario.service.faults = faults;
    let LoadModel::Open(schedule) = &mut scenario.workload.model else { unreachable!() };
    schedule.horizon = Horizon { duration: Some(Nanos::from_secs(seconds)), requests: None };
    scenario
}

/// Returns the run with single requests, and with seconds only.
fn both(scenario: &Scenario) -> [truetail_run::Run; 2] {
    [simulated(scenario), without_samples(scenario)]
}

#[test]
fn a_service_that_settles_after_15_s_is_cut_there() {
    for seconds in [30, 60] {
        for run in both(&with(100, vec![ramp(0, 15, 10)], seconds)) {
            let found = findings(&run);
            assert_eq!(found.settling.state, Settles, "{:?}", found.settling);
            let cut_ns = found.settling.cut_ns.unwrap();
            assert!(cut_ns.abs_diff(15 * S) <= 2 * S && cut_ns.is_multiple_of(S), "{:?}", found.settling);
            assert_eq!(found.settling.cut_arrivals, Some(cut_ns / S * 1000));
            assert_eq!((codes(&found), found.verdict.state), (vec!["not_stationary"], Suspect));
            let reason = &found.verdict.reasons[0];
            assert!(reason.message.contains("--warmup auto or --warmup 15s"), "{}", reason.message);
            assert_eq!(reason.numbers["cut_s"], cut_ns as f64 / 1e9);
        }
    }
}

/// A step, which settles at once, unlike a steady climb.
#[test]
fn a_cold_cache_is_cut_where_it_is_warm() {
    let step = Fault::Ramp { from: Timestamp(8 * S), to: Timestamp(8 * S + 1), target: Nanos::from_millis(10) };
    for run in both(&with(30, vec![step], 60)) {
        assert_eq!(settling(&run).cut_ns, Some(8 * S));
    }
}

#[test]
fn a_slowdown_in_mid_run_is_named_with_its_time() {
    for run in both(&scenario("03")) {
        let found = findings(&run);
        assert_eq!((codes(&found), found.verdict.state), (vec!["not_stationary"], Suspect));
        assert_eq!((found.settling.state, found.settling.cut_ns), (Unsettled, None));
        let numbers = &found.verdict.reasons[0].numbers;
        let number = |name: &str| numbers[name].as_f64().unwrap();
        assert!((19.0..=22.0).contains(&number("at_s")) && (44.0..=51.0).contains(&number("until_s")), "{numbers:?}");
        assert!((number("from_ns") - 10e6).abs() < 0.5e6 && (number("to_ns") - 100e6).abs() < 5e6, "{numbers:?}");
        assert!(numbers["cut_s"].is_null());
    }
}

/// Stalls and pauses are events: they pass, and are no reason against the run.
#[test]
fn events_are_no_shifts() {
    for name in ["01", "02", "04", "05-saturation-not-binding"] {
        for run in both(&scenario(name)) {
            let found = findings(&run);
            assert_eq!((found.settling.state, found.verdict.state), (Steady, Valid), "{name}: {:?}", found.settling);
        }
    }
    let stall = |at: u64, length_ms: u64| Fault::Stall {
        at: Timestamp(at * S),
        length: Nanos::from_millis(length_ms),
        gate: Gate::Answers,
    };
    for (at, length_ms) in [(3, 1_500), (20, 4_000), (50, 3_000)] {
        for run in both(&with(10, vec![stall(at, length_ms)], 60)) {
            let found = settling(&run);
            assert_eq!(found.state, Steady, "{length_ms} ms at {at} s: {found:?}");
        }
    }
    // The results are the same if the scenarios are scaled to ten seconds.
    for name in ["01", "02", "04"] {
        let short = scenario(name).scaled_to(Nanos::from_secs(10)).unwrap();
        assert_eq!(settling(&simulated(&short)).state, Steady, "{name}");
    }
    let short = scenario("03").scaled_to(Nanos::from_secs(10)).unwrap();
    let shift = settling(&simulated(&short)).shift.unwrap();
    assert!((3.0..=4.0).contains(&(shift.at_ns as f64 / 1e9)), "{shift:?}");
}

/// A level that lasts and then passes is no event.
#[test]
fn a_slow_quarter_is_named() {
    let slow = |at_s: u64, target_ms: u64| Fault::Ramp {
        from: Timestamp(at_s * S),
        to: Timestamp(at_s * S + 1),
        target: Nanos::from_millis(target_ms),
    };
    for run in both(&with(10, vec![slow(20, 20), slow(35, 10)], 60)) {
        let found = settling(&run);
        let shift = found.shift.unwrap();
        assert_eq!((shift.at_ns, shift.until_ns), (20 * S, 35 * S), "{found:?}");
        assert!(shift.highest_ns.unwrap() > 19_000_000 && found.why.contains("in between"), "{found:?}");
    }
}

/// Getting slower is a warm-up only while queues and caches may still be filling.
#[test]
fn what_gets_slower_late_is_not_warming_up() {
    let step = |at_s: u64| Fault::Ramp {
        from: Timestamp(at_s * S),
        to: Timestamp(at_s * S + 1),
        target: Nanos::from_millis(20),
    };
    assert_eq!(settling(&simulated(&with(10, vec![step(5)], 60))).cut_ns, Some(5 * S));
    assert_eq!(settling(&simulated(&with(10, vec![step(25)], 60))).state, Unsettled);
}

/// Returns the seeds, of a hundred healthy runs of a queue, that are doubted or cut.
fn doubted(load: f64) -> Vec<u64> {
    let doubted = |seed: &u64| {
        let found = findings(&simulated(&queue(load, *seed)));
        found.verdict.state != Valid || found.settling.cut_ns.is_some()
    };
    (1..=100).filter(doubted).collect()
}

/// The promise to users: of a hundred healthy runs, at most five are doubted or cut.
#[test]
fn healthy_queues_are_valid_and_nothing_is_cut() {
    let doubted = doubted(0.5);
    assert!(doubted.len() <= 5, "seeds {doubted:?}");
}

#[test]
fn busy_queues_are_valid_and_nothing_is_cut() {
    let doubted = doubted(0.8);
    assert!(doubted.len() <= 5, "seeds {doubted:?}");
}

#[test]
fn runs_at_random_instants_are_valid_and_steady() {
    for seed in 1..=100 {
        let mut constant = scenario("01");
        let LoadModel::Open(schedule) = &mut constant.workload.model else { unreachable!() };
        (schedule.spacing, schedule.seed) = (Spacing::Poisson, seed);
        let found = findings(&without_samples(&constant));
        assert_eq!((found.verdict.state, found.settling.state), (Valid, Steady), "seed {seed}");
    }
}

/// The backlog of a saturated server makes its response time climb, which is reported as saturation.
#[test]
fn saturation_is_not_called_a_shift() {
    for run in both(&scenario("05")) {
        assert!(!codes(&findings(&run)).contains(&"not_stationary"));
    }
}

#[test]
fn a_server_that_dies_is_named_with_its_time() {
    for fault in [
        Fault::BlackHole { select: Selector { at: Some(Timestamp(25 * S)), ..Selector::default() } },
        Fault::Reset { select: Selector { at: Some(Timestamp(25 * S)), ..Selector::default() } },
    ] {
        for run in both(&with(10, vec![fault.clone()], 60)) {
            let shift = settling(&run).shift.unwrap();
            assert_eq!(shift.at_ns, 25 * S, "{shift:?}");
            let dead = matches!(fault, Fault::Reset { .. });
            assert_eq!(shift.to_ns.is_none(), dead, "{shift:?}");
        }
    }
}

#[test]
fn where_it_cannot_be_told_it_is_not() {
    let short = simulated(&with(10, vec![], 4));
    assert_eq!(settling(&short).state, NotJudged);
    let mut moving = scenario("01");
    let LoadModel::Open(schedule) = &mut moving.workload.model else { unreachable!() };
    schedule.profile = "ramp:100..2000/60s".parse().unwrap();
    assert_eq!(settling(&simulated(&moving)).state, NotJudged);
    let horizon = moving.workload.model.horizon();
    for (users, is_judged) in [("10", true), ("5..10/60s", false)] {
        let users = users.parse().unwrap();
        moving.workload.model = LoadModel::Closed { users, think_time: Nanos::from_millis(10), horizon };
        assert_eq!(settling(&simulated(&moving)).state != NotJudged, is_judged, "a closed loop");
    }
    let nothing = recorded(&short, &[]);
    assert_eq!(settling(&nothing).state, NotJudged);
}

/// A single request in ten seconds: many stretches have no request, and nothing breaks.
#[test]
fn the_rarest_arrivals() {
    let mut rare = with(10, vec![], 600);
    let LoadModel::Open(schedule) = &mut rare.workload.model else { unreachable!() };
    schedule.profile = "0.1".parse().unwrap();
    schedule.spacing = Spacing::Poisson;
    for run in both(&rare) {
        assert!(matches!(settling(&run).state, NotJudged | Steady));
    }
}

/// The generator's own lag is not the server's drift.
#[test]
fn a_generator_that_falls_behind_is_not_a_drift() {
    let slow = crate::support::changed(&simulated(&scenario("01")), |record| {
        let lag = Nanos(record.intended_start.0 / 4);
        record.delay.generator_lag = lag;
        record.actual_start = record.actual_start + lag;
        record.end = record.end + lag;
    });
    assert!(!codes(&findings(&slow)).contains(&"not_stationary"));
}

/// Levels are as uncertain as the median: by what the generator may have added.
#[test]
fn a_change_that_this_machine_cannot_resolve_is_no_doubt() {
    let step = Fault::Ramp { from: Timestamp(8 * S), to: Timestamp(8 * S + 1), target: Nanos::from_millis(10) };
    let run = simulated(&with(13, vec![step], 30));
    for (lag_us, is_doubted) in [(0, true), (100, true), (2_000, false)] {
        let lag = Nanos::from_micros(lag_us);
        let late = crate::support::changed(&run, |record| {
            record.delay.generator_lag = lag;
            record.actual_start = record.actual_start + lag;
            record.end = record.end + lag;
        });
        assert_eq!(codes(&findings(&late)).contains(&"not_stationary"), is_doubted, "{lag}");
    }
}

/// Fast refusals of a part of the arrivals do not move the level. Refusals of most of them do.
#[test]
fn failures_are_slower_than_every_answer() {
    let failing = |share: u64| {
        settling(&crate::support::changed(&simulated(&scenario("01")), |record| {
            if record.intended_start.0 > 30 * S && record.index % 10 < share {
                record.outcome = Outcome::Reset(truetail_model::record::Cause::ResetByPeer);
            }
        }))
    };
    assert_eq!(failing(3).state, Steady);
    let most = failing(7).shift.unwrap();
    assert_eq!((most.at_ns.div_ceil(S), most.to_ns), (30, None), "{most:?}");
}
