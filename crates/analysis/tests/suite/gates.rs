//! Gates: what a run decides, and what stays open.

use proptest::prelude::*;
use truetail_analysis::findings;
use truetail_analysis::gates::{Gate, PlannedRun, Reading, RunOutcome, judge_all, outcome};
use truetail_model::arrival::{Arrival, Horizon};
use truetail_model::record::{Cause, Metric, Outcome, RequestRecord, Samples, SamplesOptions, TargetTimes};
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{LoadModel, LoadModelKind};
use truetail_run::{
    CheckCounts, Findings, GateFinding, GateState, LlmApi, LlmFacts, Mix, MixTarget, Reason, Run, SloCounts,
    StreamFacts, StreamKind, StreamTally, StreamTime, StreamTimes, TargetBooks, TokenCounts, VerdictState,
};

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

/// 10 ms each, 60 000 of them.
fn healthy() -> Run {
    simulated(&scenario("01"))
}

/// The findings, with this reason in the verdict.
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
        ("p99.9 <= 1h", GateState::Fails),
        ("max < 1us", GateState::Holds),
        ("mean > 9ms", GateState::Fails),
        ("service-time p50 > 50ms", GateState::Holds),
        ("error-rate > 0", GateState::Holds),
        ("unanswered >= 0", GateState::Fails),
        ("throughput < 1/s", GateState::Holds),
        ("throughput < 1000000/s", GateState::Fails),
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
    let slip = judged("p99 < 50ms", &run, &findings);
    assert!(slip.message.contains("a gate names what fails the run"), "{}", slip.message);
    // A figure that looks like its limit is told with all its digits.
    let close = judged("p99 >= 9999999ns", &run, &findings);
    assert_eq!(close.message, "measured 10ms");
}

/// The generator alone made the quantile large: neither end of the bracket is beyond the limit by itself.
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
    // Requests that began late may have missed a wait that is in no service time.
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
        ("no_responses", GateState::Fails, GateState::Holds),
    ];
    for (code, beyond, within) in table {
        let doubted = with_reason(&found, code, VerdictState::Invalid);
        assert_eq!(judged("p99 > 5ms", &run, &doubted).state, beyond, "{code}");
        assert_eq!(judged("p99 > 50ms", &run, &doubted).state, within, "{code}");
        assert_eq!(judged("unanswered > 0", &run, &doubted).state, within, "{code}");
    }
}

#[test]
fn a_generator_that_was_the_limit_of_a_closed_loop_bounds_the_throughput_from_below() {
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
    let (with, without) = (findings(&waited), findings(&healthy()));
    let (with, without) = (with.throughput_per_second.unwrap(), without.throughput_per_second.unwrap());
    assert!(with > without * 0.9, "{with} {without}");
}

