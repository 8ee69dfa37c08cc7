//! `truetail history`: runs with the percentiles, the start and the commit that a test gives them.

use serde_json::{Value, json};

use super::runs::{template, write};
use super::support::{ServeProcess, TestDir};

/// Nanoseconds of a day, and of the first day of 2026 since 1970.
const DAY: u64 = 86_400_000_000_000;
const FIRST: u64 = 1_767_225_600_000_000_000;

/// Returns the run of a day: every percentile is `ns`, and known within 1 %.
fn run_of(template: &Value, day: u64, ns: f64) -> Value {
    let mut run = template.clone();
    run["started_at_unix_ns"] = (FIRST + day * DAY).into();
    run["elapsed_ns"] = (2_000_000_000 + day).into();
    run["tags"] = json!({"commit": format!("c{day}")});
    run["verdict"] = json!({"state": "VALID", "reasons": []});
    for quantile in run["response_time"]["quantiles"].as_array_mut().expect("quantiles") {
        let known = |ns: f64| Value::from(ns.round() as u64);
        quantile["value_ns"] = known(ns);
        quantile["low_ns"] = known(ns * 0.99);
        quantile["high_ns"] = known(ns * 1.01);
        quantile["supported"] = (quantile["q"] != 0.999).into();
        quantile.as_object_mut().expect("fields").remove("without_generator_ns");
    }
    run
}

/// Saves 12 runs of 12 ms, the last `slower` of them of 14 ms, with a percent of noise.
fn twelve(dir: &TestDir, slower: u64) {
    let template = template(dir);
    for day in 0..12 {
        let level = if day >= 12 - slower { 14e6 } else { 12e6 };
        let noise = [1.0, 0.99, 1.01, 1.005][day as usize % 4];
        write(dir, &format!("run-{day:02}"), &run_of(&template, day, level * noise));
    }
}

