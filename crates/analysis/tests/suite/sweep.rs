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
    step_with("baseline = \"10ms\"\nconcurrency = 5\n", rate, (seconds, 1), objectives)
}

fn step_with(service: &str, rate: u32, (seconds, seed): (u32, u32), objectives: &[&str]) -> SweepStep {
    let text = format!(
        "name = \"pool\"\nabout = \"a service\"\n[service]\n{service}[workload]\nrate = {rate}\n\
         spacing = \"poisson\"\nseed = {seed}\nduration = \"{seconds}s\"\ndrain = \"300s\"\n"
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

/// Answers from a fraction of a second to more than ten pile up until the first ones end, and come long after the step.
#[test]
fn a_service_whose_answers_differ_in_length_is_not_saturated() {
    for seed in 1..=10 {
        for (rate, seconds) in [(10, 10), (20, 15), (20, 30), (50, 30), (50, 60)] {
            let service = format!("baseline = \"3s\"\nvariation = \"exponential\"\nseed = {seed}\n");
            let step = step_with(&service, rate, (seconds, seed), &[]);
            assert_ne!(step.state, StepState::Saturated, "{rate}/s, {seconds} s, seed {seed}: {step:?}");
            // One in 20,000 takes longer than the timeout of 30 s.
            assert!(step.answered_per_second >= step.offered_per_second.map(|offered| offered * 0.995), "{step:?}");
        }
    }
}

/// The same answers in too few places: at most 20/s.
#[test]
fn too_few_places_for_answers_that_differ_in_length_are_saturated() {
    for seed in 1..=10 {
        let service = format!("baseline = \"1s\"\nvariation = \"exponential\"\nconcurrency = 20\nseed = {seed}\n");
        for (rate, seconds) in [(40, 10), (30, 30)] {
            let step = step_with(&service, rate, (seconds, seed), &[]);
            assert_eq!(step.state, StepState::Saturated, "{rate}/s, {seconds} s, seed {seed}: {step:?}");
            assert!(step.answered_per_second < step.offered_per_second.map(|offered| offered * 0.9), "{step:?}");
        }
    }
}

/// However lenient it is: a longer step would miss it.
#[test]
fn a_saturated_rate_misses_every_objective() {
    let slo = "p99 < 1000s";
    let steps: Vec<SweepStep> = [100, 800].map(|rate| step(rate, &[slo])).into();
    assert_eq!(sweep(steps).limits_of(slo), (Some(100.0), Some(800.0)));
}

#[test]
fn an_objective_is_met_up_to_a_rate_and_missed_from_another_on() {
    let slo = "p99 < 50ms";
    let steps: Vec<SweepStep> = [100, 200, 400, 800].map(|rate| step(rate, &[slo])).into();
    let answers: Vec<Answer> = steps.iter().map(|step| step.objectives[0].answer).collect();
    assert_eq!(answers, [Answer::Meets, Answer::Meets, Answer::Meets, Answer::Misses]);
    assert_eq!(sweep(steps).limits_of(slo), (Some(400.0), Some(800.0)));
}

/// A rate that met above one that did not proves nothing.
#[test]
fn what_is_above_a_rate_that_did_not_meet_does_not_count() {
    let slo = "p99 < 50ms";
    let mut steps: Vec<SweepStep> = [100, 200, 400].map(|rate| step(rate, &[slo])).into();
    steps[1].objectives[0].answer = Answer::Misses;
    assert_eq!(sweep(steps.clone()).limits_of(slo), (Some(100.0), Some(200.0)));
    steps[1].objectives[0].answer = Answer::Open;
    assert_eq!(sweep(steps.clone()).limits_of(slo), (Some(100.0), None));
    steps[0].objectives[0].answer = Answer::Open;
    assert_eq!(sweep(steps).limits_of(slo), (None, None));
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
