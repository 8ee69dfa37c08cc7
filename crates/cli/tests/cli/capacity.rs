//! `truetail capacity`, against the server of truetail.

use nix::sys::signal::Signal;
use serde_json::Value;

use super::support::{CommandOutput, ServeProcess, TestDir, TestProcess};

/// Five at a time, 10 ms each: at most 500/s.
const POOL: &str = "name = \"pool\"\nabout = \"five at a time\"\n\n[service]\nbaseline = \"10ms\"\nconcurrency = 5\n\n\
                    [workload]\nrate = \"100/s\"\nduration = \"10s\"\n";

fn pool(dir: &TestDir) -> ServeProcess {
    ServeProcess::start(dir, dir.file("pool.toml", POOL))
}

/// A search of seconds: half of the requests may be slow, and the ends may differ by a factor of two.
fn arguments<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let search = ["capacity", url, "--slo", "p50 < 40ms", "--resolution", "100%", "--max-time", "40s", "--json"];
    [&search[..], more].concat()
}

/// Checks the exit code against the state. On a noisy machine the answer may stay open.
fn assert_code(output: &CommandOutput) -> Value {
    let result = output.json();
    assert_eq!(result["schema"], "truetail.capacity/1");
    let code = match result["state"].as_str().expect("a state") {
        "found" => 0,
        "below_range" => 3,
        "above_range" | "generator_limit" | "out_of_time" => 4,
        other => panic!("{other}: {output:?}"),
    };
    assert_eq!(output.code, Some(code), "{output:?}");
    if let (Some(proven), Some(refuted)) = (result["proven_rate"].as_f64(), result["refuted_rate"].as_f64()) {
        assert!(proven < refuted, "{result}");
    }
    result
}

#[test]
fn a_search_ends_with_rates_and_a_run_for_each_probe() {
    let dir = TestDir::new();
    let served = pool(&dir);
    let output = dir.truetail(&arguments(&served.api(), &["--out", "search"]));
    let result = assert_code(&output);
    let probes = result["probes"].as_array().expect("probes");
    assert!(!probes.is_empty(), "{output:?}");
    for probe in probes {
        let run = dir.path().join(probe["run"].as_str().expect("a folder")).join("run.json");
        let run: Value = serde_json::from_str(&std::fs::read_to_string(run).expect("a run")).expect("JSON");
        let command = run["command"].as_str().expect("a command");
        assert!(
            command.contains(&format!(" --rate {} --duration ", probe["rate"].as_f64().expect("a rate"))),
            "{command}"
        );
        assert!(probe["rate"].as_f64().is_some_and(|rate| (1.0..=100_000.0).contains(&rate)), "{probe}");
        let bounds = ["low_ns", "value_ns", "high_ns"].map(|name| probe[name].as_f64());
        assert!(bounds.iter().flatten().is_sorted(), "{probe}");
    }
    // More than 500/s cannot be proven, because the service does not answer more.
    assert!(result["met_rate"].as_f64().is_none_or(|rate| rate < 800.0), "{result}");
    let foreign = dir.truetail(&arguments(&served.api(), &["--out", "."]));
    assert!(foreign.code == Some(1) && foreign.stderr.contains("holds something else than a search"), "{foreign:?}");
    if result["state"] == "found" {
        let again = dir.truetail(&arguments(&served.api(), &["--out", "search"]));
        assert_eq!(again.code, Some(1), "{again:?}");
        assert!(again.stderr.contains("holds a search that has its answer; choose another folder"), "{again:?}");
    }
}

#[test]
fn a_search_that_was_killed_goes_on() {
    let dir = TestDir::new();
    let served = pool(&dir);
    let url = served.api();
    let mut killed = TestProcess::start(dir.command(&arguments(&url, &[])));
    killed.wait_for_stderr("truetail: 100/s ");
    killed.wait_for_stderr("truetail: ");
    killed.signal(Signal::SIGKILL);
    assert_eq!(killed.end().code, None);
    let folders = dir.runs();
    assert_eq!(folders.len(), 1, "{folders:?}");
    let journal = std::fs::read_to_string(folders[0].join("probes.jsonl")).expect("a journal");
    let kept = journal.lines().count() - 1;
    let output = dir.truetail(&arguments(&url, &[]));
    assert!(output.stderr.contains("going on with the search in "), "{output:?}");
    let result = assert_code(&output);
    let probes = result["probes"].as_array().expect("probes");
    assert!(kept >= 1 && probes.len() >= kept, "{kept} {output:?}");
    for (line, probe) in journal.lines().skip(1).zip(probes) {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        assert_eq!((&line["trial"]["rate"], &line["requests"]), (&probe["rate"], &probe["requests"]));
    }
    let other = dir.truetail(&["capacity", &url, "--slo", "p50 < 1ms", "--out", &folders[0].display().to_string()]);
    assert_eq!(other.code, Some(1), "{other:?}");
}

