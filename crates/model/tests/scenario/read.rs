//! Values read from scenarios, and defaults of missing keys.

use truetail_model::arrival::{Horizon, RateProfile, Schedule, Spacing};
use truetail_model::scenario::Scenario;
use truetail_model::service::{Fault, Gate, Selector, Service};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel};

use super::{S, fault, file, parse};

#[test]
fn the_shortest_file_has_the_stated_defaults() {
    let scenario = Scenario::parse(&file("", ""), "lab/my-case.toml").unwrap();
    assert_eq!((scenario.name.as_str(), scenario.about.as_str(), scenario.path.as_str()), ("my-case", "", "/api"));
    assert_eq!(scenario.service, Service::healthy(Nanos::from_millis(10)));
    assert_eq!(scenario.workload.limits, Limits::default());
    assert_eq!(scenario.workload.warmup, Nanos::ZERO);
    let expected = Schedule {
        profile: "1000".parse().unwrap(),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: Some(Nanos::from_secs(60)), requests: None },
    };
    assert_eq!(scenario.workload.model, LoadModel::Open(expected));
}

#[test]
fn a_file_without_a_name_is_called_after_itself_or_its_folder() {
    for (file_name, name) in [
        ("a/b/one.toml", "one"),
        ("a/b/scenario.toml", "b"),
        ("scenario.toml", "scenario"),
        ("my file.toml", "my-file"),
        ("", "scenario"),
    ] {
        assert_eq!(Scenario::parse(&file("", ""), file_name).unwrap().name, name, "{file_name}");
    }
}

#[test]
fn every_key_of_the_workload_is_read() {
    let text = "
        [workload]
        model = 'open'
        profile = 'ramp:100..2000/60s'
        spacing = 'poisson'
        seed = 18446744073709551615
        duration = '2m'
        requests = 1_000
        connections = 64
        timeout = 'none'
        drain = '1s'
        warmup = '5s'
        [service]
        baseline = '0s'";
    let workload = parse(text).unwrap().workload;
    let limits = Limits { connections: Some(64), timeout: None, drain: Nanos::from_secs(1), ..Limits::default() };
    assert_eq!((workload.limits, workload.warmup), (limits, Nanos::from_secs(5)));
    let expected = Schedule {
        profile: "ramp:100..2000/60s".parse().unwrap(),
        spacing: Spacing::Poisson,
        seed: u64::MAX,
        horizon: Horizon { duration: Some(Nanos::from_secs(120)), requests: Some(1000) },
    };
    assert_eq!(workload.model, LoadModel::Open(expected));
}

#[test]
fn rates_may_be_numbers_or_texts() {
    for (text, per_second) in [("1000", 1000.0), ("2.5", 2.5), ("'60/m'", 1.0), ("'1000/s'", 1000.0), ("1e3", 1000.0)] {
        let file = format!("[workload]\nrate = {text}\nrequests = 5\n[service]\nbaseline = '1ms'");
        let LoadModel::Open(schedule) = parse(&file).unwrap().workload.model else { panic!("open") };
        assert_eq!(schedule.profile.peak_per_second(), per_second, "{text}");
    }
}

#[test]
fn closed_and_partly_open_models_are_read() {
    let closed =
        "[workload]\nmodel = 'closed'\nusers = 10\nthink-time = '1ms'\nrequests = 100\n[service]\nbaseline = '1ms'";
    let horizon = Horizon { duration: None, requests: Some(100) };
    let expected = LoadModel::Closed { users: 10.into(), think_time: Nanos::from_millis(1), horizon };
    assert_eq!(parse(closed).unwrap().workload.model, expected);

    // Stages of users have a length, as a profile has one.
    let changing = "[workload]\nmodel = 'closed'\nusers = '0..8/4s,8/2s'\n[service]\nbaseline = '1ms'";
    let changing = parse(changing).unwrap();
    let users = |scenario: &Scenario| scenario.workload.model.users().unwrap().to_string();
    let length = |scenario: &Scenario| scenario.workload.model.horizon().duration;
    assert_eq!((users(&changing).as_str(), length(&changing)), ("0..8/4s,8/2s", Some(Nanos(6 * S))));
    let scaled = changing.scaled_to(Nanos(3 * S)).unwrap();
    assert_eq!((users(&scaled).as_str(), length(&scaled)), ("0..8/2s,8/1s", Some(Nanos(3 * S))));

    let partly = "[workload]\nmodel = 'partly-open'\nrate = 10\nsessions = 7\nrequests-per-session = 5\n\
                  [service]\nbaseline = '1ms'";
    let LoadModel::PartlyOpen { sessions, requests_per_session, think_time } = parse(partly).unwrap().workload.model
    else {
        panic!("partly open")
    };
    assert_eq!((sessions.horizon.requests, requests_per_session, think_time), (Some(7), 5, Nanos::ZERO));
}

