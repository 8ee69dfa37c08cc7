//! Gates that a planned load can decide, and gates that are refused before the load.

use truetail_analysis::compare::CompareGate;
use truetail_model::workload::Workload;
use truetail_run::LlmApi;

use super::*;

#[test]
fn too_small_a_sample_leaves_a_gate_open_and_says_why() {
    let mut few = scenario("01");
    set_horizon(&mut few, Horizon { duration: None, requests: Some(3_000) });
    let run = simulated(&few);
    let open = judged("p99.9 > 50ms", &run, &findings(&run));
    assert_eq!((open.state, open.value_ns), (GateState::Open, None));
    assert_eq!(open.message, "this percentile needs 3688 arrivals, not 3000: run longer or raise the rate");
    assert_eq!(state("p99 > 50ms", &run), GateState::Holds);
}

fn planned(scenario: &Scenario) -> PlannedRun<'_> {
    PlannedRun {
        workload: &scenario.workload,
        targets: Some(vec![("GET /".to_owned(), 1.0)]),
        has_checks: false,
        has_events: false,
        flows: Vec::new(),
        asks_again: false,
        reading: ReadingMode::Whole,
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
fn times_of_streams_are_refused_if_answers_come_whole() {
    let scenario = scenario("01");
    let whole = PlannedRun { reading: ReadingMode::of_llm(LlmApi::Rerank), ..planned(&scenario) };
    for text in ["ttft p99 > 1s", "itl mean > 1s", "tpot p50 > 1s", "first-event p99 > 1s", "event-gap max > 1s"] {
        let objection = whole.objection(&gate(text)).expect(text);
        assert!(objection.starts_with(&format!("'{text}' needs answers that come in pieces")), "{objection}");
    }
    let worse: CompareGate = "ttft p99 worse than 5%".parse().unwrap();
    assert!(worse.objection(&whole).is_some_and(|why| why.contains("come in pieces")));
    for text in ["p99 > 1s", "goodput < 90%", "incomplete-streams > 1%", "error-rate > 1%"] {
        assert_eq!(whole.objection(&gate(text)), None, "{text}");
    }
    let pieces = PlannedRun { reading: ReadingMode::of_llm(LlmApi::Ollama), ..whole };
    assert_eq!(pieces.objection(&gate("ttft p99 > 1s")), None);
}

#[test]
fn sessions_rates_and_comparisons_need_their_number_too() {
    let mut few = scenario("01");
    set_horizon(&mut few, Horizon { duration: Some(Nanos::from_millis(300)), requests: None });
    let LoadModel::Open(sessions) = few.workload.model.clone() else { panic!("an open model") };
    let of_flows = Scenario {
        workload: Workload {
            model: LoadModel::PartlyOpen { sessions, requests_per_session: 9, think_time: Nanos::ZERO },
            ..few.workload.clone()
        },
        ..few.clone()
    };
    let with_flow = PlannedRun { flows: vec!["buy".to_owned()], asks_again: true, ..planned(&of_flows) };
    let objection = with_flow.objection(&gate("session-time p99 > 2s")).expect("300 sessions do not carry it");
    assert!(objection.contains("needs 368 sessions, and this load plans 300; use -d 1s"), "{objection}");
    assert_eq!(with_flow.objection(&gate("session-time p90 > 2s")), None);
    let two = PlannedRun { flows: vec!["buy".to_owned(), "look".to_owned()], ..with_flow };
    assert!(two.objection(&gate("session-time p99{buy} > 2s")).is_some_and(|why| why.contains("plans 300")));
    assert!(two.objection(&gate("session-time p99{bye} > 2s")).is_some_and(|why| why.contains("no flow 'bye'")));

    let worse: CompareGate = "p99 worse than 5%".parse().unwrap();
    let objection = worse.objection(&planned(&few)).expect("300 do not carry it");
    assert!(objection.starts_with("'p99 worse than 5%' cannot be decided: it needs 368 measured"), "{objection}");
    set_horizon(&mut few, Horizon { duration: None, requests: Some(1) });
    assert!(planned(&few).objection(&gate("throughput < 50")).is_some(), "one arrival has no rate");
    set_horizon(&mut few, Horizon { duration: None, requests: Some(368) });
    assert_eq!(worse.objection(&planned(&few)), None);
    assert_eq!(planned(&few).objection(&gate("throughput < 50")), None);
}

#[test]
fn few_arrivals_are_not_refused_if_answers_may_add_more() {
    let mut few = scenario("01");
    set_horizon(&mut few, Horizon { duration: Some(Nanos::from_secs(3)), requests: None });
    let LoadModel::Open(sessions) = few.workload.model.clone() else { panic!("an open model") };
    few.workload.model = LoadModel::PartlyOpen { sessions, requests_per_session: 1, think_time: Nanos::ZERO };
    let mut planned = planned(&few);
    assert!(planned.objection(&gate("p99.9 > 50ms")).is_some());
    planned.asks_again = true;
    assert_eq!(planned.objection(&gate("p99.9 > 50ms")), None);
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
    // 60 000 arrivals, and one in twenty is for this target: enough for p99, not for p99.9.
    planned.targets = Some(vec![("GET /a".to_owned(), 0.95), ("GET /b".to_owned(), 0.05)]);
    assert_eq!(planned.objection(&gate("p99{GET /b} > 50ms")), None);
    let too_few = planned.objection(&gate("p99.9{GET /b} > 50ms")).expect("some 3 000 are expected");
    assert!(too_few.contains("needs 3688 measured arrivals of its target"), "{too_few}");
    assert_eq!(planned.objection(&gate("p99.9{GET /a} > 50ms")), None);
    planned.targets = None;
    assert_eq!(planned.objection(&gate("p99.9{GET /nothing} > 50ms")), None, "nobody knows yet");
}

/// If the answers decide how many requests there are, the number is not known before.
#[test]
fn a_closed_loop_may_decide_anything() {
    let mut closed = scenario("01");
    let horizon = Horizon { duration: Some(Nanos::from_secs(1)), requests: None };
    closed.workload.model = LoadModel::Closed { users: 1.into(), think_time: Nanos::ZERO, horizon };
    assert_eq!(planned(&closed).objection(&gate("p99.99 > 50ms")), None);
}