#[test]
fn the_commit_that_made_it_slower_is_named() {
    let dir = TestDir::new();
    twelve(&dir, 4);
    let output = dir.truetail(&["history"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    let p99 = output.stdout.lines().find(|line| line.starts_with("p99 ")).expect("a sentence");
    assert!(p99.starts_with("p99 12.0") && p99.contains("ms → 14.0"), "{p99}");
    assert!(p99.ends_with("between truetail-runs/run-07 (commit c7) and truetail-runs/run-08 (commit c8)"), "{p99}");
    let json = dir.truetail(&["history", "--json"]).json();
    let change = json["changes"].as_array().expect("changes").iter().find(|change| change["q"] == 0.99).expect("p99");
    assert_eq!((&change["before"], &change["after"]), (&"truetail-runs/run-07".into(), &"truetail-runs/run-08".into()));
    let number = |name: &str| change[name].as_f64().expect("a number");
    // 14 / 12 is 1.1667.
    assert!(number("low") < 1.1667 && number("high") > 1.1667 && number("low") > 1.1, "{change}");
    assert_eq!(json["schema"], "truetail.history/1");
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(12));
}

#[test]
fn conditions_fail_hold_or_stay_open() {
    let slower = TestDir::new();
    twelve(&slower, 4);
    let same = TestDir::new();
    twelve(&same, 0);
    for (dir, condition, code, word) in [
        (&slower, "p99 slower than 5%", 3, "FAILED p99 slower than 5%: +1"),
        (&slower, "p99 slower than 50%", 0, "PASSED p99 slower than 50%"),
        (&slower, "p99.9 slower than 5%", 4, "OPEN p99.9 slower than 5%: 0 comparable runs"),
        (&same, "p99 slower than 10%", 0, "PASSED p99 slower than 10%: no change found"),
        (&same, "p99 slower than 0.1%", 4, "OPEN p99 slower than 0.1%: no change found"),
    ] {
        let output = dir.truetail(&["history", "--fail-if", condition]);
        assert_eq!(output.code, Some(code), "{output:?}");
        assert!(output.stdout.contains(word), "{output:?}");
    }
    // The 5th is the fifth day, so that four runs of each level remain.
    let since = slower.truetail(&["history", "--since", "2026-01-05", "--fail-if", "p99 slower than 5%"]);
    assert_eq!(since.code, Some(3), "{since:?}");
    let accepted = slower.truetail(&["history", "--since", "2026-01-09", "--fail-if", "p99 slower than 5%"]);
    assert_eq!(accepted.code, Some(4), "four runs are too few: {accepted:?}");
}

#[test]
fn what_does_not_belong_is_left_out_and_listed() {
    let dir = TestDir::new();
    twelve(&dir, 0);
    let template = template_of(&dir);
    let mut invalid = run_of(&template, 20, 50e6);
    invalid["verdict"] =
        json!({"state": "INVALID", "reasons": [{"code": "saturated", "state": "INVALID", "message": "m"}]});
    write(&dir, "invalid", &invalid);
    let mut other = run_of(&template, 1, 50e6);
    other["scenario"]["profile"] = "900/s".into();
    other["elapsed_ns"] = 7.into();
    write(&dir, "other", &other);
    write(&dir, "copy", &run_of(&template, 3, 12e6));
    let output = dir.truetail(&["history", "--json"]);
    let json = output.json();
    let why = |name: &str| {
        let runs = json["runs"].as_array().expect("runs");
        let run = runs.iter().find(|run| run["folder"] == format!("truetail-runs/{name}")).expect("a run");
        (run["used"].as_bool().expect("a flag"), run["why"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(why("invalid"), (false, "it is INVALID (saturated)".to_owned()));
    assert_eq!(why("other"), (false, "the rate profile is 900/s, and 200/s in the newest run".to_owned()));
    assert_eq!(why("run-03"), (false, "it is a copy of an earlier run".to_owned()));
    assert_eq!(why("copy"), (true, String::new()));
    assert_eq!(json["changes"], json!([]), "a run of 50 ms is not in the series");
    let text = dir.truetail(&["history"]).stdout;
    assert!(text.starts_with("12 runs of one load, 3 left out\n"), "{text}");
}

#[test]
fn a_baseline_comes_from_the_runs_of_a_branch_since_the_last_change() {
    let dir = TestDir::new();
    let template = template(&dir);
    for day in 0..14 {
        // Twelve runs of main, which changed once; then two of a branch.
        let noise = [1.0, 0.99, 1.01, 1.005][day as usize % 4];
        let level = if day < 6 {
            30e6
        } else if day < 12 {
            12e6
        } else {
            16e6
        };
        let mut run = run_of(&template, day, level * noise);
        run["tags"] = json!({"branch": if day < 12 { "main" } else { "slow" }});
        write(&dir, &format!("run-{day:02}"), &run);
        for name in ["histograms.hlog", "timeline.csv", "samples.csv"] {
            let from = dir.path().join("template").join(name);
            std::fs::copy(from, dir.path().join(format!("truetail-runs/run-{day:02}/{name}"))).expect("a file");
        }
    }
    let compared = dir.truetail(&["compare", "--baseline", "main", "--json"]);
    assert_eq!(compared.code, Some(0), "{compared:?}");
    let json = compared.json();
    assert_eq!((&json["runs"]["a"], &json["runs"]["b"]), (&6.into(), &1.into()), "{json}");
    let text = dir.truetail(&["compare", "truetail-runs/run-12", "truetail-runs/run-13", "--baseline", "branch=main"]);
    assert!(text.stdout.starts_with("A: truetail-runs/run-06, ") && text.stdout.contains("\nB: "), "{text:?}");
    let none = dir.truetail(&["compare", "--baseline", "release"]);
    assert_eq!((none.code, none.stderr.lines().count()), (Some(4), 1), "{none:?}");
    assert!(none.stderr.contains("branch=release") && none.stdout.is_empty(), "{none:?}");
    let own = dir.truetail(&["compare", "truetail-runs/run-11", "--baseline", "main", "--json"]).json();
    assert_eq!(own["runs"]["a"], 5, "a run is not its own baseline: {own}");
    let both = dir.truetail(&["compare", "a", "--baseline", "main", "--against", "b"]);
    assert_eq!((both.code, both.stderr.lines().count()), (Some(2), 1), "{both:?}");
}

fn template_of(dir: &TestDir) -> Value {
    serde_json::from_slice(&std::fs::read(dir.path().join("template/run.json")).expect("a run")).expect("JSON")
}

#[test]
fn a_series_is_chosen_by_name_or_url_and_one_odd_run_is_no_change() {
    let dir = TestDir::new();
    let template = template(&dir);
    for day in 0..12 {
        let mut run = run_of(&template, day, if day == 6 { 40e6 } else { 12e6 });
        run["scenario"]["name"] = if day % 2 == 0 { "checkout" } else { "search" }.into();
        run["scenario"]["url"] = format!("http://127.0.0.1:{}/", 8000 + day).into();
        write(&dir, &format!("run-{day:02}"), &run);
    }
    let used = |arguments: &[&str]| {
        let output = dir.truetail(&[&["history", "--json"], arguments].concat());
        let json = output.json();
        assert_eq!(json["changes"], json!([]), "{arguments:?}");
        let runs = json["runs"].as_array().expect("runs").clone();
        (runs.len(), runs.iter().filter(|run| run["used"] == true).count())
    };
    assert_eq!(used(&["checkout"]), (6, 1), "their URLs differ");
    assert_eq!(used(&["checkout", "--as", "hosts"]), (6, 6));
    assert_eq!(used(&["127.0.0.1:8003"]), (1, 1));
    assert_eq!(used(&["truetail-runs", "--as", "hosts"]), (6, 6), "those of the newest run's name");
    for (arguments, code, part) in [
        (&["nothing"][..], 1, "no run called 'nothing'"),
        (&["--dir", "missing"], 1, "there is no folder missing"),
        (&["--fail-if", "p99 > 5ms"], 2, "slower than"),
    ] {
        let output = dir.truetail(&[&["history"], arguments].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{output:?}");
        assert!(output.stderr.contains(part), "{output:?}");
    }
}

/// A language model with room for four answers of ten tokens.
const MODEL: &str = "name = \"model\"\nabout = \"four at a time\"\npath = \"/v1/chat/completions\"\n\n[service]\nbaseline = \"1ms\"\n\n\
                     [service.stream]\nevents = 10\n\n[service.batch]\ncap = 4\nstep = \"10ms\"\n\n\
                     [workload]\nrate = \"10/s\"\nduration = \"10s\"\n";
const CHAT: &str = "{\"model\":\"m\",\"max_tokens\":10,\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";

/// Returns the run of a day whose times to the first token are `ns`, and which had `tokens` per second.
fn llm_run_of(template: &Value, day: u64, ns: f64, tokens: u64) -> Value {
    let mut run = run_of(template, day, 12e6 * [1.0, 0.99, 1.01, 1.005][day as usize % 4]);
    for quantile in run["stream"]["first_content_time"]["quantiles"].as_array_mut().expect("quantiles") {
        quantile["value_ns"] = Value::from(ns.round() as u64);
        quantile["supported"] = true.into();
    }
    // One answer a second, so that the tokens of all answers over their number are the rate.
    run["throughput_per_second"] = 1.0.into();
    let answers = run["tally"]["responses"].as_u64().expect("answers");
    run["stream"]["llm"]["tokens"]["output"] = (tokens * answers).into();
    run["stream"]["tokens"] = (tokens * answers).into();
    run
}

#[test]
fn a_model_that_got_slower_is_found_by_its_first_token_and_its_tokens_per_second() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, dir.file("model.toml", MODEL));
    let url = format!("{}/v1/chat/completions", served.url());
    let made =
        dir.truetail(&["run", &url, "-r", "20", "-d", "1s", "--llm", "openai-chat", "--out", "made", "--data", CHAT]);
    assert!(dir.path().join("made/run.json").is_file(), "{made:?}");
    let template = std::fs::read_to_string(dir.path().join("made/run.json")).expect("a run");
    let template: Value = serde_json::from_str(&template).expect("JSON");
    for day in 0..12 {
        let noise = [1.0, 0.99, 1.01, 1.005][day as usize % 4];
        let (ns, tokens) = if day < 8 { (200e6, 1_000.0) } else { (260e6, 800.0) };
        write(&dir, &format!("run-{day:02}"), &llm_run_of(&template, day, ns * noise, (tokens * noise) as u64));
    }
    let output = dir.truetail(&["history"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let line = |start: &str| output.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_default().to_owned();
    let ends = "between truetail-runs/run-07 (commit c7) and truetail-runs/run-08 (commit c8)";
    assert!(line("TTFT p99 200").contains("ms → 260") && line("TTFT p99 200").ends_with(ends), "{output:?}");
    assert!(line("output tokens 1").contains("/s → 80") && line("output tokens 1").ends_with(ends), "{output:?}");
    assert!(
        line("output tokens 1").contains("(-2") && line("p99 no change found in 12 runs").contains("shift"),
        "{output:?}"
    );
    assert!(line("Times of streams and output tokens have no interval").contains("each run counts the same"));
    let json = dir.truetail(&["history", "--json"]).json();
    let change = |figure: &str| {
        let changes = json["changes"].as_array().expect("changes");
        changes.iter().find(|change| change["figure"] == figure).unwrap_or_else(|| panic!("{figure} in {json}")).clone()
    };
    let [ttft, tokens] = [change("ttft p99"), change("output-tokens")];
    let number = |of: &Value, name: &str| of[name].as_f64().unwrap_or_else(|| panic!("{name} of {of}"));
    assert!(number(&ttft, "low") < 1.3 && number(&ttft, "high") > 1.3 && ttft["q"] == 0.99, "{ttft}");
    assert!(number(&tokens, "low") < 0.8 && number(&tokens, "high") > 0.8 && tokens["q"].is_null(), "{tokens}");
    assert!(number(&tokens, "before_per_second") > number(&tokens, "after_per_second"), "{tokens}");
    for (condition, code, word) in [
        ("ttft p99 slower than 5%", 3, "FAILED ttft p99 slower than 5%: +"),
        ("ttft p50 slower than 80%", 0, "PASSED ttft p50"),
        ("output-tokens slower than 5%", 3, "FAILED output-tokens slower than 5%: -"),
        (
            "first-event p99 slower than 5%",
            4,
            "OPEN first-event p99 slower than 5%: 0 comparable runs have first-event p99",
        ),
        ("p99 slower than 10%", 0, "PASSED p99"),
    ] {
        let output = dir.truetail(&["history", "--fail-if", condition]);
        assert_eq!(output.code, Some(code), "{output:?}");
        assert!(output.stdout.contains(word), "{word}: {output:?}");
    }
    let malformed = dir.truetail(&["history", "--fail-if", "tpot p99.9 slower than 5%"]);
    assert!(malformed.code == Some(2) && malformed.stderr.contains("p50, p90, p99"), "{malformed:?}");
}
