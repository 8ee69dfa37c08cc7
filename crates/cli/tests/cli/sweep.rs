//! `truetail capacity --sweep`, against the server of truetail.

use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::signal::Signal;
use serde_json::Value;

use super::raw_server::serve_each;
use super::support::{CommandOutput, ServeProcess, TestDir, TestProcess};

/// Five at a time, 10 ms each: at most 500/s.
const POOL: &str = "name = \"pool\"\nabout = \"five at a time\"\n\n[service]\nbaseline = \"10ms\"\nconcurrency = 5\n\n\
                    [workload]\nrate = \"100/s\"\nduration = \"10s\"\n";
/// Four answers of ten tokens at a time, a token every 10 ms: at most 40 answers and 400 tokens a second.
const MODEL: &str = "name = \"model\"\nabout = \"four at a time\"\npath = \"/v1/chat/completions\"\n\n[service]\nbaseline = \"1ms\"\n\n\
                     [service.stream]\nevents = 10\n\n[service.batch]\ncap = 4\nstep = \"10ms\"\n\n\
                     [workload]\nrate = \"10/s\"\nduration = \"10s\"\n";
const CHAT: &str = "{\"model\":\"m\",\"max_tokens\":10,\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";

fn pool(dir: &TestDir) -> ServeProcess {
    ServeProcess::start(dir, dir.file("pool.toml", POOL))
}

fn number(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("{name} of {of}"))
}

/// Returns the sweep of an output, and checks what holds on any machine. Only a disturbed generator leaves it open.
fn sweep_of(output: &CommandOutput) -> Value {
    let sweep = output.json();
    assert_eq!(sweep["schema"], "truetail.sweep/1");
    let steps = sweep["steps"].as_array().expect("steps");
    let planned = sweep["planned_rates"].as_array().expect("rates");
    let rates: Vec<&Value> = steps.iter().map(|step| &step["rate"]).collect();
    assert_eq!(rates, planned.iter().take(rates.len()).collect::<Vec<_>>());
    assert_eq!(rates.len() < planned.len(), !sweep["ended_by"].is_null(), "{sweep}");
    let is_measured = |step: &Value| !["generator_limit", "invalid"].map(Value::from).contains(&step["state"]);
    assert_eq!(output.code, Some(if steps.iter().any(is_measured) { 0 } else { 4 }), "{output:?}");
    sweep
}

