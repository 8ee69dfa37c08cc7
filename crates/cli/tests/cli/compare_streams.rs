//! `truetail compare`, `ab` and baselines with streams and language models.

use serde_json::Value;

use crate::support::{CommandOutput, ServeProcess, TestDir};

/// Saves a simulated run of streams with random gaps of this mean as `name`.
fn save(dir: &TestDir, name: &str, gap: &str, seed: u64) {
    let scenario = format!(
        "name = \"streams\"\nabout = \"events at random\"\n\n[service]\nbaseline = \"3ms\"\n\n[service.stream]\nevents = 20\n\
         first = \"20ms\"\ngap = \"{gap}\"\nvariation = \"exponential\"\nseed = {seed}\n\n[workload]\nmodel = \"open\"\n\
         rate = \"30/s\"\nduration = \"30s\"\nseed = {seed}\n"
    );
    let file = format!("{name}.toml");
    dir.file(&file, &scenario);
    let saved = dir.truetail(&["simulate", &file, "--out", name]);
    assert_eq!(saved.code, Some(0), "{saved:?}");
}

/// Saves three runs of each side. The gaps of B are a fifth longer.
fn sides(dir: &TestDir) -> [&'static str; 8] {
    for seed in 1..=3 {
        save(dir, &format!("a{seed}"), "10ms", seed);
        save(dir, &format!("b{seed}"), "12ms", seed + 10);
    }
    ["compare", "a1", "a2", "a3", "--against", "b1", "b2", "b3"]
}

fn row<'a>(output: &'a CommandOutput, name: &str) -> &'a str {
    output.stdout.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}: {output:?}"))
}

/// Returns the finding at a quantile of a time in JSON.
fn finding<'a>(json: &'a Value, metric: &str, q: f64) -> &'a Value {
    let times = json["streams"]["times"].as_array().expect("times");
    let time = times.iter().find(|time| time["metric"] == metric).expect("the metric");
    let quantiles = time["quantiles"].as_array().expect("quantiles");
    quantiles.iter().find(|quantile| quantile["q"] == q).expect("the quantile")
}

#[test]
fn gaps_that_grew_are_found_and_fail_a_gate() {
    let dir = TestDir::new();
    let sides = sides(&dir);
    let output = dir.truetail(&[&sides[..], &["--html", "page.html"]].concat());
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    assert!(row(&output, "gap p50").ends_with("B is slower"), "{output:?}");
    assert!(row(&output, "first event p50").contains("ms"), "{output:?}");
    let page = std::fs::read_to_string(dir.path().join("page.html")).expect("a page");
    assert!(page.contains("Streams beside each other") && page.contains("longest gap p50"));
    let json = dir.truetail(&[&sides[..], &["--json"]].concat()).json();
    let p50 = finding(&json, "event-gap", 0.5);
    assert_eq!(p50["finding"], "slower", "{p50}");
    assert!(p50["ratio_low"].as_f64() > Some(1.15) && p50["ratio_high"].as_f64() < Some(1.25), "{p50}");
    assert_eq!(
        (&json["streams"]["output_tokens_per_second"], &json["streams"]["goodput"]),
        (&Value::Null, &Value::Null)
    );
    for (gate, code, word) in [
        ("event-gap p50 worse than 10%", 3, "FAILED event-gap p50 worse than 10%: measured +"),
        ("event-gap p50 worse than 100%", 0, "PASSED event-gap p50 worse than 100%"),
        ("event-gap p99.99 worse than 5%", 4, "OPEN event-gap p99.99 worse than 5%: no interval"),
    ] {
        let output = dir.truetail(&[&sides[..], &["--fail-if", gate]].concat());
        assert_eq!(output.code, Some(code), "{output:?}");
        assert!(output.stdout.contains(word), "{}", output.stdout);
    }
}

#[test]
fn single_runs_show_values_and_say_that_they_decide_nothing() {
    let dir = TestDir::new();
    save(&dir, "a", "10ms", 1);
    save(&dir, "b", "12ms", 2);
    let output = dir.truetail(&["compare", "a", "b", "--fail-if", "event-gap p50 worse than 5%"]);
    assert_eq!(output.code, Some(4), "{output:?}");
    assert!(row(&output, "gap p50").ends_with("cannot tell"), "{output:?}");
    let text = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Figures of streams have no interval within a run"), "{text}");
    assert!(text.contains("OPEN event-gap p50 worse than 5%: measured +"), "{text}");
}

