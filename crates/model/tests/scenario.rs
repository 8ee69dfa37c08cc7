//! Scenario files: what is read, what is refused and in which words, and that nothing is lost on the way out and back.

mod any;

use any::profile;
use proptest::prelude::*;
use truetail_model::arrival::{Horizon, Profile, RateProfile, Schedule, Spacing};
use truetail_model::scenario::{ScaleError, Scenario, builtin};
use truetail_model::service::{Fault, Gate, Select, Service, Variation};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

const S: u64 = 1_000_000_000;

fn parse(text: &str) -> Result<Scenario, String> {
    Scenario::parse(text, "x.toml").map_err(|error| error.to_string())
}

/// A scenario of one minute at 1000/s with these lines in its sections.
fn file(workload: &str, service: &str) -> String {
    format!("[workload]\nrate = 1000\nduration = \"60s\"\n{workload}\n[service]\nbaseline = \"10ms\"\n{service}\n")
}

/// The faults of a file with this one; `lines` are separated by `;`.
fn fault(lines: &str) -> Result<Fault, String> {
    let lines = lines.replace("; ", "\n");
    parse(&file("", &format!("[[service.fault]]\n{lines}"))).map(|scenario| scenario.service.faults[0].clone())
}

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
    let limits = Limits { connections: Some(64), timeout: None, drain: Nanos::from_secs(1) };
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
    let expected = LoadModel::Closed { users: 10, think_time: Nanos::from_millis(1), horizon };
    assert_eq!(parse(closed).unwrap().workload.model, expected);

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
    assert!(parse(text).unwrap_err().contains("trace 'calls.csv': a recording cannot be read from here"));
    assert!(
        Scenario::parse_with(&text.replace("calls", "other"), "x.toml", &read)
            .unwrap_err()
            .message
            .contains("no such file")
    );
}