#[test]
fn a_dead_server_fails_and_is_not_open() {
    let dead = changed(&healthy(), |record| record.outcome = Outcome::ConnectFailed(Cause::Refused));
    for text in ["error-rate > 1%", "unanswered > 99%", "p50 > 1h", "max > 1h"] {
        assert_eq!(state(text, &dead), GateState::Fails, "{text}");
    }
    assert_eq!(state("p50 < 1h", &dead), GateState::Holds);
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
        ("p99 < 2s", GateState::Holds),
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

/// A healthy run of streams with gaps of 10 ms and one of 500 ms, of which `failed` failed to begin.
fn of_streams(mut run: Run, failed: u64) -> Run {
    let planned = run.snapshot.tally.planned;
    let mut times = StreamTimes::default();
    times.of_mut(StreamTime::FirstEvent).record_n(Nanos::from_millis(10), planned - failed);
    times.of_mut(StreamTime::FirstEventFailed).record_n(Nanos::from_millis(10), failed);
    times.of_mut(StreamTime::EventGap).record_n(Nanos::from_millis(10), 9 * planned);
    times.of_mut(StreamTime::EventGap).record_n(Nanos::from_millis(500), 1);
    run.facts.stream = Some(StreamFacts {
        kind: StreamKind::Sse,
        stall_ns: None,
        idle_timeout_ns: None,
        end_mark: None,
        tally: StreamTally { planned, complete: planned - failed, failed, ..StreamTally::default() },
        events: planned - failed + 9 * planned + 1,
        bytes: 0,
        coalesced_gaps: 0,
        stalls: 0,
        llm: None,
        times,
    });
    run
}

/// A healthy run of a language model: content after 200 ms, then each 20 ms; the tokens of `uncounted` answers are not known.
fn of_llm(uncounted: u64) -> Run {
    let mut run = of_streams(healthy(), 0);
    let planned = run.snapshot.tally.planned;
    let streams = run.facts.stream.as_mut().expect("streams");
    for (time, ms, count) in [
        (StreamTime::FirstContent, 200, planned),
        (StreamTime::ContentGap, 20, 9 * planned),
        (StreamTime::TimePerOutputToken, 20, planned - uncounted),
    ] {
        streams.times.of_mut(time).record_n(Nanos::from_millis(ms), count);
    }
    let mut llm = LlmFacts::new(LlmApi::OpenaiChat, vec!["tpot < 50ms".to_owned()]);
    llm.tokens = TokenCounts {
        counted: planned - uncounted,
        not_counted: uncounted,
        unknown_time_per_output_token: uncounted,
        ..TokenCounts::default()
    };
    llm.slo = llm.slo.map(|slo| SloCounts { met: planned - uncounted, cannot_tell: uncounted, ..slo });
    streams.llm = Some(llm);
    run
}

#[test]
fn gates_on_language_models_decide() {
    let run = of_llm(0);
    for (gate, expected) in [
        ("ttft p99 > 500ms", GateState::Holds),
        ("ttft p99 > 100ms", GateState::Fails),
        ("itl max > 15ms", GateState::Fails),
        ("itl p99 > 25ms", GateState::Holds),
        ("tpot p50 > 25ms", GateState::Holds),
        ("tpot mean > 15ms", GateState::Fails),
    ] {
        assert_eq!(state(gate, &run), expected, "{gate}");
    }
    assert_eq!(state("ttft p99 > 500ms", &of_streams(healthy(), 0)), GateState::Open);
}

#[test]
fn answers_whose_tokens_nobody_counted_may_have_been_the_slowest_and_the_fastest() {
    let planned = healthy().snapshot.tally.planned;
    for (gate, uncounted, expected) in [
        ("tpot p50 > 25ms", 1, GateState::Holds),
        ("tpot p50 > 25ms", planned * 3 / 4, GateState::Open),
        ("tpot p50 > 15ms", 1, GateState::Fails),
        ("tpot p99 > 25ms", planned / 50, GateState::Open),
        ("tpot p50 > 25ms", planned, GateState::Open),
        ("tpot mean > 25ms", 1, GateState::Open),
    ] {
        let run = of_llm(uncounted);
        let found = judged(gate, &run, &findings(&run));
        assert_eq!(found.state, expected, "{gate} {uncounted}: {}", found.message);
    }
}

#[test]
fn goodput_is_a_range_where_it_cannot_be_told() {
    let run = of_llm(100);
    let planned = run.snapshot.tally.planned;
    let goodput = findings(&run).stream.and_then(|streams| streams.llm?.goodput).expect("goodput");
    assert_eq!((goodput.planned, goodput.met, goodput.cannot_tell), (planned, planned - 100, 100));
    assert_eq!(goodput.share_at_most, Some(1.0));
    let share = goodput.share.expect("a share");
    assert!((share * planned as f64 - (planned - 100) as f64).abs() < 1e-6, "{share}");
    assert!(goodput.per_second < goodput.per_second_at_most, "{goodput:?}");
}

#[test]
fn a_gap_that_our_own_pause_may_have_made_decides_nothing() {
    let steady = of_streams(healthy(), 0);
    let found = findings(&steady);
    assert_eq!(judged("event-gap max > 100ms", &steady, &found).state, GateState::Fails);
    let paused = of_streams(with_pause(&healthy(), Timestamp(20_000_000_000), Nanos::from_millis(600)), 0);
    // Only the pause, not what a verdict makes of it.
    let judged = |text| judged(text, &paused, &found).state;
    assert_eq!((judged("event-gap max > 100ms"), judged("event-gap max > 1s")), (GateState::Open, GateState::Holds));
    assert_eq!(judged("incomplete-streams > 1%"), GateState::Holds);
}

#[test]
fn streams_that_failed_on_this_machine_fail_no_gate() {
    let short_of_ports = changed(&healthy(), |record| {
        if record.index % 50 == 0 {
            record.outcome = Outcome::ConnectFailed(Cause::NoLocalPort);
        }
    });
    let failed = short_of_ports.snapshot.tally.connect_failed;
    let run = of_streams(short_of_ports, failed);
    assert_eq!(state("incomplete-streams > 1%", &run), GateState::Open);
    assert_eq!(state("incomplete-streams > 1%", &of_streams(healthy(), failed)), GateState::Fails);
}

#[test]
fn a_sample_that_is_too_small_leaves_a_gate_open_and_says_what_it_takes() {
    let mut few = scenario("01");
    set_horizon(&mut few, Horizon { duration: None, requests: Some(3_000) });
    let run = simulated(&few);
    let open = judged("p99.9 > 50ms", &run, &findings(&run));
    assert_eq!((open.state, open.value_ns), (GateState::Open, None));
    assert_eq!(open.message, "this percentile needs 3688 arrivals, not 3000: run longer or raise the rate");
    assert_eq!(state("p99 > 50ms", &run), GateState::Holds);
}

fn set_horizon(scenario: &mut Scenario, horizon: Horizon) {
    let LoadModel::Open(schedule) = &mut scenario.workload.model else { unreachable!("an open scenario") };
    schedule.horizon = horizon;
}

fn planned(scenario: &Scenario) -> PlannedRun<'_> {
    PlannedRun {
        workload: &scenario.workload,
        targets: vec![("GET /".to_owned(), 1.0)],
        has_checks: false,
        has_sessions: false,
        reading: Reading::Whole,
    }
}

