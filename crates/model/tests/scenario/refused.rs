//! Refused scenarios: line and message of the error.

use truetail_model::scenario::Scenario;

use super::{fault, file, parse};

/// Asserts that a text is refused on this line, with a message that contains each of `says`.
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
    refused(&file("frobnicate = 1", ""), 4, &["unknown key 'frobnicate'", "use one of model, rate,"]);
    refused(&format!("nam = 'x'\n{}", file("", "")), 1, &["unknown key 'nam'; did you mean 'name'?"]);
    let with_fault = "[[service.fault]]\nkind = 'stall'\nat = '1s'\nfor = '1s'\ntarget = '1s'";
    refused(&file("", with_fault), 11, &["'target' in [[service.fault]]", "use one of kind, at, for, gate"]);
    // The message names the first key in the file, not the first in the alphabet.
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
    refused("[workload]\nmodel = 'closed'\nusers = '1..x/9s'\n[service]", 3, &["'users'", "'x' is not a number"]);
    let counted = "[workload]\nmodel = 'closed'\nusers = '1..9/9s'\nrequests = 5\n[service]";
    refused(counted, 4, &["'requests'", "dealt out to users"]);
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
    refused(&file("spacing = 'gamma:0'", ""), 4, &["\"gamma:0\" is unknown", "from 0.05 to 100"]);
    refused(&file("spacing = 'poison'", ""), 4, &["did you mean \"poisson\"?"]);
    refused(&file("spacing = 'random'", ""), 4, &["use even, poisson, or gamma:SHAPE"]);
    refused(&file("", "fault = 3"), 7, &["'fault' in [service]: 3 is not a list of tables"]);
    refused("workload = 1\nservice = 1", 1, &["'workload': 1 is not a table"]);
    refused(&format!("name = 'a/b'\n{}", file("", "")), 1, &["'name'", "letters"]);
    refused(&format!("path = 'api'\n{}", file("", "")), 1, &["'path'", "start with '/'"]);
    refused(&file("", "").replace("1000", "'fast'"), 2, &["'rate' in [workload]: 'fast' is not a rate"]);
    refused(&file("", "").replace("1000", "0"), 2, &["'rate'", "above zero"]);
    refused(&file("", "").replace("1000", "nan"), 2, &["'rate'"]);
    refused(&file("", "").replace("rate = 1000", "profile = 'ramp:1..2'"), 2, &["'profile'", "no duration"]);
}

