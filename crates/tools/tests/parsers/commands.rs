//! Command lines of the tools.

use std::path::{Path, PathBuf};

use truetail_model::time::{Nanos, Rate};
use truetail_tools::{InstalledTool, Invocation, LoadSpec, by_name};

use crate::support::load;

pub(crate) fn command(tool: &str, load: &LoadSpec) -> Result<Invocation, String> {
    let found = InstalledTool { path: PathBuf::from(tool), version: "unknown".to_owned() };
    let tool = by_name(tool).unwrap_or_else(|| panic!("no tool {tool}"));
    tool.command(&found, load, Path::new(".")).map_err(|error| error.to_string())
}

/// Returns a load of 1,000 requests a second, 10 users or 99 connections, for 2.5 s with a timeout of 1.5 s.
pub(crate) fn busy() -> LoadSpec {
    LoadSpec {
        rate: Rate::per_second(1000.0).expect("a rate"),
        duration: Nanos::from_millis(2_500),
        users: 10,
        connections: 99,
        timeout: Some(Nanos::from_millis(1_500)),
        answer_tokens: None,
        ..load()
    }
}

#[test]
fn each_tool_takes_its_part_of_the_load() {
    for (tool, line) in [
        ("ab", "-q -k -r -t 3 -n 10000000 -c 10 -g samples.tsv -e percentiles.csv -s 2"),
        ("hey", "-z 2500ms -c 10 -o csv -t 2"),
        ("wrk", "-t2 -c10 -d3s --latency --timeout 2s"),
        ("wrk2", "-t1 -c99 -d3s -R1000 --latency --timeout 2s"),
        ("h2load", "--h1 -t1 -c10 -D2500ms --log-file=samples.tsv -N 1500ms"),
        ("oha", "--no-tui -w -z 2500ms -q 1000 -c 99 --latency-correction --output-format csv -t 1500ms"),
        ("autocannon", "-j -c 10 -d 3 -t 2"),
        (
            "fortio",
            "load -quiet -uniform -qps 1000 -c 50 -n 2500 -timeout 1500ms -json result.json -access-log-file access.jsonl",
        ),
    ] {
        let invocation = command(tool, &busy()).expect("a command line");
        assert_eq!(invocation.program, Path::new(tool));
        assert_eq!(invocation.args.join(" "), format!("{line} http://127.0.0.1:8080/api"));
    }
}

#[test]
fn without_a_timeout_each_tool_keeps_its_own() {
    for tool in ["ab", "hey", "wrk", "wrk2", "h2load", "oha", "autocannon", "fortio"] {
        let with = command(tool, &busy()).expect("a command line").args.len();
        let without = command(tool, &LoadSpec { timeout: None, ..busy() }).expect("a command line").args.len();
        assert!(without < with, "{tool}");
    }
}

fn calls() -> LoadSpec {
    LoadSpec { url: "grpc://127.0.0.1:8080/truetail.Echo/Call".to_owned(), ..busy() }
}

#[test]
fn ghz_calls_the_method_of_the_url_at_a_rate_with_and_without_waiting() {
    let load = calls();
    for (tool, workers) in [("ghz", "-c 50"), ("ghz-async", "--async")] {
        let invocation = command(tool, &load).expect("a command line");
        let line = format!(
            "--insecure --proto echo.proto --call truetail.Echo/Call -d {{}} --rps 1000 {workers} -n 2500 -O json \
             -o result.json -t 1500ms 127.0.0.1:8080"
        );
        assert_eq!(invocation.args.join(" "), line);
        assert!(input(&invocation, "echo.proto").contains("service Echo"));
        let half = LoadSpec { rate: Rate::per_second(0.5).expect("a rate"), ..load.clone() };
        let error = command(tool, &half).expect_err("half a call");
        assert_eq!(
            error,
            format!("{tool} cannot offer this: its --rps takes a whole number of calls per second, not 0.5")
        );
    }
}

/// fortio knows only the method of its own service, and no timeout of a call.
#[test]
fn fortio_pings_the_address() {
    let line = "load -quiet -uniform -qps 1000 -c 50 -n 2500 -grpc -ping -json result.json -access-log-file access.jsonl \
                127.0.0.1:8080";
    assert_eq!(command("fortio", &calls()).expect("a command line").args.join(" "), line);
}