#[test]
fn a_server_that_dies_leaves_what_was_found() {
    let dir = TestDir::new();
    let served = pool(&dir);
    let url = served.api();
    let mut search = TestProcess::start(dir.command(&arguments(&url, &[])));
    search.wait_for_stderr("truetail: 100/s ");
    drop(served);
    let output = search.end();
    assert_eq!(output.code, Some(1), "{output:?}");
    let line = output.stderr.lines().last().unwrap_or_default();
    assert!(line.contains("the search stopped: the server does not answer any more; met so far: "), "{line}");
    let result = output.json();
    assert_eq!((&result["state"], &result["stopped_by"]), (&"out_of_time".into(), &"service_gone".into()));
    assert!(!result["probes"].as_array().expect("probes").is_empty(), "{result}");
}

#[test]
fn one_search_at_a_time_in_a_folder() {
    let dir = TestDir::new();
    let served = pool(&dir);
    let url = served.api();
    let mut first = TestProcess::start(dir.command(&arguments(&url, &[])));
    first.wait_for_stderr("truetail: searching");
    let second = dir.truetail(&arguments(&url, &[]));
    first.signal(Signal::SIGKILL);
    first.end();
    assert_eq!((second.code, second.stderr.lines().count()), (Some(1), 1), "{second:?}");
    assert!(second.stderr.contains("another truetail is at the search in "), "{second:?}");
}

#[test]
fn the_time_of_a_search_leaves_the_timeout_of_its_requests() {
    let dir = TestDir::new();
    let served = pool(&dir);
    let text = format!("[capacity.api]\nurl = \"{}\"\nslo = \"p50 < 40ms\"\ntimeout = \"2s\"\n", served.api());
    dir.file("truetail.toml", &text);
    let output = dir.truetail(&["capacity", "api", "--max-time", "1s", "--out", "search", "--quiet", "--json"]);
    assert_code(&output);
    let journal = std::fs::read_to_string(dir.path().join("search/probes.jsonl")).expect("a journal");
    assert!(journal.lines().next().is_some_and(|question| question.contains("--timeout 2s")), "{journal}");
}

#[test]
fn a_time_too_short_for_a_probe_does_not_suggest_going_on() {
    let dir = TestDir::new();
    let served = pool(&dir);
    let url = served.api();
    let search = ["capacity", &url, "--slo", "p99 < 40ms", "--max-time", "20ms", "--out", "search", "--quiet"];
    let output = dir.truetail(&search);
    assert_eq!(output.code, Some(4), "{output:?}");
    assert!(output.stdout.contains("--max-time is too short for the next probe"), "{output:?}");
    let json = dir.truetail(&[&search[..], &["--json"]].concat()).json();
    assert_eq!((&json["stopped_by"], &json["probes"]), (&"time_too_short".into(), &serde_json::json!([])), "{json}");
}

#[test]
fn ctrl_c_gives_what_is_known_so_far() {
    let dir = TestDir::new();
    let served = pool(&dir);
    let mut search = TestProcess::start(dir.command(&arguments(&served.api(), &[])));
    search.wait_for_stderr("truetail: 100/s ");
    search.signal(Signal::SIGINT);
    let output = search.end();
    assert_eq!(output.code, Some(130), "{output:?}");
    let result = output.json();
    assert_eq!((&result["state"], &result["stopped_by"]), (&"out_of_time".into(), &"user".into()));
}

#[test]
fn what_makes_no_search_is_refused_in_one_line() {
    let dir = TestDir::new();
    let url = "http://127.0.0.1:1/";
    for (more, why) in [
        (&["--slo", "p99 > 50ms"][..], "write --slo 'p99 < 50ms', which must hold, or --fail-if 'p99 > 50ms'"),
        (&["--slo", "max < 50ms"], "p99.9"),
        (&["--slo", "p99 < 50ms", "--min-rate", "10", "--max-rate", "5"], "--min-rate 10/s is not below"),
        (&["--slo", "p99 < 50ms", "--resolution", "0.1%"], "from 0.5% to 100%"),
        (&["--slo", "p99 < 50ms", "--", "--duration", "3s"], "--duration has no meaning in the requests"),
        (&["--slo", "p99 < 50ms", "--", "--stripe", "1/2"], "--stripe has no meaning in the requests"),
        (&["--slo", "p99 < 50ms", "--", "--check", "status == 200"], "--check has no meaning in the requests"),
        (&["--slo", "p99 < 50ms", "--", "--junit", "a.xml"], "--junit has no meaning in the requests"),
        (&["--slo", "p99 < 50ms", "--", "--nonsense"], "--nonsense"),
    ] {
        let output = dir.truetail(&[&["capacity", url], more].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains(why), "{output:?}");
    }
    let output = dir.truetail(&["capacity", url, "--slo", "p99 < 50ms"]);
    assert_eq!(output.code, Some(1), "nobody listens there: {output:?}");
    assert!(dir.runs().is_empty(), "nothing was created");
}