#[test]
fn a_run_without_the_figure_is_one_line() {
    let dir = TestDir::new();
    save(&dir, "a", "10ms", 1);
    save(&dir, "b", "10ms", 2);
    for (gate, part) in [
        ("ttft p99 worse than 10%", "needs times of language models, which a run has with --llm, and a has none"),
        ("goodput worse than 2%", "needs goodput"),
        ("ttft worse than 10%", "is not a condition"),
    ] {
        let output = dir.truetail(&["compare", "a", "b", "--fail-if", gate]);
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains(part) && output.stdout.is_empty(), "{output:?}");
    }
    let url = "http://127.0.0.1:9/";
    for (arguments, part) in [
        (&["--baseline-fail-if", "ttft p99 worse than 10%"][..], "needs times of language models"),
        (&["--baseline-fail-if", "event-gap p50 worse than 10%"], "needs --stream or --llm"),
    ] {
        let run = ["run", url, "-r", "50", "-n", "20", "--quiet", "--baseline", "."];
        let output = dir.truetail(&[&run[..], arguments].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains(part), "{output:?}");
    }
}

/// A single baseline run gives streams no interval, and `--write-baseline` saves no more than one.
#[test]
fn a_single_baseline_run_is_refused_for_streams_before_the_load() {
    let dir = TestDir::new();
    save(&dir, "a", "10ms", 1);
    let run = ["run", "http://127.0.0.1:9/", "-r", "50", "-n", "20", "--quiet", "--stream", "sse"];
    let condition = ["--baseline-fail-if", "event-gap p50 worse than 10%"];
    for (baseline, part) in [
        (&["--baseline", "a"][..], "streams need several baseline runs, and a is one"),
        (&["--baseline", "new", "--write-baseline"], "and --write-baseline saves one"),
    ] {
        let output = dir.truetail(&[&run[..], baseline, &condition].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains(part) && output.stderr.contains("give --baseline NEW"), "{output:?}");
        assert!(!dir.path().join("new").exists() && dir.runs().is_empty(), "{output:?}");
    }
}

#[test]
fn streams_of_only_some_runs_are_not_compared_and_that_is_said() {
    let dir = TestDir::new();
    save(&dir, "a", "10ms", 1);
    let whole = std::fs::read_to_string(dir.path().join("a.toml")).expect("a scenario");
    let (before, after) = whole.split_once("[service.stream]").expect("a section");
    let (_, load) = after.split_once("[workload]").expect("a section");
    dir.file("b.toml", &format!("{before}[workload]{load}"));
    assert_eq!(dir.truetail(&["simulate", "b.toml", "--out", "b"]).code, Some(0));
    let output = dir.truetail(&["compare", "a", "b", "--anyway"]);
    assert!(output.stdout.contains("Streams are not compared, because only some of the runs have them."), "{output:?}");
    assert!(!output.stdout.contains("gap p50"), "{output:?}");
}

/// Options of a load of the embedded model.
const LOAD: [&str; 12] = [
    "-r",
    "100",
    "-n",
    "40",
    "--llm",
    "openai-chat",
    "--data",
    "{\"model\":\"m\",\"max_tokens\":5,\"messages\":[]}",
    "--slo",
    "ttft < 1h",
    "--quiet",
    "--allow-errors",
];

/// Starts the embedded server as a language model.
fn model(dir: &TestDir) -> (ServeProcess, String) {
    dir.file(
        "model.toml",
        "name = \"model\"\nabout = \"a model\"\n[service]\nbaseline = \"1ms\"\n[service.stream]\nevents = 5\nfirst = \"5ms\"\n\
         gap = \"2ms\"\n[workload]\nrate = 100\nduration = \"1s\"\n",
    );
    let server = ServeProcess::start(dir, "model.toml");
    let url = format!("{}/v1/chat/completions", server.url());
    (server, url)
}