#[test]
fn a_sweep_has_a_step_and_a_run_for_each_rate() {
    let dir = TestDir::new();
    let served = pool(&dir);
    let sweep = ["capacity", &served.api(), "--sweep", "50,100,1000", "--step", "2s", "--past-saturation"];
    let output = dir.truetail(&[&sweep[..], &["--slo", "p50 < 40ms", "--json", "--out", "swept"]].concat());
    let sweep = sweep_of(&output);
    let steps = sweep["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 3, "{sweep}");
    for step in steps {
        let run = dir.path().join(step["run"].as_str().expect("a folder")).join("run.json");
        let run: Value = serde_json::from_str(&std::fs::read_to_string(run).expect("a run")).expect("JSON");
        assert_eq!(run["tally"]["planned"], step["requests"]);
        assert_eq!(run["gates"][0]["text"], "p50 < 40ms");
        assert!(run["command"].as_str().is_some_and(|command| command.contains(" --duration 2s")), "{run}");
        assert_eq!(step["objectives"][0]["slo"], "p50 < 40ms");
        assert!(step["output_tokens_per_second"].is_null(), "no model answers");
        for time in step["times"].as_array().expect("times") {
            assert_eq!(time["name"], "response-time");
            for quantile in time["quantiles"].as_array().expect("quantiles") {
                let ends = ["low_ns", "value_ns", "high_ns"].map(|name| quantile[name].as_f64());
                assert!(ends.iter().flatten().is_sorted(), "{quantile}");
            }
        }
    }
    // Five places of 10 ms cannot answer more. The last answers of the step lie within it.
    assert!(number(&steps[2], "answered_per_second") < 550.0, "{sweep}");
    let saved = |name: &str| std::fs::read_to_string(dir.path().join("swept").join(name)).expect(name);
    assert_eq!(serde_json::from_str::<Value>(&saved("sweep.json")).expect("JSON"), sweep);
    assert!(saved("sweep.svg").contains("answers per second"));
    let page = saved("sweep.html");
    assert!(page.contains("step-001-50/report.html") && page.contains("50,100,1000"), "the runs and the command");
    let again = dir.truetail(&["capacity", &served.api(), "--sweep", "50,100", "--out", "swept"]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("swept holds a sweep that has its answer; choose another folder"), "{again:?}");
}

#[test]
fn the_sweep_of_a_model_counts_tokens_and_goodput_and_is_drawn_beside_another() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, dir.file("model.toml", MODEL));
    let url = format!("{}/v1/chat/completions", served.url());
    let sweep = |more: &[&str]| {
        let own = ["capacity", &url, "--llm", "openai-chat", "--sweep", "10,20", "--step", "2s", "--slo", "ttft < 5s"];
        dir.truetail(&[&own[..], more, &["--past-saturation", "--", "--data", CHAT]].concat())
    };
    let first = sweep(&["--json", "--out", "first"]);
    assert!(first.stderr.contains("goodput counts requests that meet ttft < 5s"), "{first:?}");
    let first = sweep_of(&first);
    assert_eq!((&first["slo"], &first["goodput_slo"]), (&serde_json::json!([]), &serde_json::json!(["ttft < 5s"])));
    for step in first["steps"].as_array().expect("steps") {
        let names: Vec<&str> =
            step["times"].as_array().expect("times").iter().filter_map(|time| time["name"].as_str()).collect();
        assert!(names.is_empty() || names == ["ttft", "itl", "tpot", "response-time"], "{step}");
        if step["errors"] == 0 {
            let ratio = number(step, "output_tokens_per_second") / number(step, "answered_per_second");
            assert!((ratio - 10.0).abs() < 1e-6, "ten tokens an answer: {step}");
            let goodput = &step["goodput"];
            assert!(number(goodput, "share") <= number(goodput, "share_at_most"), "{step}");
        }
    }
    let second = sweep(&["--beside", "first", "--out", "second"]);
    assert!(second.stdout.contains("A: second") && second.stdout.contains("B: first"), "{second:?}");
    assert!(second.stdout.contains("against output tokens per second (small letters: saturated)"), "{second:?}");
    let picture = std::fs::read_to_string(dir.path().join("second/sweep.svg")).expect("a picture");
    assert!(picture.contains("Time to the first token") && picture.contains(" first</text>"), "{picture}");
}

#[test]
fn a_sweep_that_is_stopped_keeps_its_steps() {
    let dir = TestDir::new();
    let served = pool(&dir);
    let api = served.api();
    let arguments = ["capacity", &api, "--sweep", "50,60,70", "--step", "3s", "--json", "--out", "swept"];
    let mut sweep = TestProcess::start(dir.command(&arguments));
    sweep.wait_for_stderr("truetail: 50/s ");
    sweep.signal(Signal::SIGINT);
    let output = sweep.end();
    assert_eq!(output.code, Some(130), "{output:?}");
    let sweep = output.json();
    assert_eq!(sweep["ended_by"], "user");
    assert_eq!(sweep["steps"][0]["rate"], 50.0, "{sweep}");
    assert!(dir.path().join("swept/sweep.html").is_file());
}

/// Starts a server that counts its requests, and returns its URL.
fn counting() -> (String, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    let place = serve_each(move |mut socket| {
        let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
        loop {
            let head = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).count();
            if head == 0 {
                return None;
            }
            counted.fetch_add(1, Ordering::SeqCst);
            socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").ok()?;
        }
    });
    (format!("http://{place}/"), count)
}

