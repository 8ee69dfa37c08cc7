use proptest::prelude::*;
use truetail_model::scenario::builtin;
use truetail_model::service::Fault;

use super::field::{Field, Scale, Unit};
use super::*;

const PLAIN: &str =
    "rate=1000&spacing=even&duration=60&users=10&closed-end=duration&baseline=10&variation=constant&drain=30";

fn problem(text: &str) -> (String, String) {
    let error = Settings::parse(text).unwrap_err();
    (error.key, error.message)
}

#[test]
fn every_scenario_can_be_set_and_means_the_same() {
    for scenario in builtin::all()
        .into_iter()
        .filter(|scenario| scenario.service.stream.is_none() && scenario.service.routes.is_empty())
    {
        let settings = Settings::from_scenario(&scenario, 10, ClosedEnd::Duration).expect(&scenario.name);
        let meant = Settings::parse(&settings.to_query()).unwrap().simulation();
        assert_eq!(meant.scenario.service, scenario.service, "{}", scenario.name);
        assert_eq!(meant.scenario.workload, scenario.workload, "{}", scenario.name);
        assert_eq!(meant.notes, [""; 0], "{}", scenario.name);
    }
}

#[test]
fn what_has_no_slider_is_no_preset() {
    let mut scenario = builtin::find("01").unwrap();
    scenario.service.faults = vec![Fault::Reset { select: Default::default() }];
    assert_eq!(Settings::from_scenario(&scenario, 10, ClosedEnd::Duration), None);
    let mut scenario = builtin::find("01").unwrap();
    scenario.workload.warmup = Nanos::from_secs(1);
    assert_eq!(Settings::from_scenario(&scenario, 10, ClosedEnd::Duration), None);
    assert_eq!(Settings::from_scenario(&builtin::find("06").unwrap(), 10, ClosedEnd::Duration), None);
}

#[test]
fn users_follow_from_littles_law() {
    assert_eq!(Settings::users_for(Rate::per_second(1_000.0).unwrap(), Nanos::from_millis(10)), 10);
    assert_eq!(Settings::users_for(Rate::per_second(1.0).unwrap(), Nanos(1)), 1);
    let settings = Settings::parse(PLAIN).unwrap();
    assert_eq!(settings.expected_interval(), Nanos::from_millis(10));
}

#[test]
fn wrong_settings_are_named() {
    for (text, key, part) in [
        (PLAIN.replace("rate=1000", "rate=0"), "rate", "1/s to 20000/s"),
        (PLAIN.replace("rate=1000", "rate=NaN"), "rate", "out of range"),
        (PLAIN.replace("rate=1000", "rate=many"), "rate", "is a number, not 'many'"),
        (PLAIN.replace("rate=1000&", ""), "rate", "is missing"),
        (PLAIN.replace("users=10", "users=1.5"), "users", "whole number"),
        (PLAIN.replace("even", "odd"), "spacing", "even, poisson"),
        (format!("{PLAIN}&colour=red"), "colour", "no setting"),
        (format!("{PLAIN}&rate=5"), "rate", "twice"),
        (format!("{PLAIN}&stall-at=5"), "stall-at", "belongs to one"),
        (format!("{PLAIN}&stall-for=500"), "stall-at", "missing"),
        (format!("{PLAIN}&stall-at=5&stall-for=500&stall-gate=answers&stall-every=0.5"), "stall-every", "no gap"),
        (format!("{PLAIN}&ramp-from=5&ramp-to=5&ramp-target=9"), "ramp-to", "no length"),
        (format!("{PLAIN}&x"), "", "KEY=VALUE"),
        (format!("{PLAIN}&{}", "x".repeat(3_000)), "", "too long"),
    ] {
        let (found, message) = problem(&text);
        assert_eq!(found, key, "{text}: {message}");
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn simulations_are_bounded_and_say_so() {
    let settings = Settings::parse(&PLAIN.replace("rate=1000", "rate=20000")).unwrap();
    let plan = settings.simulation();
    assert_eq!(plan.scenario.workload.model.horizon().duration, Some(Nanos::from_secs(10)));
    assert!(plan.notes[0].contains("first 10s of 60s"), "{:?}", plan.notes);
    assert_eq!(plan.closed.model.horizon().requests, Some(MAX_REQUESTS));
    let late = format!("{PLAIN}&stall-at=70&stall-for=500&stall-gate=answers");
    let notes = Settings::parse(&late).unwrap().simulation().notes;
    assert!(notes[0].contains("begins at 70s"), "{notes:?}");
}

#[test]
fn real_runs_are_bounded_and_say_why() {
    let refused = |text: &str| Settings::parse(text).unwrap().real(true).unwrap_err();
    assert!(refused(&PLAIN.replace("rate=1000", "rate=20000")).message.contains("5000/s"));
    assert!(refused(&PLAIN.replace("duration=60", "duration=61")).message.contains("at most 60s"));
    let plan = Settings::parse(&PLAIN.replace("drain=30", "drain=86400")).unwrap().real(true).unwrap();
    assert_eq!(plan.scenario.workload.limits.drain, Nanos::from_secs(30));
    let by_count = Settings::parse(&PLAIN.replace("closed-end=duration", "closed-end=requests")).unwrap();
    let closed = by_count.real(true).unwrap().closed.unwrap().model.horizon();
    assert_eq!((closed.duration, closed.requests), (Some(Nanos::from_secs(60)), Some(60_000)));
    assert_eq!(by_count.real(false).unwrap().closed, None);
}

/// Returns a value in the range of `field`, with few digits.
fn value(field: Field) -> impl Strategy<Value = f64> {
    let spec = field.spec();
    let between = match spec.scale {
        Scale::Linear => (spec.least..=spec.most).boxed(),
        Scale::Log => (spec.least.ln()..=spec.most.ln()).prop_map(f64::exp).boxed(),
    };
    let digits = if spec.unit == Unit::Count { 1.0 } else { 1_000.0 };
    between.prop_map(move |number: f64| ((number * digits).round() / digits).clamp(spec.least, spec.most))
}

proptest! {
    #[test]
    fn a_link_restores_its_settings(
        rate in value(Field::Rate),
        duration in value(Field::Duration),
        baseline in value(Field::Baseline),
        stall in proptest::option::of((value(Field::StallAt), value(Field::StallFor))),
        timeout in proptest::option::of(value(Field::Timeout)),
        pause in proptest::option::of((value(Field::NthEvery), value(Field::NthPause))),
        cap in proptest::option::of(value(Field::Connections)),
    ) {
        let mut text = format!(
            "rate={rate}&spacing=poisson&duration={duration}&users=3&closed-end=requests&baseline={baseline}\
             &variation=exponential&drain=1"
        );
        if let Some((at, length)) = stall {
            text += &format!("&stall-at={at}&stall-for={length}&stall-gate=arrivals");
        }
        if let Some((every, pause)) = pause {
            text += &format!("&nth={every}&nth-pause={pause}");
        }
        text += &timeout.map(|timeout| format!("&timeout={timeout}")).unwrap_or_default();
        text += &cap.map(|cap| format!("&connections={cap}")).unwrap_or_default();
        let settings = Settings::parse(&text).unwrap();
        prop_assert_eq!(Settings::parse(&settings.to_query()).unwrap(), settings);
    }

    #[test]
    fn no_text_is_too_strange(text in "[a-z=&0-9.-]{0,80}") {
        let _ = Settings::parse(&text);
    }
}