#[test]
fn what_the_load_cannot_decide_is_refused_before_it() {
    let mut few = scenario("01");
    set_horizon(&mut few, Horizon { duration: Some(Nanos::from_secs(3)), requests: None });
    let objection = planned(&few).objection(&gate("p99.9 > 50ms")).expect("3 000 arrivals do not carry it");
    assert!(objection.contains("needs 3688 measured arrivals, and this load plans 3000"), "{objection}");
    assert!(objection.contains("use -d 4s"), "{objection}");
    few.workload.warmup = Nanos::from_secs(2);
    let objection = planned(&few).objection(&gate("p99.9 > 50ms")).expect("nor do those after the warm-up");
    assert!(objection.contains("plans 1000") && objection.contains("use -d 6s"), "{objection}");
    for text in ["p99 > 50ms", "max > 1s", "mean > 1s", "error-rate > 1%"] {
        assert_eq!(planned(&few).objection(&gate(text)), None, "{text}");
    }
    set_horizon(&mut few, Horizon { duration: None, requests: Some(4_000) });
    let objection = planned(&few).objection(&gate("service-time p99.99 > 50ms")).expect("2 000 are measured");
    assert!(objection.contains("use -n 36887"), "{objection}");
}

#[test]
fn targets_and_checks_that_are_not_there_are_refused_before_the_load() {
    let scenario = scenario("01");
    let mut planned = planned(&scenario);
    let unknown = planned.objection(&gate("p99{GET /nothing} > 50ms")).expect("no such target");
    assert!(unknown.contains("'GET /nothing'") && unknown.contains("'GET /'"), "{unknown}");
    assert_eq!(planned.objection(&gate("p99{GET /} > 50ms")), None);
    assert!(planned.objection(&gate("check-failures > 1%")).is_some_and(|why| why.contains("--check")));
    planned.has_checks = true;
    assert_eq!(planned.objection(&gate("check-failures > 1%")), None);
    // 60 000 arrivals, of which one in twenty is its: enough for p99, not for p99.9.
    planned.targets = vec![("GET /a".to_owned(), 0.95), ("GET /b".to_owned(), 0.05)];
    assert_eq!(planned.objection(&gate("p99{GET /b} > 50ms")), None);
    let too_few = planned.objection(&gate("p99.9{GET /b} > 50ms")).expect("some 3 000 are expected");
    assert!(too_few.contains("needs 3688 measured arrivals of its target"), "{too_few}");
    assert_eq!(planned.objection(&gate("p99.9{GET /a} > 50ms")), None);
}

