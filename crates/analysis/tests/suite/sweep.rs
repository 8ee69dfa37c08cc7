//! Steps of a sweep over simulated services whose capacity is known.

use truetail_analysis::capacity::{Answer, Objective};
use truetail_analysis::findings;
use truetail_analysis::sweep::{EndedBy, SCHEMA, StepState, Sweep, SweepStep};
use truetail_model::scenario::Scenario;
use truetail_sim::{SimOptions, simulate};

/// Five at a time, 10 ms each: at most 500/s.
fn step(rate: u32, objectives: &[&str]) -> SweepStep {
    step_of(rate, 30, objectives)
}

fn step_of(rate: u32, seconds: u32, objectives: &[&str]) -> SweepStep {
    let text = format!(
        "name = \"pool\"\nabout = \"five at a time\"\n[service]\nbaseline = \"10ms\"\nconcurrency = 5\n\
         [workload]\nrate = {rate}\nspacing = \"poisson\"\nduration = \"{seconds}s\"\ndrain = \"300s\"\n"
    );
    let run = simulate(&Scenario::parse(&text, "test").expect("a scenario"), SimOptions::default()).expect("a run");
    let objectives: Vec<Objective> = objectives.iter().map(|text| text.parse().expect("an objective")).collect();
    SweepStep::new(f64::from(rate), &run, &findings(&run), None, &objectives)
}

fn sweep(steps: Vec<SweepStep>) -> Sweep {
    Sweep {
        schema: SCHEMA.to_owned(),
        server: "pool".to_owned(),
        target: "http://pool/".to_owned(),
        slo: vec!["p99 < 50ms".to_owned()],
        goodput_slo: Vec::new(),
        step_s: 30.0,
        planned_rates: vec![100.0, 200.0, 400.0, 800.0],
        ended_by: Some(EndedBy::Saturated),
        steps,
    }
}

#[test]
fn a_step_below_the_capacity_is_valid_and_one_above_it_is_saturated() {
    for rate in [100, 200, 400] {
        let step = step(rate, &[]);
        assert_eq!((step.state, &step.reason), (StepState::Valid, &None), "{rate}");
        let offered = step.offered_per_second.expect("a rate");
        assert!((offered / f64::from(rate) - 1.0).abs() < 0.05, "{offered}");
        assert_eq!(step.answered_per_second, step.offered_per_second, "every request is answered");
        let p99 = step.quantile("response-time", 0.99).expect("p99");
        let ends = [p99.low_ns, p99.value_ns, p99.high_ns].map(|ns| ns.expect("an interval"));
        assert!(ends.is_sorted() && ends[0] >= 9_900_000, "{ends:?}");
        assert_eq!(step.output_tokens_per_second, None);
    }
    let above = step(800, &[]);
    assert_eq!(above.state, StepState::Saturated, "{above:?}");
    assert!(above.reason.is_some());
    let answered = above.answered_per_second.expect("a rate");
    assert!((490.0..510.0).contains(&answered), "five places of 10 ms answer 500/s: {answered}");
}

/// In three seconds a detector of growing backlogs has seen too little. The answers that came late tell.
#[test]
fn a_short_step_above_the_capacity_does_not_claim_the_offered_rate() {
    let short = step_of(1_000, 3, &[]);
    assert_eq!(short.state, StepState::Saturated, "{short:?}");
    assert!(short.answered_per_second.is_some_and(|answered| (480.0..515.0).contains(&answered)), "{short:?}");
}

#[test]
fn an_objective_is_met_up_to_a_rate_and_missed_from_another_on() {
    let slo = "p99 < 50ms";
    let steps: Vec<SweepStep> = [100, 200, 400, 800].map(|rate| step(rate, &[slo])).into();
    let answers: Vec<Answer> = steps.iter().map(|step| step.objectives[0].answer).collect();
    assert_eq!(answers, [Answer::Meets, Answer::Meets, Answer::Meets, Answer::Misses]);
    assert_eq!(sweep(steps).limits_of(slo), (Some(400.0), Some(800.0)));
}

/// A rate that met above one that missed proves nothing.
#[test]
fn what_is_above_a_missed_rate_does_not_count() {
    let slo = "p99 < 50ms";
    let mut steps: Vec<SweepStep> = [100, 200, 400].map(|rate| step(rate, &[slo])).into();
    steps[1].objectives[0].answer = Answer::Misses;
    assert_eq!(sweep(steps.clone()).limits_of(slo), (Some(100.0), Some(200.0)));
    steps[1].objectives[0].answer = Answer::Open;
    assert_eq!(sweep(steps).limits_of(slo), (Some(400.0), None));
}

#[test]
fn a_saved_sweep_is_read_again_and_nonsense_is_refused() {
    let saved = sweep(vec![step(100, &["p99 < 50ms"]), step(800, &[])]);
    let text = serde_json::to_string(&saved).expect("JSON");
    assert_eq!(Sweep::parse(&text).expect("a sweep"), saved);
    for (from, to, says) in [
        ("truetail.sweep/1", "truetail.sweep/9", "has the schema 'truetail.sweep/9'"),
        ("\"rate\":100.0", "\"rate\":1e300", "cannot be"),
        ("\"rate\":100.0", "\"rate\":-1.0", "cannot be"),
        ("\"steps\"", "\"stairs\"", "is not a saved sweep"),
    ] {
        let error = Sweep::parse(&text.replacen(from, to, 1)).expect_err(to).to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{error}");
    }
}