#[test]
fn ab_compares_models() {
    let dir = TestDir::new();
    let other = TestDir::new();
    let (_a, url_a) = model(&dir);
    let (_b, url_b) = model(&other);
    let gates = ["--fail-if", "ttft p50 worse than 100000%", "--fail-if", "goodput worse than 50%"];
    let more = ["--rounds", "2", "--anyway", "--json", "--out", "out"];
    let output = dir.truetail(&[&["ab", &url_a, &url_b], &LOAD[..], &gates, &more].concat());
    let json = output.json();
    for metric in ["ttft", "itl", "tpot", "longest-gap"] {
        let p50 = finding(&json, metric, 0.5);
        assert!(p50["a_ns"].as_u64() > Some(0) && p50["b_ns"].as_u64() > Some(0), "{metric}: {p50}");
        assert!(p50["ratio"].as_f64() > Some(0.0), "{metric}: {p50}");
    }
    let tokens = &json["streams"]["output_tokens_per_second"];
    assert!(tokens["a"].as_f64() > Some(0.0) && tokens["ratio_low"].is_number(), "{tokens}");
    let goodput = &json["streams"]["goodput"];
    assert_eq!((&goodput["a"], &goodput["b"]), (&1.0.into(), &1.0.into()), "{json}");
    assert_eq!(json["gates"].as_array().map(Vec::len), Some(2), "{json}");
    let text = dir.truetail(&["compare", "out/round-1-a", "out/round-1-b", "--anyway", "--as", "hosts"]);
    for name in ["TTFT p50", "ITL p50", "TPOT p50", "output tokens", "goodput"] {
        row(&text, name);
    }
    assert!(!text.stdout.contains("first event"), "content says more than events: {text:?}");
    let refused = dir.truetail(&[&["ab", &url_a, &url_b], &LOAD[..], &["--slo", "ttft p50 < 1h"]].concat());
    assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{refused:?}");
    assert!(refused.stderr.contains("is about a single run, and ab compares"), "{refused:?}");
}

#[test]
fn a_baseline_of_a_model_is_compared_with_a_run() {
    let dir = TestDir::new();
    let (_server, url) = model(&dir);
    let goodput = ["--baseline", "base", "--baseline-fail-if", "goodput worse than 50%"];
    for name in ["base/1", "base/2"] {
        std::fs::create_dir_all(dir.path().join("base")).expect("a folder");
        // The second run is added to a single one, and so may leave the condition open.
        let run = ["run", &url, "--out", name, "--slo", "tpot < 1h"];
        let saved = dir.truetail(&[&run[..], &LOAD, &goodput].concat());
        assert!(dir.path().join(name).join("run.json").is_file(), "{saved:?}");
    }
    let output = dir.truetail(&[&["run", &url, "--no-save"], &LOAD[..], &goodput].concat());
    assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
    let differ = "are 'tpot < 1h', 'ttft < 1h' in the baseline base/1 and 'ttft < 1h' in this run";
    assert!(output.stderr.contains(differ), "{output:?}");
    // The same objectives in another order are the same.
    let other_order = ["--slo", "tpot < 1h", "--baseline-fail-if", "ttft p50 worse than 100000%"];
    let baseline = [&goodput[..], &other_order].concat();
    let output = dir.truetail(&[&["run", &url, "--no-save"], &LOAD[..], &baseline].concat());
    assert!(output.stdout.contains("goodput worse than 50%"), "{output:?}");
    assert!(!output.stdout.contains("different objectives"), "{output:?}");
    let is_compared = !output.stdout.contains("Not compared:");
    // On a machine that stalls, a run may be INVALID and is not compared.
    assert!(!is_compared || output.stdout.contains("TTFT p50"), "{output:?}");
    assert!(output.stdout.contains("ttft p50 worse than 100000%"), "{output:?}");
    let undecided = ["--baseline", "base", "--baseline-fail-if", "ttft p99 worse than 5%"];
    let output = dir.truetail(&[&["run", &url, "--no-save"], &LOAD[..], &undecided].concat());
    assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
    assert!(output.stderr.contains("cannot be decided: it needs 368"), "{output:?}");
}