#[test]
fn k6_calls_the_method_of_the_url_with_either_executor() {
    for (tool, executor) in
        [("k6-constant-vus", "\"vus\": 10"), ("k6-constant-arrival-rate", "\"preAllocatedVUs\": 1500")]
    {
        let invocation = command(tool, &calls()).expect("a command line");
        let script = input(&invocation, "load.js");
        for piece in [
            executor,
            "\"address\": \"127.0.0.1:8080\"",
            "\"method\": \"truetail.Echo/Call\"",
            "\"timeout\": \"1500ms\"",
            "client.invoke(",
        ] {
            assert!(script.contains(piece), "{tool}: no {piece} in {script}");
        }
        assert!(!script.contains("k6/http"), "{script}");
        assert!(input(&invocation, "echo.proto").contains("service Echo"));
        let requests = command(tool, &busy()).expect("a command line");
        assert!(!input(&requests, "load.js").contains("grpc") && requests.inputs.len() == 1, "{requests:?}");
    }
}

#[test]
fn truetail_gets_the_schema_of_a_method() {
    let load = calls();
    for tool in ["truetail", "truetail-closed"] {
        let invocation = command(tool, &load).expect("a command line");
        assert!(
            invocation.args.join(" ").contains("/truetail.Echo/Call --proto echo.proto -d 2500ms"),
            "{invocation:?}"
        );
        assert!(input(&invocation, "echo.proto").contains("rpc Call"));
        assert!(command(tool, &busy()).expect("a command line").inputs.is_empty());
    }
}

#[test]
fn wrk2_takes_whole_rates_only() {
    let load = LoadSpec { rate: Rate::per_second(12.5).expect("a rate"), ..busy() };
    let error = command("wrk2", &load).expect_err("half a request");
    assert_eq!(error, "wrk2 cannot offer this: its -R takes a whole number of requests per second, not 12.5");
}

/// Returns an input file of a tool.
fn input(invocation: &Invocation, name: &str) -> String {
    let found = invocation.inputs.iter().find(|(path, _)| path == name);
    found.unwrap_or_else(|| panic!("no {name} in {:?}", invocation.inputs)).1.clone()
}

#[test]
fn vegeta_takes_its_target_from_standard_input_and_is_decoded_by_itself() {
    let invocation = command("vegeta", &busy()).expect("a command line");
    let line = "attack -rate=1000/1s -duration=2500ms -max-workers=99 -max-body=0 -redirects=-1 -output=results.bin \
                -timeout=1500ms";
    assert_eq!(
        (invocation.args.join(" ").as_str(), invocation.stdin.as_str()),
        (line, "GET http://127.0.0.1:8080/api\n")
    );
    let after: Vec<_> = invocation.after.iter().map(|(file, words)| format!("{} > {file}", words.join(" "))).collect();
    let decoders =
        ["vegeta encode -to=csv results.bin > results.csv", "vegeta report -type=json results.bin > report.json"];
    assert_eq!(after, decoders);
}

/// Parts of an input file of a tool, and the part that is missing without a timeout.
const INPUTS: [(&str, &str, &[&str], &str); 6] = [
    ("k6-constant-vus", "load.js", &["\"constant-vus\"", "\"vus\": 10", "\"2500ms\""], "{\"timeout\":\"1500ms\"}"),
    (
        "k6-constant-arrival-rate",
        "load.js",
        &["\"constant-arrival-rate\"", "\"rate\": 1000", "\"1s\"", "\"preAllocatedVUs\": 1500", "\"maxVUs\": 5000"],
        "{\"timeout\":\"1500ms\"}",
    ),
    ("jmeter-thread-group", "plan.jmx", &["num_threads\">10<", "duration\">3<"], "_timeout\">1500<"),
    (
        "jmeter-precise-throughput",
        "plan.jmx",
        &["num_threads\">99<", "PreciseThroughputTimer", "<value>1000</value>"],
        "_timeout\">1500<",
    ),
    ("locust", "locustfile.py", &["class User(FastHttpUser)", "constant(0)"], "network_timeout = 1.5"),
    (
        "hyperfoil",
        "benchmark.hf.yaml",
        &["usersPerSec: 1000", "variance: false", "duration: 2500ms", "sharedConnections: 99", "maxSessions: 99"],
        "timeout: 1500ms",
    ),
];