#[test]
fn the_same_command_goes_on_with_a_sweep_that_was_killed() {
    let dir = TestDir::new();
    let (url, count) = counting();
    let sweep = |more: &[&str]| {
        let own = ["capacity", &url, "--sweep", "100,110,120", "--step", "2s", "--past-saturation", "--json"];
        dir.command(&[&own[..], more].concat())
    };
    let mut killed = TestProcess::start(sweep(&["--out", "swept"]));
    killed.wait_for_stderr("truetail: 100/s ");
    killed.signal(Signal::SIGKILL);
    killed.end();
    let journal = |dir: &TestDir| std::fs::read_to_string(dir.path().join("swept/steps.jsonl")).expect("a journal");
    let before = journal(&dir);
    let first: Value = serde_json::from_str(before.lines().nth(1).expect("a step")).expect("JSON");
    let first = first["step"].clone();
    let sent = count.load(Ordering::SeqCst);
    assert!(sent >= number(&first, "requests") as u64, "{sent} of {first}");
    assert!(!dir.path().join("swept/sweep.json").exists());

    let other = TestProcess::start(sweep(&["--out", "swept", "--", "-H", "X: y"])).end();
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(other.stderr.contains("swept holds the sweep of another question: 100,110,120/s for"), "{other:?}");
    let sent = count.load(Ordering::SeqCst).max(sent);

    let output = TestProcess::start(sweep(&["--out", "swept"])).end();
    assert!(output.stderr.contains("going on with the sweep in swept, which has 1 of 3 steps"), "{output:?}");
    let resumed = sweep_of(&output);
    let steps = resumed["steps"].as_array().expect("steps");
    assert_eq!((steps.len(), &steps[0]), (3, &first), "the figures of the first step stay");
    assert!(journal(&dir).starts_with(&before), "the journal only grows");
    // Nothing of the first step is sent again: what is sent beside the other steps is only to see that the server is
    // idle. A step that the generator spoilt is made twice.
    let since = (count.load(Ordering::SeqCst) - sent) as f64;
    let of_steps: f64 = steps[1..].iter().map(|step| number(step, "requests")).sum();
    let twice = output.stderr.matches("makes it once more").count() as f64 * number(&steps[2], "requests");
    assert!(since >= of_steps, "{since} requests, {of_steps} of steps");
    assert!(since < of_steps + twice + number(&first, "requests"), "{since} requests, {of_steps} of steps: {output:?}");
    let again = TestProcess::start(sweep(&["--out", "swept"])).end();
    assert!(again.stderr.contains("holds a sweep that has its answer"), "{again:?}");
    // Without a folder, the question names it.
    let mut killed = TestProcess::start(sweep(&[]));
    killed.wait_for_stderr("truetail: 100/s ");
    killed.signal(Signal::SIGINT);
    assert_eq!(killed.end().code, Some(130));
    let output = TestProcess::start(sweep(&[])).end();
    assert!(output.stderr.contains("which has 1 of 3 steps") && dir.runs().len() == 1, "{output:?}");
    assert_eq!(sweep_of(&output)["steps"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_server_that_dies_ends_the_sweep() {
    let dir = TestDir::new();
    let served = pool(&dir);
    let api = served.api();
    let arguments = ["capacity", &api, "--sweep", "50,60", "--step", "2s", "--json", "--out", "swept"];
    let mut sweep = TestProcess::start(dir.command(&arguments));
    sweep.wait_for_stderr("truetail: 50/s ");
    drop(served);
    let output = sweep.end();
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("the sweep stopped: the server does not answer any more"), "{output:?}");
    assert_eq!(output.json()["ended_by"], "service_gone");
}

#[test]
fn what_makes_no_sweep_is_refused_in_one_line() {
    let dir = TestDir::new();
    let url = "http://127.0.0.1:1/";
    dir.file("other.json", "{\"schema\": \"truetail.capacity/1\"}");
    for (more, code, why) in [
        (&["--sweep", "32..1"][..], 2, "'32..1' does not go up"),
        (&["--sweep", "5"], 2, "a sweep needs at least two"),
        (&["--sweep", "1..32", "--max-time", "3m"], 2, "--max-time"),
        (&["--sweep", "1..32", "--resolution", "2%"], 2, "--resolution"),
        (&["--slo", "p99 < 1s", "--step", "3s"], 2, "--sweep"),
        (&["--slo", "p99 < 1s", "--beside", "x"], 2, "--sweep"),
        (&["--sweep", "1..32", "--slo", "ttft p99 < 1s"], 2, "needs --llm"),
        (&["--sweep", "1..8", "--slo", "ttft < 500ms"], 2, "'ttft < 500ms' needs --llm"),
        (&["--sweep", "1..8", "--stream", "sse", "--slo", "ttft < 500ms"], 2, "'ttft < 500ms' needs --llm"),
        (&["--sweep", "1..32", "--step", "0s"], 2, "--step"),
        (&["--sweep", "1..32", "--beside", "missing"], 1, "cannot read the sweep missing"),
        (&["--sweep", "1..32", "--beside", "other.json"], 1, "other.json is not a saved sweep"),
        (&["--sweep", "1..32", "--", "--duration", "3s"], 2, "--duration has no meaning"),
    ] {
        let output = dir.truetail(&[&["capacity", url], more].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{more:?}: {output:?}");
        assert!(output.stderr.contains(why), "{why}: {output:?}");
    }
    let output = dir.truetail(&["capacity", url, "--sweep", "1..32"]);
    assert_eq!(output.code, Some(1), "nobody listens there: {output:?}");
    assert!(dir.runs().is_empty(), "nothing was created");
}