#[test]
fn every_kind_of_fault_is_read() {
    let select = Select { every: Some(3), share: Some(0.5), at: Some(Timestamp(S)), length: Some(Nanos::from_secs(2)) };
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

/// Asserts that a text is refused on this line, in words that contain each of `says`.
#[track_caller]
fn refused(text: &str, line: usize, says: &[&str]) {
    let error = Scenario::parse(text, "x.toml").expect_err(text);
    assert_eq!(error.line, line, "{error}\n{text}");
    let message = error.to_string();
    assert!(message.starts_with(&format!("x.toml:{line}:")) && !message.contains('\n'), "{message}");
    for word in says {
        assert!(message.contains(word), "{message} does not say {word}");
    }
}

#[test]
fn unknown_keys_are_named_with_what_was_meant() {
    refused(&file("", "bodybytes = 3"), 7, &["unknown key 'bodybytes' in [service]; did you mean 'body-bytes'?"]);
    refused(&file("durations = '1s'", ""), 4, &["'durations' in [workload]", "'duration'"]);
    refused(&file("frobnicate = 1", ""), 4, &["unknown key 'frobnicate'", "there are model, rate,"]);
    refused(&format!("nam = 'x'\n{}", file("", "")), 1, &["unknown key 'nam'; did you mean 'name'?"]);
    let with_fault = "[[service.fault]]\nkind = 'stall'\nat = '1s'\nfor = '1s'\ntarget = '1s'";
    refused(&file("", with_fault), 11, &["'target' in [[service.fault]]", "there are kind, at, for, gate"]);
    // The first in the file is named, not the first in the alphabet.
    refused(&file("zzz = 1\naaa = 1", ""), 4, &["'zzz'"]);
}

#[test]
fn what_is_no_toml_is_refused_with_its_line() {
    refused("[workload]\nrate = \n", 2, &[]);
    refused("[workload]\nrate = 1\nrate = 2\n", 3, &["duplicate key"]);
    refused("a = 1\n\u{1}", 2, &[]);
}

#[test]
fn missing_sections_and_keys_say_what_would_help() {
    refused("", 1, &["missing key 'workload'", "rate = 1000"]);
    refused("[workload]\nrate = 1\nrequests = 1", 1, &["missing key 'service'", "baseline"]);
    refused("\n[workload]\nrate = 1\nduration = '1s'\n[service]\nconcurrency = 1", 5, &["'baseline'", "[service]"]);
    refused("[workload]\nduration = '1s'\n[service]", 1, &["missing key 'rate' in [workload]", "profile ="]);
    refused("[workload]\nrate = 1\n[service]", 1, &["[workload] has no end", "duration"]);
    refused("[workload]\nmodel = 'closed'\nduration = '1s'\n[service]", 1, &["'users'", "users = 10"]);
    refused("[workload]\nmodel = 'closed'\nusers = 1\n[service]", 1, &["has no end"]);
    refused(&file("", "[[service.fault]]"), 7, &["missing key 'kind' in [[service.fault]]", "stall"]);
    refused(&file("", "\n[[service.fault]]\nkind = 'stall'\nfor = '1s'"), 8, &["missing key 'at'"]);
}

#[test]
fn values_of_the_wrong_kind_are_shown() {
    refused(&file("drain = 5", ""), 4, &["'drain' in [workload]: 5 is not a duration", "unit"]);
    refused(&file("drain = '5'", ""), 4, &["'5' has no unit"]);
    refused(&file("drain = '-5s'", ""), 4, &["out of range"]);
    refused(&file("connections = '4'", ""), 4, &["'4' is not a whole number"]);
    refused(&file("connections = 4.5", ""), 4, &["4.5 is not a whole number"]);
    refused(&file("connections = 4294967296", ""), 4, &["4294967296 is not"]);
    refused(&file("seed = -1", ""), 4, &["-1 is not a whole number"]);
    refused(&file("model = 'opne'", ""), 4, &["\"opne\" is unknown; did you mean \"open\"?"]);
    refused(&file("spacing = 'random'", ""), 4, &["there are even, poisson"]);
    refused(&file("", "fault = 3"), 7, &["'fault' in [service]: 3 is not a list of tables"]);
    refused("workload = 1\nservice = 1", 1, &["'workload': 1 is not a table"]);
    refused(&format!("name = 'a/b'\n{}", file("", "")), 1, &["'name'", "letters"]);
    refused(&format!("path = 'api'\n{}", file("", "")), 1, &["'path'", "begins with '/'"]);
    refused(&file("", "").replace("1000", "'fast'"), 2, &["'rate' in [workload]: 'fast' is not a rate"]);
    refused(&file("", "").replace("1000", "0"), 2, &["'rate'", "above zero"]);
    refused(&file("", "").replace("1000", "nan"), 2, &["'rate'"]);
    refused(&file("", "").replace("rate = 1000", "profile = 'ramp:1..2'"), 2, &["'profile'", "no duration"]);
}

#[test]
fn contradictions_are_refused() {
    refused(&file("profile = 'ramp:1..2/1s'", ""), 4, &["'profile'", "given already, on line 2"]);
    refused(&file("users = 5", ""), 4, &["'users' in [workload]", "closed"]);
    refused(&file("think-time = '1s'", ""), 4, &["'think-time'", "closed"]);
    refused(&file("requests-per-session = 5", ""), 4, &["partly-open"]);
    refused(&file("model = 'closed'\nusers = 3", ""), 2, &["'rate' in [workload]", "no rate"]);
    refused("[workload]\nmodel = 'closed'\nusers = 3\nseed = 4\n[service]", 4, &["'seed'", "no schedule"]);
    refused(&file("model = 'partly-open'\nusers = 3", ""), 5, &["'users'"]);
    refused(&file("model = 'partly-open'\nrequests = 3", ""), 5, &["sessions = N"]);
    refused(&file("connections = 0", ""), 4, &["'connections'", "leave it out"]);
    refused(&file("requests = 0", ""), 4, &["'requests'", "from 1"]);
    refused(&file("timeout = '0s'", ""), 4, &["'timeout'", "none"]);
    refused(&file("warmup = '60s'", ""), 4, &["'warmup'", "nothing to measure"]);
    refused(&file("", "").replace("60s", "0s"), 3, &["'duration'", "zero"]);
    refused(&file("", "concurrency = 0"), 7, &["'concurrency'", "leave it out"]);
    refused("[workload]\nmodel = 'closed'\nusers = 0\n[service]", 3, &["'users'", "from 1"]);
}

#[test]
fn a_fault_that_cannot_happen_is_refused() {
    let case = |lines: &str, line: usize, says: &[&str]| {
        let text = format!("[[service.fault]]\n{}", lines.replace("; ", "\n"));
        refused(&file("", &text), 7 + line, says);
    };
    case("kind = 'stall'; at = '60s'; for = '1s'", 2, &["'at'", "60s is not before the end of the workload (1m)"]);
    case("kind = 'stall'; at = '59s'; for = '0s'", 3, &["'for'", "zero"]);
    case("kind = 'stall'; at = '1s'; for = '1s'; gate = 'exit'", 4, &["'gate'", "answers, arrivals"]);
    case("kind = 'recurring-stall'; first = '61s'; every = '2s'; for = '1s'", 2, &["'first'", "never happens"]);
    case("kind = 'recurring-stall'; first = '1s'; every = '2s'; for = '2s'", 4, &["'for'", "never lets an answer"]);
    case("kind = 'recurring-stall'; first = '1s'; every = '0s'; for = '2s'", 3, &["'every'", "zero"]);
    case("kind = 'recurring-stall'; first = '1s'; every = '2s'; for = '1s'; times = 0", 5, &["'times'"]);
    case("kind = 'recurring-stall'; first = '1s'; every = 5; for = '1s'", 3, &["'every'", "5 is not a duration"]);
    case("kind = 'ramp'; from = '60s'; to = '70s'; target = '1s'", 2, &["'from'"]);
    case("kind = 'ramp'; from = '5s'; to = '5s'; target = '1s'", 3, &["'to'", "takes no time"]);
    case("kind = 'every-nth'; every = 0; pause = '1s'", 2, &["'every'", "from 1"]);
    case("kind = 'every-nth'; every = 60001; pause = '1s'", 2, &["request 60001 never comes", "60000"]);
    case("kind = 'every-nth'; every = 5; pause = '0s'", 3, &["'pause'", "zero"]);
    case("kind = 'error-status'; status = 399", 2, &["'status'", "400 to 599"]);
    case("kind = 'error-status'; status = 600", 2, &["'status'"]);
    case("kind = 'error-status'; status = 500; immediately = 1", 3, &["true or false"]);
    case("kind = 'reset'; share = 0.0", 2, &["'share'", "above 0"]);
    case("kind = 'reset'; share = 1.5", 2, &["'share'", "1.5 is no share"]);
    case("kind = 'reset'; share = nan", 2, &["'share'"]);
    case("kind = 'reset'; every = 0", 2, &["'every'"]);
    case("kind = 'reset'; every = 70000", 2, &["never comes"]);
    case("kind = 'reset'; at = '2m'", 2, &["'at'", "never happens"]);
    case("kind = 'reset'; for = '0s'", 2, &["'for'", "zero"]);
    case("kind = 'slow-body'; over = '0s'", 2, &["'over'", "zero"]);
    case("kind = 'queue'", 1, &["\"queue\" is unknown"]);
    case("kind = 'stal'", 1, &["did you mean \"stall\"?"]);
    case("kind = 'reset'; [[service.fault]]; kind = 'garbage'", 2, &["this garbage fault never happens", "reset"]);
}

#[test]
fn the_limits_of_what_can_happen_are_allowed() {
    assert!(fault("kind = 'stall'; at = '59999ms'; for = '100h'").is_ok());
    assert!(fault("kind = 'stall'; at = '0s'; for = '1ns'").is_ok());
    assert!(fault("kind = 'every-nth'; every = 60000; pause = '1ns'").is_ok());
    assert!(fault("kind = 'reset'; share = 1").is_ok());
    assert!(fault("kind = 'reset'; every = 2; [[service.fault]]; kind = 'garbage'").is_ok());
    assert!(
        fault("kind = 'error-status'; status = 400; [[service.fault]]; kind = 'every-nth'; every = 2; pause = '1s'")
            .is_ok()
    );
}

#[test]
fn an_end_by_count_is_an_end_for_faults_too() {
    let text = |at: &str| {
        format!(
            "[workload]\nrate = 100\nrequests = 200\n[service]\nbaseline = '1ms'\n\
             [[service.fault]]\nkind = 'stall'\nat = '{at}'\nfor = '1s'"
        )
    };
    assert!(parse(&text("1990ms")).is_ok());
    refused(&text("2s"), 8, &["2s is not before the end of the workload (1990001us)"]);
}

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9._-]{1,12}"
}