#[test]
fn plans_and_scripts_have_the_load() {
    for (tool, file, pieces, timeout) in INPUTS {
        let text = input(&command(tool, &busy()).expect("a command line"), file);
        assert!(text.contains("/api"), "{tool}: no path in {text}");
        for piece in pieces.iter().chain([&timeout]) {
            assert!(text.contains(piece), "{tool}: no {piece} in {text}");
        }
        let text = input(&command(tool, &LoadSpec { timeout: None, ..busy() }).expect("a command line"), file);
        assert!(!text.contains(timeout), "{tool}: {timeout} in {text}");
    }
}

/// The tools of language models get the rate, the length of answers and the prompts in their own formats.
#[test]
fn tools_of_models_ask_for_streams_at_a_constant_rate() {
    let load = LoadSpec {
        url: "http://127.0.0.1:8080/v1/completions".to_owned(),
        rate: Rate::per_second(20.0).expect("a rate"),
        answer_tokens: Some(50),
        ..busy()
    };
    let mut lines = Vec::new();
    for tool in ["truetail-llm", "guidellm", "aiperf", "inference-perf", "vllm", "sglang", "k6-llm", "locust-llm"] {
        let Invocation { args, inputs, .. } = command(tool, &load).expect("a command line");
        lines.push(args.into_iter().chain(inputs.into_iter().map(|(_, text)| text)).collect::<Vec<_>>().join(" "));
    }
    for (line, pieces) in lines.iter().zip([
        &["-r 20 -c 99", "--llm openai-completions", "\"max_tokens\":50"][..],
        &["target=http://127.0.0.1:8080,", "kind=constant,rate=20", "seconds=2.5", "\"output_tokens_count\":50"],
        &["--request-rate 20 --arrival-pattern constant --benchmark-duration 2.5", "--streaming", "max_tokens:50"],
        &["\"type\": \"constant\"", "\"rate\": 20", "\"duration\": 3", "\"mean\": 50", "\"streaming\": true"],
        &[
            "bench serve",
            "--request-rate 20 --burstiness inf",
            "--num-prompts 50",
            "--custom-output-len 50",
            "\"prompt\"",
        ],
        &["--request-rate 20 --warmup-requests 0", "--num-prompts 50", "--sharegpt-output-len 50", "\"conversations\""],
        &["constant-arrival-rate", "\"rate\": 20", "http.post(", "max_tokens\\\":50", "\"timeout\":\"1500ms\""],
        &["-u 40 -r 40 -t 3s", "constant_throughput(0.5)", "stream=True", "timeout=1.5"],
    ]) {
        for piece in pieces {
            assert!(line.contains(piece), "no {piece} in {line}");
        }
    }
    let limited = command("vllm-max-concurrency", &load).expect("a command line").args.join(" ");
    assert!(limited.ends_with("--max-concurrency 40"), "{limited}");
    assert_eq!(lines[1].matches("\"prompt\"").count(), 150, "50 are due, and some more");
}

#[test]
fn gatling_takes_the_load_as_properties() {
    let line = command("gatling", &busy()).expect("a command line").args.join(" ");
    for piece in ["-Drate=1000", "-Dduration_ms=2500", "-Durl=http://127.0.0.1:8080/api", "requestTimeout=1500"] {
        assert!(line.contains(piece), "no {piece} in {line}");
    }
}

#[test]
fn an_address_cannot_break_out_of_a_plan_or_a_script() {
    let load = LoadSpec { url: "http://127.0.0.1:8080/a?b=\"'<&>\\".to_owned(), ..busy() };
    for (tool, file, quoted) in [
        ("jmeter-thread-group", "plan.jmx", "/a?b=\"'&lt;&amp;&gt;\\<"),
        ("k6-constant-vus", "load.js", r#"/a?b=\"'<&>\\""#),
        ("locust", "locustfile.py", r#"/a?b=\"'<&>\\""#),
        ("hyperfoil", "benchmark.hf.yaml", r#"/a?b=\"'<&>\\""#),
    ] {
        let text = input(&command(tool, &load).expect("a command line"), file);
        assert!(text.contains(quoted), "{tool}: no {quoted} in {text}");
    }
}

#[test]
fn some_tools_need_a_whole_rate_per_second_minute_or_hour() {
    let load = LoadSpec { rate: Rate::per_second(1.0 / 7.0).expect("a rate"), ..busy() };
    for tool in ["vegeta", "k6-constant-arrival-rate"] {
        let error = command(tool, &load).expect_err("a seventh of a request");
        assert!(
            error.starts_with(&format!("{tool} cannot offer this: it takes a whole number of requests per second")),
            "{error}"
        );
    }
}