#[test]
fn a_profile_without_a_duration_lasts_as_long_as_it_says_something() {
    let text = "[workload]\nprofile = 'steps:100/10s,500/5s'\n[service]\nbaseline = '1ms'";
    assert_eq!(parse(text).unwrap().workload.model.horizon().duration, Some(Nanos::from_secs(15)));
}

#[test]
fn a_recording_is_resolved_by_the_caller() {
    let text = "[workload]\nprofile = 'trace:calls.csv'\n[service]\nbaseline = '1ms'";
    let read = |name: &str| if name == "calls.csv" { Ok("0\n0.5\n2ms\n".into()) } else { Err("no such file".into()) };
    let error = Scenario::parse_with(text, "x.toml", &read).unwrap_err().to_string();
    assert_eq!(
        error,
        "x.toml:2:1: 'profile' in [workload]: calls.csv: trace, line 3: earlier than the arrival before it"
    );
    let good = |_: &str| Ok("0\n0.5\n0.7\n".to_owned());
    let scenario = Scenario::parse_with(text, "x.toml", &good).unwrap();
    assert_eq!(scenario.workload.model.horizon().duration, Some(Nanos(700_000_001)));
    assert!(parse(text).unwrap_err().contains("trace 'calls.csv': trace files cannot be read here"));
    assert!(
        Scenario::parse_with(&text.replace("calls", "other"), "x.toml", &read)
            .unwrap_err()
            .message
            .contains("no such file")
    );
}

#[test]
fn every_kind_of_fault_is_read() {
    let select =
        Selector { every: Some(3), share: Some(0.5), at: Some(Timestamp(S)), length: Some(Nanos::from_secs(2)) };
    let selected = "share = 0.5; every = 3; at = '1s'; for = '2s'";
    let of = |kind: &str| fault(&format!("kind = {kind}; {selected}")).unwrap();
    assert_eq!(of("'reset'"), Fault::Reset { select });
    assert_eq!(of("'black-hole'"), Fault::BlackHole { select });
    assert_eq!(of("'short-body'"), Fault::ShortBody { select });
    assert_eq!(of("'garbage'"), Fault::Garbage { select });
    assert_eq!(of("'slow-body'; over = '2s'"), Fault::SlowBody { over: Nanos::from_secs(2), select });
    assert_eq!(
        of("'error-status'; status = 503; immediately = true"),
        Fault::ErrorStatus { status: 503, immediately: true, select }
    );
    assert_eq!(
        fault("kind = 'stall'; at = '30s'; for = '1s'; gate = 'arrivals'").unwrap(),
        Fault::Stall { at: Timestamp(30 * S), length: Nanos(S), gate: Gate::Arrivals }
    );
    assert_eq!(
        fault("kind = 'recurring-stall'; first = '5s'; every = '10s'; for = '200ms'; times = 6").unwrap(),
        Fault::RecurringStall {
            first: Timestamp(5 * S),
            every: Nanos(10 * S),
            length: Nanos::from_millis(200),
            times: Some(6),
            gate: Gate::Answers,
        }
    );
    assert_eq!(
        fault("kind = 'ramp'; from = '20s'; to = '50s'; target = '100ms'").unwrap(),
        Fault::Ramp { from: Timestamp(20 * S), to: Timestamp(50 * S), target: Nanos::from_millis(100) }
    );
    assert_eq!(
        fault("kind = 'every-nth'; every = 500; pause = '200ms'").unwrap(),
        Fault::EveryNth { every: 500, pause: Nanos::from_millis(200) }
    );
}