fn nanos(low: u64, high: u64) -> impl Strategy<Value = Nanos> {
    (low..=high).prop_map(Nanos)
}

/// At least 1000 s, so that the faults below can happen.
fn horizon() -> impl Strategy<Value = Horizon> {
    (nanos(1000 * S, u64::MAX), proptest::option::of(1_000..=u64::MAX))
        .prop_map(|(duration, requests)| Horizon { duration: Some(duration), requests })
}

fn schedule() -> impl Strategy<Value = Schedule> {
    (profile(), prop_oneof![Just(Spacing::Even), Just(Spacing::Poisson)], any::<u64>(), horizon())
        .prop_map(|(profile, spacing, seed, horizon)| Schedule { profile, spacing, seed, horizon })
}

fn model() -> impl Strategy<Value = LoadModel> {
    prop_oneof![
        schedule().prop_map(LoadModel::Open),
        (1..=u32::MAX, nanos(0, u64::MAX), horizon()).prop_map(|(users, think_time, horizon)| LoadModel::Closed {
            users,
            think_time,
            horizon
        }),
        (schedule(), 1..=u32::MAX, nanos(0, S)).prop_map(|(sessions, requests_per_session, think_time)| {
            LoadModel::PartlyOpen { sessions, requests_per_session, think_time }
        }),
    ]
}