/// A language model with room for four answers of ten tokens, a token every 10 ms: at most 40 answers a second. A free
/// place makes the first token come within two steps.
const MODEL: &str = "name = \"model\"\nabout = \"four at a time\"\npath = \"/v1/chat/completions\"\n\n[service]\nbaseline = \"1ms\"\n\n\
                     [service.stream]\nevents = 10\n\n[service.batch]\ncap = 4\nstep = \"10ms\"\n\n\
                     [workload]\nrate = \"10/s\"\nduration = \"10s\"\n";
const CHAT: &str = "{\"model\":\"m\",\"max_tokens\":10,\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";

#[test]
fn a_search_by_the_times_of_a_language_model_says_which_of_them_broke() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, dir.file("model.toml", MODEL));
    let url = format!("{}/v1/chat/completions", served.url());
    let search = ["capacity", &url, "--llm", "openai-chat", "--slo", "tpot p50 < 1s", "--slo", "ttft p50 < 100ms"];
    let limits = ["--slo", "goodput > 40%", "--resolution", "100%", "--max-time", "40s", "--min-rate", "5"];
    let rest = ["--json", "--out", "search", "--", "--data", CHAT];
    let output = dir.truetail(&[&search[..], &limits, &rest].concat());
    assert!(output.stderr.contains("goodput counts requests that meet tpot < 1s and ttft < 100ms"), "{output:?}");
    let result = assert_code(&output);
    // More than 40/s cannot be served, and the noise of a test adds capacity to none.
    assert!(result["met_rate"].as_f64().is_none_or(|rate| rate < 50.0), "{result}");
    let probes = result["probes"].as_array().expect("probes");
    assert!(!probes.is_empty(), "{output:?}");
    for probe in probes {
        let each = probe["objectives"].as_array().expect("objectives");
        let texts: Vec<&str> = each.iter().filter_map(|objective| objective["slo"].as_str()).collect();
        if probe["answer"] == "meets" {
            assert!(each.iter().all(|objective| objective["answer"] == "meets"), "{probe}");
        }
        assert!(texts.is_empty() || texts == ["tpot p50 < 1s", "ttft p50 < 100ms", "goodput > 40%"], "{probe}");
        let run = dir.path().join(probe["run"].as_str().expect("a folder")).join("run.json");
        let run: Value = serde_json::from_str(&std::fs::read_to_string(run).expect("a run")).expect("JSON");
        let stream = &run["stream"];
        assert_eq!(stream["llm"]["api"], "openai-chat", "{run}");
        assert_eq!(stream["goodput"]["slo"], serde_json::json!(["tpot < 1s", "ttft < 100ms"]), "{stream}");
        // Each run has its own books: the probes before it, and the cool-downs, are not in them.
        assert_eq!(stream["tally"]["planned"], run["tally"]["planned"], "{stream}");
        let gates: Vec<&str> =
            run["gates"].as_array().expect("gates").iter().filter_map(|gate| gate["text"].as_str()).collect();
        assert_eq!(gates, ["tpot p50 < 1s", "ttft p50 < 100ms", "goodput > 40%"]);
    }
    // Of an overloaded probe, the time per token of a model that admits four is as short as ever.
    for probe in probes.iter().filter(|probe| probe["answer"] == "misses") {
        let tpot = probe["objectives"].as_array().expect("objectives").first();
        assert!(tpot.is_none_or(|tpot| tpot["answer"] != "misses"), "{probe}");
    }
}

#[test]
fn objectives_of_streams_need_streams() {
    let dir = TestDir::new();
    for (arguments, why) in [
        (&["--slo", "ttft p99 < 1s"][..], "'ttft p99 < 1s' needs --llm"),
        (&["--slo", "event-gap p99 < 1s"], "'event-gap p99 < 1s' needs --stream sse"),
        (&["--llm", "openai-chat", "--slo", "ttft < 1s"], "--slo 'goodput > 98%'"),
        (&["--llm", "openai-chat", "--slo", "goodput > 98%"], "needs to know what each request must meet"),
        (&["--llm", "openai-chat", "--slo", "ttft p99 > 1s"], "write --slo 'ttft p99 < 1s'"),
    ] {
        let search = ["capacity", "http://127.0.0.1:9/v1/chat/completions"];
        let output = dir.truetail(&[&search[..], arguments, &["--", "--data", CHAT]].concat());
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(why), "{why}: {output:?}");
    }
    let run =
        ["run", "http://127.0.0.1:9/", "-r", "10", "--llm", "openai-chat", "--slo", "goodput > 9%", "--data", CHAT];
    let output = dir.truetail(&run);
    assert!(output.code == Some(2) && output.stderr.contains("'goodput > 9%' needs to know"), "{output:?}");
}