#[test]
fn contradictions_are_refused() {
    refused(&file("profile = 'ramp:1..2/1s'", ""), 4, &["'profile'", "already set on line 2"]);
    refused(&file("users = 5", ""), 4, &["'users' in [workload]", "closed"]);
    refused(&file("channels = 0", ""), 4, &["'channels'", "from 1 to 1000000"]);
    refused(&file("channels = 5\nconnections = 5", ""), 5, &["'connections'", "messages share the channels"]);
    refused(&file("", "replies = 'as-ready'"), 7, &["'replies' in [service]", "add channels = 20"]);
    refused(&file("channels = 5", "replies = 'sorted'"), 7, &["\"sorted\" is unknown", "in-order, as-ready"]);
    refused(&file("channels = 5", "[service.stream]"), 7, &["'stream'", "a channel carries messages"]);
    refused(
        &file("channels = 5", "[[service.fault]]\nkind = 'reset'"),
        7,
        &["reset concerns the other messages", "black-hole"],
    );
    let slow = "replies = 'as-ready'\n[[service.fault]]\nkind = 'slow-body'\nover = '1s'";
    refused(&file("channels = 5", slow), 8, &["slow-body concerns the other messages"]);
    refused(&file("think-time = '1s'", ""), 4, &["'think-time'", "closed"]);
    refused(&file("requests-per-session = 5", ""), 4, &["partly-open"]);
    refused(&file("connection-per-session = true", ""), 4, &["partly-open"]);
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
    case("kind = 'stall'; at = '1s'; for = '1s'; gate = 'exit'", 4, &["'gate'", "answers, arrivals, events"]);
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
    case("kind = 'reset'; share = 1.5", 2, &["'share'", "1.5 is not a share"]);
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
fn a_stream_that_makes_no_sense_is_refused() {
    let case = |lines: &str, line: usize, says: &[&str]| refused(&file("", &lines.replace("; ", "\n")), 6 + line, says);
    case("[service.stream]; event = 3", 2, &["unknown key 'event' in [service.stream]; did you mean 'events'?"]);
    case("[service.stream]; events = 100001", 2, &["'events'", "from 0 to 100000"]);
    case("[service.stream]; events = 100000; bytes = 100000", 1, &["100000 events", "16 MiB"]);
    case("[service.stream]; tokens = 0", 2, &["'tokens'", "from 1"]);
    case("[service.stream]; burst = 0", 2, &["'burst'", "from 1"]);
    case("[service.stream]; gap = 5", 2, &["'gap' in [service.stream]: 5 is not a duration"]);
    case("[service.stream]; end = 'dome'", 2, &["'end'", "did you mean \"done\"?"]);
    case("[service.stream]; usage = 'none'", 2, &["'usage'", "right, missing, wrong"]);
    case("[service.stream]; seed = 3", 2, &["'seed'", "variation = \"exponential\""]);
    case("[service.stream]; stall-event = 3", 2, &["'stall-event'", "stall-for = \"600ms\""]);
    case("[service.stream]; stall-for = '1s'", 2, &["'stall-for'", "stall-event = 40"]);
    case("[service.stream]; stall-event = 3; stall-for = '0s'", 3, &["'stall-for'", "zero"]);
    case("stream = 3", 1, &["'stream' in [service]: 3 is not a table"]);
    case("concurrency = 3; [service.stream]", 1, &["'concurrency' in [service]", "[service.batch]"]);
    case("[service.batch]; step = '10ms'", 1, &["missing key 'cap' in [service.batch]; for example cap = 64"]);
    case("[service.batch]; cap = 4", 1, &["missing key 'step' in [service.batch]"]);
    case("[service.batch]; cap = 4; step = '0s'", 3, &["'step'", "zero"]);
    case("[service.batch]; cap = 0; step = '1s'", 2, &["'cap'", "from 1"]);
    case(
        "[service.batch]; cap = 1; step = '1s'; [service.stream]; gap = '1s'",
        5,
        &["'gap'", "[service.batch] sets the pace"],
    );
    case("[[service.fault]]; kind = 'stall'; at = '1s'; for = '1s'; gate = 'events'", 1, &["add [service.stream]"]);
    assert!(parse(&file("", "[service.batch]\ncap = 4\nstep = \"1ms\"\n[service.stream]\nevents = 3")).is_ok());
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

#[test]
fn a_path_that_never_comes_to_the_service_is_refused() {
    let with = |path: &str, service: &str| format!("path = '{path}'\n{}", file("", service));
    for path in ["/healthy", "/clock", "/healthy?x=1"] {
        refused(&with(path, ""), 1, &["'path': the server answers", path, "use another path"]);
    }
    for path in ["/health", "/metrics", "/v1/models", "/v1/models?limit=1", "/get_server_info"] {
        refused(&with(path, "[service.stream]"), 1, &["a server of streams answers", path]);
        assert_eq!(parse(&with(path, "")).map(|scenario| scenario.path), Ok(path.to_owned()));
    }
    assert!(parse(&with("/v1/models/a", "[service.stream]")).is_ok());
}

#[test]
fn routes_that_say_nothing_are_refused() {
    let route = |keys: &str| file("", &format!("[[service.route]]\n{keys}"));
    refused(&route("baseline = '1ms'"), 7, &["missing key 'path' in [[service.route]]", "/login"]);
    for path in ["login", "/a*b", "/a?b=c", "/a b", "*", ""] {
        refused(&route(&format!("path = '{path}'")), 8, &["'path' in [[service.route]]", "starts with '/'"]);
    }
    refused(&route("path = '/a'\nbase = '1ms'"), 9, &["unknown key 'base'", "baseline"]);
    let twice = "path = '/a*'\n[[service.route]]\npath = '/a/b'";
    refused(&route(twice), 10, &["\"/a/b\" never gets a request", "the route /a* before it"]);
    for path in ["/clock", "/healthy"] {
        let own = format!("path = \"{path}\"");
        refused(&route(&own), 8, &["never gets a request: the server answers it by itself"]);
    }
    let fault = "path = '/a'\n[[service.route.fault]]\nkind = 'stall'\nfor = '1s'";
    refused(&route(fault), 9, &["missing key 'at' in [[service.route.fault]]"]);
    let arrivals = "path = '/a'\n[[service.route.fault]]\nkind = 'stall'\nat = '0s'\nfor = '1s'\ngate = 'arrivals'";
    refused(&file("", &format!("concurrency = 1\n[[service.route]]\n{arrivals}")), 10, &["cannot hold arrivals"]);
    let events = "path = '/a'\n[[service.route.fault]]\nkind = 'stall'\nat = '0s'\nfor = '1s'\ngate = 'events'";
    refused(&route(events), 7, &["answers are streams"]);
    refused(&format!("{}\n[service.stream]", route("path = '/a'")), 7, &["has no routes"]);
    let never = "kind = 'recurring-stall'\nfirst = '0s'\nevery = '2s'\nfor = '1s'";
    let other = never.replace("first = '0s'", "first = '1s'").replace("for = '1s'", "for = '1999ms'");
    let both = format!("path = '/a'\n[[service.route.fault]]\n{never}\n[[service.route.fault]]\n{other}");
    refused(&route(&both), 7, &["leave no gap"]);
}