prop_compose! {
    fn workload()(
        model in model(),
        connections in proptest::option::of(1..=u32::MAX),
        timeout in proptest::option::of(nanos(1, u64::MAX)),
        drain in nanos(0, u64::MAX),
        warmup in nanos(0, 999 * S),
    ) -> Workload {
        Workload { model, limits: Limits { connections, timeout, drain }, warmup }
    }
}

prop_compose! {
    /// Narrowed at least by a share, so that no fault leaves none for the next.
    fn select()(
        share in 1e-9..=1.0,
        every in proptest::option::of(Just(1)),
        at in proptest::option::of((0..1000 * S).prop_map(Timestamp)),
        length in proptest::option::of(nanos(1, u64::MAX)),
    ) -> Select {
        Select { every, share: Some(share), at, length }
    }
}

fn gate() -> impl Strategy<Value = Gate> {
    prop_oneof![Just(Gate::Answers), Just(Gate::Arrivals)]
}

fn any_fault() -> impl Strategy<Value = Fault> {
    let instant = || (0..1000 * S).prop_map(Timestamp);
    prop_oneof![
        (instant(), nanos(1, u64::MAX), gate()).prop_map(|(at, length, gate)| Fault::Stall { at, length, gate }),
        (instant(), nanos(1, 1 << 62), nanos(1, 1 << 62), proptest::option::of(1..=u64::MAX), gate()).prop_map(
            |(first, length, more, times, gate)| Fault::RecurringStall {
                first,
                every: length + more,
                length,
                times,
                gate
            }
        ),
        (instant(), nanos(1, u64::MAX / 2), nanos(0, u64::MAX)).prop_map(|(from, over, target)| Fault::Ramp {
            from,
            to: from + over,
            target
        }),
        nanos(1, u64::MAX).prop_map(|pause| Fault::EveryNth { every: 1, pause }),
        (400..=599u16, any::<bool>(), select()).prop_map(|(status, immediately, select)| Fault::ErrorStatus {
            status,
            immediately,
            select
        }),
        select().prop_map(|select| Fault::Reset { select }),
        select().prop_map(|select| Fault::BlackHole { select }),
        (nanos(1, u64::MAX), select()).prop_map(|(over, select)| Fault::SlowBody { over, select }),
        select().prop_map(|select| Fault::ShortBody { select }),
        select().prop_map(|select| Fault::Garbage { select }),
    ]
}

prop_compose! {
    fn service()(
        baseline in nanos(1, u64::MAX),
        exponential in any::<bool>(),
        concurrency in proptest::option::of(1..=u32::MAX),
        body_bytes in any::<u32>(),
        seed in any::<u64>(),
        faults in proptest::collection::vec(any_fault(), 0..4),
    ) -> Service {
        let variation = if exponential { Variation::Exponential } else { Variation::Constant };
        Service { baseline, variation, concurrency, body_bytes, seed, faults }
    }
}

prop_compose! {
    fn scenario()(
        name in name(),
        about in ".*",
        path in "/[a-z/?&=]{0,9}",
        service in service(),
        workload in workload(),
    ) -> Scenario {
        Scenario { name, about, service, workload, path }
    }
}