/// Where the answers decide how many requests there are, nobody knows before.
#[test]
fn a_closed_loop_may_decide_anything() {
    let mut closed = scenario("01");
    let horizon = Horizon { duration: Some(Nanos::from_secs(1)), requests: None };
    closed.workload.model = LoadModel::Closed { users: 1, think_time: Nanos::ZERO, horizon };
    assert_eq!(planned(&closed).objection(&gate("p99.99 > 50ms")), None);
}

/// The run as two targets: every third arrival asks for the second and takes twice as long.
fn two_targets() -> Run {
    let mut run = changed(&healthy(), |record| {
        if record.index % 3 == 2 {
            record.end = record.end + Nanos::from_millis(10);
        }
    });
    let target =
        |path: &str| MixTarget { method: "GET".into(), url: format!("http://h:1{path}"), weight: 1, name: None };
    let targets = vec![target("/fast"), target("/slow")];
    let mut books: Vec<TargetBooks> = targets
        .iter()
        .map(|target| TargetBooks {
            method: target.method.clone(),
            url: target.url.clone(),
            tally: Default::default(),
            statuses: Default::default(),
        })
        .collect();
    let mut times = vec![TargetTimes::default(); 2];
    for record in run.snapshot.samples.even() {
        let number = usize::from(record.index % 3 == 2);
        books[number].tally.plan(1);
        books[number].tally.count(record.outcome);
        *books[number].statuses.entry(200).or_default() += 1;
        times[number].record(record);
    }
    run.facts.by_target = books;
    run.snapshot.targets = times;
    run.facts.offered.mix = Some(Mix { targets, rows: 0, order: None, seed: Some(1), hash: "0".repeat(16) });
    run
}

#[test]
fn each_target_has_its_own_times_and_gates() {
    let run = two_targets();
    let found = findings(&run);
    let named: Vec<_> = found.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(named, ["GET /fast", "GET /slow"]);
    let p50 = |number: usize| found.targets[number].response_time.quantiles[0].value_ns.map(|ns| ns / 1_000_000);
    assert_eq!((p50(0), p50(1)), (Some(10), Some(20)));
    assert_eq!(found.targets.iter().map(|target| target.response_time.count).sum::<u64>(), found.response_time.count);
    for (text, expected) in [
        ("p99{GET /fast} > 15ms", GateState::Holds),
        ("p99{GET /slow} > 15ms", GateState::Fails),
        ("mean{GET /fast} > 11ms", GateState::Holds),
        ("max{GET /slow} > 15ms", GateState::Fails),
        ("service-time p97.5{GET /slow} > 15ms", GateState::Fails),
        ("error-rate{GET /slow} > 0", GateState::Holds),
        ("throughput{GET /slow} < 500/s", GateState::Fails),
        ("p99{GET /none} > 1ms", GateState::Open),
    ] {
        assert_eq!(judged(text, &run, &found).state, expected, "{text}");
    }
    let mut lost = run.clone();
    lost.snapshot.targets.clear();
    let open = judged("p99{GET /slow} > 15ms", &lost, &findings(&lost));
    assert_eq!(open.state, GateState::Open);
    assert_eq!(state("error-rate{GET /slow} > 0", &lost), GateState::Holds, "its books are there");
}

#[test]
fn failed_answers_of_several_checks_are_bounded() {
    let mut run = healthy();
    let check = |text: &str, failed| CheckCounts { text: text.into(), passed: 60_000 - failed, failed };
    run.facts.checks = vec![check("status == 200", 600), check("body contains \"ok\"", 300)];
    for (text, expected) in [
        ("check-failures > 0.5%", GateState::Fails),
        ("check-failures > 1.2%", GateState::Open),
        ("check-failures > 1.5%", GateState::Holds),
    ] {
        assert_eq!(state(text, &run), expected, "{text}");
    }
    let between = judged("check-failures > 1.2%", &run, &findings(&run));
    assert!(between.message.starts_with("measured 1% to 1.5%; "), "{}", between.message);
}

