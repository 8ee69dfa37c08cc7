//! Gates: what a run decides, and what stays open.

use proptest::prelude::*;
use truetail_analysis::findings;
use truetail_analysis::gates::{Gate, PlannedRun, ReadingMode, RunOutcome, judge_all, outcome};
use truetail_model::arrival::{Arrival, Horizon};
use truetail_model::record::{
    Cause, CompactHistogram, Metric, Outcome, RequestRecord, Samples, SamplesOptions, TargetTimes,
};
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{LoadModel, LoadModelKind};
use truetail_run::{
    CheckCounts, Findings, GateFinding, GateState, GeneratorStats, LlmApi, LlmFacts, Mix, MixTarget, NotReached, Pause,
    Reason, Run, SessionFacts, SessionTally, SessionTime, SessionTimes, SloCounts, StepFacts, StreamFacts, StreamKind,
    StreamReading, StreamTally, StreamTime, StreamTimes, TargetBooks, TokenCounts, VerdictState,
};

mod planned;
mod streams;
mod targets;

use crate::support::{changed, scenario, simulated, with_pause};

fn gate(text: &str) -> Gate {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn judged(text: &str, run: &Run, findings: &Findings) -> GateFinding {
    gate(text).judge(run, findings)
}

fn state(text: &str, run: &Run) -> GateState {
    judged(text, run, &findings(run)).state
}

/// 60 000 requests of 10 ms each.
fn healthy() -> Run {
    simulated(&scenario("01"))
}

fn set_horizon(scenario: &mut Scenario, horizon: Horizon) {
    let LoadModel::Open(schedule) = &mut scenario.workload.model else { unreachable!("an open scenario") };
    schedule.horizon = horizon;
}

fn with_reason(findings: &Findings, code: &str, state: VerdictState) -> Findings {
    let mut changed = findings.clone();
    changed.verdict.state = state;
    changed.verdict.reasons.push(Reason {
        code: code.into(),
        state,
        message: String::new(),
        numbers: serde_json::Map::new(),
    });
    changed
}

#[test]
fn a_sound_run_decides_every_gate() {
    let run = healthy();
    for (text, expected) in [
        ("p99 > 50ms", GateState::Holds),
        ("p99 > 5ms", GateState::Fails),
        ("p99.9 <= 1h", GateState::Holds),
        ("max < 1us", GateState::Fails),
        ("mean > 9ms", GateState::Fails),
        ("service-time p50 > 50ms", GateState::Holds),
        ("error-rate > 0", GateState::Holds),
        ("unanswered >= 0", GateState::Fails),
        ("throughput < 1/s", GateState::Holds),
        ("throughput < 1000000/s", GateState::Fails),
        ("throughput > 1/s", GateState::Holds),
        ("throughput > 1000000/s", GateState::Fails),
        ("error-rate < 1%", GateState::Holds),
        ("unanswered < 0", GateState::Fails),
        ("p99 <= 10ms", GateState::Holds),
        ("p99 < 10ms", GateState::Fails),
    ] {
        assert_eq!(state(text, &run), expected, "{text}");
    }
}

#[test]
fn a_finding_has_the_figure_the_limit_and_words() {
    let run = healthy();
    let findings = findings(&run);
    let slow = judged("p99 > 5ms", &run, &findings);
    assert_eq!((slow.value_ns, slow.limit_ns, slow.value, slow.limit), (Some(10_000_000), Some(5_000_000), None, None));
    assert_eq!(slow.message, "measured 10.00ms");
    let errors = judged("error-rate > 1%", &run, &findings);
    assert_eq!((errors.value_ns, errors.limit_ns, errors.value, errors.limit), (None, None, Some(0.0), Some(0.01)));
    assert_eq!(errors.message, "measured 0%");
    // A figure close to its limit is printed with all its digits.
    let close = judged("p99 >= 9999999ns", &run, &findings);
    assert_eq!(close.message, "measured 10ms");
}

/// A gate is open if its limit is between the quantile with and without what the generator added.
#[test]
fn between_the_ends_of_the_bracket_a_gate_is_open() {
    let run = healthy();
    let mut bracketed = findings(&run);
    let p99 = bracketed.response_time.quantiles.iter_mut().find(|quantile| quantile.q == 0.99).unwrap();
    (p99.value_ns, p99.without_generator_ns) = (Some(30_000_000), Some(10_000_000));
    for (text, expected) in [
        ("p99 > 5ms", GateState::Fails),
        ("p99 > 20ms", GateState::Open),
        ("p99 > 50ms", GateState::Holds),
        ("p99 < 20ms", GateState::Open),
    ] {
        for verdict in [VerdictState::Valid, VerdictState::Suspect, VerdictState::Invalid] {
            let doubted = with_reason(&bracketed, "generator_lag", verdict);
            assert_eq!(judged(text, &run, &doubted).state, expected, "{text} {verdict:?}");
        }
    }
    let open = judged("p99 > 20ms", &run, &bracketed);
    assert_eq!(open.value_ns, Some(30_000_000));
    assert!(open.message.contains("(10.00ms without what the generator added)"), "{}", open.message);
    assert!(open.message.contains("quieter machine"), "{}", open.message);
}

#[test]
fn without_a_bracket_a_late_generator_leaves_an_upper_bound() {
    let late = changed(&healthy(), |record| {
        let lag = Nanos::from_millis(20);
        record.delay.generator_lag += lag;
        record.actual_start = record.actual_start + lag;
        record.end = record.end + lag;
    });
    let mut findings = findings(&late);
    for quantile in &mut findings.response_time.quantiles {
        quantile.without_generator_ns = None;
    }
    let findings = with_reason(&findings, "generator_lag", VerdictState::Invalid);
    assert_eq!(judged("p99 > 50ms", &late, &findings).state, GateState::Holds);
    assert_eq!(judged("p99 > 20ms", &late, &findings).state, GateState::Open);
    assert_eq!(
        judged("p99 > 9ms", &late, &findings).state,
        GateState::Fails,
        "no request was made later by more than 20 ms"
    );
    assert_eq!(judged("first-byte p99 > 9ms", &late, &findings).message, "no answer has this time");
    assert_eq!(judged("service-time p99 > 31ms", &late, &findings).state, GateState::Holds);
    // Requests that began late may have missed a wait that is not in their service time.
    assert_eq!(judged("service-time p99 > 29ms", &late, &findings).state, GateState::Open);
}

#[test]
fn bursts_bound_from_above_only_and_a_low_load_from_below_only() {
    let run = healthy();
    let found = findings(&run);
    let table = [
        ("generator_paused", GateState::Open, GateState::Holds),
        ("arrivals_off_schedule", GateState::Open, GateState::Holds),
        ("rate_not_reached", GateState::Fails, GateState::Open),
        ("generator_limit", GateState::Fails, GateState::Open),
        ("saturated", GateState::Fails, GateState::Open),
        ("books_unbalanced", GateState::Open, GateState::Open),
        ("not_known_yet", GateState::Open, GateState::Open),
        ("no_answers", GateState::Fails, GateState::Holds),
    ];
    for (code, beyond, within) in table {
        let doubted = with_reason(&found, code, VerdictState::Invalid);
        assert_eq!(judged("p99 > 5ms", &run, &doubted).state, beyond, "{code}");
        assert_eq!(judged("p99 > 50ms", &run, &doubted).state, within, "{code}");
        assert_eq!(judged("unanswered > 0", &run, &doubted).state, within, "{code}");
    }
}

#[test]
fn a_busy_generator_of_a_closed_loop_bounds_throughput_from_below() {
    let mut run = healthy();
    let busy = with_reason(&findings(&run), "generator_busy", VerdictState::Suspect);
    let all_sent = judged("throughput < 1000000/s", &run, &busy);
    assert_eq!(all_sent.state, GateState::Fails, "a schedule that was sent whole, though late");
    run.facts.offered.model = LoadModelKind::Closed;
    assert_eq!(judged("throughput < 1/s", &run, &busy).state, GateState::Holds);
    let open = judged("throughput < 1000000/s", &run, &busy);
    assert_eq!(open.state, GateState::Open);
    assert!(open.message.contains("the generator was the limit"), "{}", open.message);
    let saturated = with_reason(&findings(&run), "saturated", VerdictState::Invalid);
    assert_eq!(judged("throughput < 1000000/s", &run, &saturated).state, GateState::Fails, "it is all that it can do");
}

#[test]
fn what_a_slow_generator_never_sent_fails_no_gate() {
    let mut unsent = changed(&healthy(), |record| {
        if record.index % 2 == 1 {
            *record = RequestRecord::never_issued(
                Arrival { index: record.index, intended_start: record.intended_start },
                record.intended_start + Nanos::from_secs(60),
            );
        }
    });
    unsent.facts.interrupted = false;
    let found = with_reason(&findings(&unsent), "rate_not_reached", VerdictState::Invalid);
    for text in ["error-rate > 1%", "p99 > 50ms", "max > 1s"] {
        assert_eq!(judged(text, &unsent, &found).state, GateState::Open, "{text}");
    }
}

#[test]
fn a_first_byte_is_later_by_the_lag_of_its_request() {
    let late = changed(&healthy(), |record| {
        let lag = Nanos::from_millis(300);
        record.actual_start = record.intended_start + lag;
        record.end = record.end + lag;
        record.first_byte = Some(record.end);
        *record = record.with_start_delay(Nanos::ZERO, None);
    });
    let mut found = findings(&late);
    found.verdict.reasons.clear();
    assert_eq!(judged("first-byte p50 > 100ms", &late, &found).state, GateState::Open);
    assert_eq!(judged("first-byte p50 > 1s", &late, &found).state, GateState::Holds);
}

#[test]
fn the_throughput_ends_with_the_last_answer() {
    let waited = changed(&healthy(), |record| {
        if record.index == 0 {
            record.outcome = Outcome::TimedOut;
            record.end = record.intended_start + Nanos::from_secs(300);
        }
    });
    let with = findings(&waited);
    let without = findings(&healthy());
    let with = with.throughput_per_second.unwrap();
    let without = without.throughput_per_second.unwrap();
    assert!(with > without * 0.9, "{with} {without}");
}

#[test]
fn a_dead_server_fails_and_is_not_open() {
    let dead = changed(&healthy(), |record| record.outcome = Outcome::ConnectFailed(Cause::Refused));
    for text in ["error-rate > 1%", "unanswered > 99%", "p50 > 1h", "max > 1h"] {
        assert_eq!(state(text, &dead), GateState::Fails, "{text}");
    }
    assert_eq!(state("p50 < 1h", &dead), GateState::Fails);
    let p50 = judged("p50 > 50ms", &dead, &findings(&dead));
    assert_eq!((p50.value_ns, p50.message.as_str()), (None, "no answer: arrivals there failed"));
    let mut findings = findings(&dead);
    findings.gates = judge_all(&[gate("error-rate > 1%")], &dead, &findings);
    assert_eq!(outcome(&dead, &findings), RunOutcome::Failed);
}

#[test]
fn what_timed_out_is_known_from_below() {
    let slow = changed(&healthy(), |record| {
        record.outcome = Outcome::TimedOut;
        record.end = record.intended_start + Nanos::from_secs(5);
    });
    for (text, expected) in [
        ("p99 > 2s", GateState::Fails),
        ("p99 > 10s", GateState::Open),
        ("p99 < 2s", GateState::Fails),
        ("mean > 2s", GateState::Fails),
        ("mean > 10s", GateState::Open),
    ] {
        assert_eq!(state(text, &slow), expected, "{text}");
    }
    let open = judged("p99 > 10s", &slow, &findings(&slow));
    assert!(open.message.starts_with("measured at least 5.000s; ") && open.message.contains("--timeout"), "{open:?}");
}

#[test]
fn this_machines_own_failures_count_for_and_against() {
    let short_of_ports = changed(&healthy(), |record| {
        if record.index % 50 == 0 {
            record.outcome = Outcome::ConnectFailed(Cause::NoLocalPort);
        }
    });
    assert_eq!(state("error-rate > 1%", &short_of_ports), GateState::Open);
    assert_eq!(state("p99 > 50ms", &short_of_ports), GateState::Open, "2 % failed on this machine");
    assert_eq!(state("p99 > 5ms", &short_of_ports), GateState::Fails, "all others took 10 ms");
    let open = judged("error-rate > 1%", &short_of_ports, &findings(&short_of_ports));
    assert!(open.message.contains("local ports"), "{}", open.message);
}

#[test]
fn a_pause_leaves_open_what_it_may_have_caused() {
    let paused = with_pause(&healthy(), Timestamp(20_000_000_000), Nanos::from_millis(1500));
    let found = findings(&paused);
    assert_eq!(judged("p99 > 5s", &paused, &found).state, GateState::Holds, "it can only have made it longer");
    assert_ne!(judged("p99.9 > 1s", &paused, &found).state, GateState::Fails, "the pause did that");
}