proptest! {
    #[test]
    fn toml_and_json_read_back_as_they_were_written(scenario in scenario()) {
        let text = scenario.to_toml();
        let read = parse(&text);
        prop_assert_eq!(read.as_ref(), Ok(&scenario), "{}", text);
        let json = serde_json::to_string(&scenario).unwrap();
        let read: Result<Scenario, _> = serde_json::from_str(&json);
        prop_assert_eq!(read.ok(), Some(scenario), "{}", json);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in ".*", key in "[a-z-]{1,8}", value in "[0-9a-z'\\[\\]\"=.-]{0,12}") {
        let _ = parse(&text);
        let _ = parse(&file(&format!("{key} = {value}"), &format!("[[service.fault]]\n{key} = {value}\n{text}")));
    }

    /// What is scaled can still happen, for any scenario and any sensible duration.
    #[test]
    fn a_scaled_scenario_is_one_that_can_be_read(scenario in scenario(), to in S..1_000_000 * S) {
        let scaled = scenario.scaled_to(Nanos(to)).unwrap();
        prop_assert_eq!(scaled.workload.model.horizon().duration, Some(Nanos(to)));
        // A recording is cut, so that nothing may be left of it.
        if !matches!(&scaled.workload.model, LoadModel::Open(Schedule { profile: Profile::Trace(_), .. })
            | LoadModel::PartlyOpen { sessions: Schedule { profile: Profile::Trace(_), .. }, .. })
        {
            prop_assert_eq!(parse(&scaled.to_toml()), Ok(scaled));
        }
        let scaled_by_one = scenario.scaled_to(scenario.workload.model.horizon().duration.unwrap());
        prop_assert_eq!(scaled_by_one, Ok(scenario));
    }
}

#[test]
fn scaling_keeps_the_share_of_the_run() {
    let scaled = builtin::find("02").unwrap().scaled_to(Nanos::from_secs(6)).unwrap();
    assert_eq!(
        scaled.service.faults,
        [Fault::Stall { at: Timestamp(3 * S), length: Nanos::from_millis(100), gate: Gate::Answers }]
    );
    assert_eq!(scaled.service.baseline, Nanos::from_millis(10));
    assert_eq!(scaled.workload.limits.drain, Nanos::from_secs(30));

    let longer = builtin::find("05").unwrap().scaled_to(Nanos::from_secs(120)).unwrap();
    assert_eq!(longer.workload.limits.drain, Nanos::from_secs(180));
    assert_eq!(longer.service, builtin::find("05").unwrap().service);

    let ramp = builtin::find("03").unwrap().scaled_to(Nanos::from_secs(6)).unwrap();
    let target = Nanos::from_millis(100);
    assert_eq!(ramp.service.faults, [Fault::Ramp { from: Timestamp(2 * S), to: Timestamp(5 * S), target }]);
}

/// 59.999999999 s of a minute are a second of a second, rounded; the fault still begins before the end.
#[test]
fn scaling_rounds_nothing_out_of_the_run() {
    let text = file("warmup = '59999999999ns'", "[[service.fault]]\nkind = 'reset'\nat = '59999999999ns'");
    let scaled = parse(&text).unwrap().scaled_to(Nanos(S)).unwrap();
    assert_eq!(scaled.workload.warmup, Nanos(S - 1));
    assert_eq!(parse(&scaled.to_toml()), Ok(scaled));
}

#[test]
fn scaling_a_count_and_a_profile() {
    let text = "[workload]\nprofile = 'ramp:0..200/10s'\nrequests = 1000\nwarmup = '1s'\n[service]\nbaseline = '1ms'";
    let scaled = parse(text).unwrap().scaled_to(Nanos::from_secs(1)).unwrap();
    let LoadModel::Open(schedule) = &scaled.workload.model else { panic!("open") };
    assert_eq!(schedule.horizon, Horizon { duration: Some(Nanos(S)), requests: Some(100) });
    // L(t) = 10·t², so arrival 999 comes after √99.9 = 9.994998750 s, and that is what becomes 1 s.
    assert_eq!(schedule.profile.to_string(), "ramp:0..200/1000500375ns");
}

#[test]
fn what_cannot_be_scaled() {
    let healthy = builtin::find("01").unwrap();
    assert_eq!(healthy.scaled_to(Nanos::ZERO), Err(ScaleError::Zero));
    let closed = "[workload]\nmodel = 'closed'\nusers = 1\nrequests = 10\n[service]\nbaseline = '1ms'";
    assert_eq!(parse(closed).unwrap().scaled_to(Nanos(S)), Err(ScaleError::NoDuration));
}