#[test]
fn the_outcome_of_a_run() {
    let run = healthy();
    let mut found = findings(&run);
    assert_eq!(outcome(&run, &found), RunOutcome::Passed);
    let invalid = with_reason(&found, "generator_lag", VerdictState::Invalid);
    assert_eq!(outcome(&run, &invalid), RunOutcome::Open, "no gate was asked for");
    let mut decided = invalid.clone();
    decided.gates = judge_all(&[gate("p99 > 50ms")], &run, &decided);
    assert_eq!(outcome(&run, &decided), RunOutcome::Passed, "a gate that the bounds decide is decided");
    decided.gates = judge_all(&[gate("p99 > 50ms"), gate("p99{GET /none} > 1ms")], &run, &decided);
    assert_eq!(outcome(&run, &decided), RunOutcome::Open);
    decided.gates = judge_all(&[gate("p99{GET /none} > 1ms"), gate("p99 > 1ms")], &run, &decided);
    assert_eq!(outcome(&run, &decided), RunOutcome::Failed);
    let mut checked = run.clone();
    checked.facts.checks = vec![CheckCounts { text: "status == 200".into(), passed: 59_999, failed: 1 }];
    assert_eq!(outcome(&checked, &found), RunOutcome::Failed, "a check failed");
    found.gates = judge_all(&[gate("check-failures > 1%")], &checked, &found);
    assert_eq!(outcome(&checked, &found), RunOutcome::Passed, "so few are tolerated");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever the generator added and however the run ended, a higher limit never turns a pass into a failure, and a
    /// decision holds at both ends of the bracket.
    #[test]
    fn decisions_of_a_run_are_monotone_and_agree_with_both_ends(
        seed in any::<u64>(), lag_ms in 0u64..40, unanswered in 2u64..40, code in 0usize..6, a in 1u64..80, b in 1u64..80,
    ) {
        let mut few = scenario("01");
        set_horizon(&mut few, Horizon { duration: None, requests: Some(500) });
        let run = changed(&simulated(&few), |record| {
            let mixed = record.index.wrapping_mul(seed | 1) >> 7;
            let lag = Nanos::from_millis(mixed % (lag_ms + 1));
            record.delay.generator_lag += lag;
            record.actual_start = record.actual_start + lag;
            record.end = record.end + lag;
            if mixed.is_multiple_of(unanswered) {
                record.outcome = Outcome::TimedOut;
            }
        });
        let found = findings(&run);
        let code = ["generator_lag", "generator_paused", "rate_not_reached", "saturated", "books_unbalanced", "no_responses"][code];
        let found = with_reason(&found, code, VerdictState::Invalid);
        for metric in ["p50", "p90", "max", "mean", "service-time p50", "service-time mean"] {
            let at = |limit: u64| judged(&format!("{metric} > {limit}ms"), &run, &found).state;
            prop_assert!(at(a.min(b)) >= at(a.max(b)), "{} {}", metric, code);
        }
        let p50 = found.response_time.quantiles[0];
        let ends = [p50.without_generator_ns, p50.value_ns.filter(|_| !p50.at_least)];
        let decided = judged(&format!("p50 > {a}ms"), &run, &found).state;
        for end in ends.into_iter().flatten() {
            let meets = end > a * 1_000_000;
            prop_assert!(decided == GateState::Open || (decided == GateState::Fails) == meets, "{:?} {:?}", decided, p50);
        }
    }
}

#[test]
fn a_run_without_samples_decides_the_same() {
    let run = healthy();
    let mut lost = run.clone();
    lost.snapshot.samples = Samples::from_parts(SamplesOptions::NONE, Vec::new(), 1, &[], run.snapshot.samples.seen());
    for text in ["p99 > 50ms", "p99 > 5ms", "mean > 9ms", "throughput < 500/s", "service-time p97 > 50ms"] {
        assert_eq!(state(text, &lost), state(text, &run), "{text}");
    }
    assert!(lost.snapshot.metric(Metric::ResponseTime).count() > 0);
}
