//! `truetail.toml`: named runs, their baselines, and pipelines that use them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use saphyr::{LoadableYamlNode, Yaml};
use serde_json::Value;

use super::documented::root;
use super::support::{CommandOutput, ServeProcess, TestDir, TestProcess, assert_balanced, assert_complete};

const ORIGIN: &str = "http://127.0.0.1:8080";

fn page() -> String {
    fs::read_to_string(root().join("docs/truetail-toml.md")).expect("a page")
}

/// Prepares a folder with a server and this `truetail.toml`, with URLs of that server.
fn stage(text: &str) -> (TestDir, ServeProcess) {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    dir.file("truetail.toml", &text.replace(ORIGIN, &server.url));
    (dir, server)
}

fn api(more: &str) -> String {
    format!("[run.api]\nurl = \"{ORIGIN}/api\"\nrate = 200\nduration = \"300ms\"\nquiet = true\n{more}")
}

/// Returns the names in the headings `[KIND.NAME]`.
fn names<'a>(text: &'a str, kind: &str) -> Vec<&'a str> {
    let name = |line: &'a str| line.strip_prefix(&format!("[{kind}."))?.strip_suffix(']');
    text.lines().filter_map(name).collect()
}

/// Gates may fail or stay open on a busy machine.
fn assert_ran(output: &CommandOutput) {
    assert!(matches!(output.code, Some(0 | 3 | 4)), "{output:?}");
}

#[test]
fn every_example_of_the_page_runs() {
    let page = page();
    let examples: Vec<_> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() >= 4);
    // A run this short would be refused with the gates of the page.
    let short = ["-d", "300ms", "--quiet", "--no-save", "--slo", "max < 100s"];
    for example in examples {
        let (dir, _server) = stage(example);
        for name in names(example, "capacity") {
            assert_ran(&dir.truetail(&["capacity", name, "--max-time", "2s", "--max-rate", "50", "--quiet"]));
        }
        let runs = names(example, "run");
        let condition = ["--baseline-fail-if", "p50 worse than 900%"];
        let short = [&short[..], if example.contains(condition[0].trim_start_matches('-')) { &condition } else { &[] }]
            .concat();
        if !runs.is_empty() {
            assert_ran(&dir.truetail(&[&["run"], &short[..]].concat()));
        }
        for name in runs {
            assert_ran(&dir.truetail(&[&["run", name], &short[..]].concat()));
        }
    }
}

#[test]
fn the_page_has_every_key() {
    let help = TestDir::new().truetail(&["run", "--help"]).stdout;
    let words = help.lines().map(str::trim_start).filter(|line| line.starts_with('-')).flat_map(str::split_whitespace);
    let options: Vec<_> = words.filter_map(|word| word.strip_prefix("--")).collect();
    assert!(options.len() > 40, "{options:?}");
    let page = page();
    for option in
        options.into_iter().filter(|option| !["all", "help", "config", "stripe", "start-at", "pack"].contains(option))
    {
        assert!(page.contains(&format!("`{option}`")), "docs/truetail-toml.md does not name {option}");
    }
}

#[test]
fn the_command_line_goes_first() {
    let (dir, server) = stage(&api("no-save = true\nfail-if = \"p50 > 1us\"\n"));
    let run = |arguments: &[&str]| {
        let output = dir.truetail(&[&["run", "--json"], arguments].concat());
        let run = output.json();
        assert_balanced(&run);
        (output.code, run)
    };
    let planned = |run: &Value| run["tally"]["planned"].as_u64();
    let (code, alone) = run(&[]);
    assert_eq!((planned(&alone), code), (Some(60), Some(3)), "its gate fails: {alone}");
    assert_eq!(planned(&run(&["api", "-r", "100"]).1), Some(30));
    let (_, other) = run(&["api", "--profile", "steps:100/100ms,300/100ms", "-d", "200ms", "--fail-if", "max > 100s"]);
    assert_eq!((planned(&other), other["gates"][0]["text"].as_str()), (Some(40), Some("max > 100s")));
    let command = other["command"].as_str().expect("a command");
    assert!(command.starts_with(&format!("truetail run {} ", server.api())), "it needs no file: {command}");
    let elsewhere = format!("{}/elsewhere", server.url);
    let (_, other) = run(&[&elsewhere, "--config", "truetail.toml"]);
    assert_eq!(other["scenario"]["url"].as_str(), Some(elsewhere.as_str()), "{other}");
    let without = dir.truetail(&["run", &elsewhere]);
    assert!(without.stderr.contains("no rate given"), "a URL alone reads no file: {without:?}");
}

#[test]
fn what_is_wrong_is_one_line_with_its_place() {
    let dir = TestDir::new();
    for (text, arguments, code, part) in [
        (None, &["run"][..], 2, "no URL given, and there is no truetail.toml"),
        (None, &["run", "checkout"], 2, "'checkout' is not a URL, and there is no truetail.toml"),
        (None, &["run", "--config", "missing.toml"], 1, "cannot read missing.toml"),
        (
            Some("[run.api]\nrat = 5\n"),
            &["run"],
            2,
            "truetail.toml:2:1: unknown key 'rat' in [run.api]; did you mean 'rate'?",
        ),
        (Some("[run.api]\nrate = 5\n"), &["run", "apo"], 2, "there is no run 'apo'; did you mean 'api'?"),
        (Some("[run.api]\nrate = 5\n"), &["run"], 2, "[run.api] of truetail.toml has no URL; add url = "),
        (Some("[run.api]\nurl = \"http://127.0.0.1:9/\"\n"), &["run"], 2, "no rate given"),
        (Some("[run.api]\nurl = \"http://127.0.0.1:9/\"\nrate = 1\nforce = true\n"), &["run"], 2, "add --out"),
        (
            Some("[run.api]\nurl = \"http://127.0.0.1:9/\"\nrate = 1\nwrite-baseline = true\n"),
            &["run"],
            2,
            "add --baseline",
        ),
        (None, &["capacity", "api"], 2, "'api' is not a URL, and there is no truetail.toml"),
        (None, &["capacity", "http://127.0.0.1:9/"], 2, "no objective given; add --slo"),
        (
            Some("[run.api]\n"),
            &["capacity", "api"],
            2,
            "there is no search 'api'; write [capacity.api] with url and slo",
        ),
        (
            Some("[capacity.api]\nslo = \"p99 < 5ms\"\n"),
            &["capacity", "api"],
            2,
            "[capacity.api] of truetail.toml has no URL",
        ),
    ] {
        let _ = fs::remove_file(dir.path().join("truetail.toml"));
        if let Some(text) = text {
            dir.file("truetail.toml", text);
        }
        let output = dir.truetail(arguments);
        assert_eq!(
            (output.code, output.stderr.lines().count(), output.stdout.as_str()),
            (Some(code), 1, ""),
            "{output:?}"
        );
        assert!(output.stderr.contains(part), "{text:?}: {}", output.stderr);
        assert!(dir.runs().is_empty());
    }
}

#[test]
fn a_run_is_compared_with_its_baseline_where_there_is_one() {
    let conditions = "baseline = \"old\"\nbaseline-fail-if = [\"p50 worse than 5000%\", \"p50 worse than 0%\"]\n";
    let (dir, server) = stage(&api(&format!("{conditions}no-save = true\n")));
    let none = dir.truetail(&["run", "--json"]);
    none.assert_code(&none.json(), 0);
    assert!(
        none.stderr.contains("there is no baseline in old yet, so nothing was compared; --write-baseline saves"),
        "{none:?}"
    );
    assert!(!dir.path().join("old").exists());
    let output = dir.truetail(&["run", "--json", "--write-baseline"]);
    let first = output.json();
    output.assert_code(&first, 0);
    let is_valid = first["verdict"]["state"] != "INVALID";
    assert_eq!(output.stderr.contains("this run is the baseline now, in old"), is_valid, "{output:?}");
    assert_eq!(dir.path().join("old/run.json").is_file(), is_valid);
    let args = ["run", &server.api(), "-r", "200", "-d", "300ms", "--quiet", "--force", "--out", "old"];
    assert_ran(&dir.truetail(&args));
    assert_complete(&dir.path().join("old"));
    let second = dir.truetail(&["run", "api", "--json"]);
    let gates = second.json()["gates"].clone();
    let states: Vec<_> = gates.as_array().expect("gates").iter().filter_map(|gate| gate["state"].as_str()).collect();
    let code = if states.contains(&"fails") {
        3
    } else if states.contains(&"open") {
        4
    } else {
        0
    };
    assert_eq!((states.len(), second.code), (2, Some(code)), "{gates}");
    let told = dir.truetail(&["run"]);
    assert!(told.stdout.contains("A: old\nB: this run\n"), "{}", told.stdout);
}

/// Neither this load nor the baseline is long enough. Both are reported before anything is sent.
#[test]
fn a_comparison_that_cannot_be_decided_is_refused_before_the_load() {
    let condition = |text: &str| api(&format!("baseline = \"old\"\nbaseline-fail-if = \"{text} worse than 5%\"\n"));
    let (dir, server) = stage(&condition("p99"));
    let refused = |part: &str, more: &[&str]| {
        let output = dir.truetail(&[&["run"], more].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
        assert!(output.stderr.contains("--baseline-fail-if 'p99 worse than 5%' cannot be decided"), "{output:?}");
        assert!(output.stderr.contains(part) && dir.runs().is_empty(), "{output:?}");
    };
    refused("needs 368 measured arrivals, and this load plans 60; use -d 2s", &[]);
    let args = ["run", &server.api(), "-r", "200", "-d", "300ms", "--quiet", "--out", "old/1"];
    assert_ran(&dir.truetail(&args));
    refused("the baseline old/1 has 60; make a longer baseline", &["-d", "3s"]);
}

#[test]
fn a_baseline_with_another_load_leaves_its_conditions_open() {
    let (dir, server) = stage(&api("baseline = \"old\"\nbaseline-fail-if = \"p50 worse than 5%\"\n"));
    let args = ["run", &server.api(), "-r", "250", "-d", "300ms", "--quiet", "--out", "old/1"];
    assert_ran(&dir.truetail(&args));
    let output = dir.truetail(&["run", "--no-save"]);
    assert_eq!(output.code, Some(4), "{output:?}");
    assert!(
        output.stdout.contains("Not compared: the rate profile is 250/s in old/1 and 200/s in this run"),
        "{output:?}"
    );
    dir.file("new", "not a folder");
    let file = dir.truetail(&["run", "--baseline", "new"]);
    assert_eq!((file.code, file.stderr.lines().count()), (Some(1), 1), "{file:?}");
}

/// Returns the shell lines of a pipeline: one script per step of GitHub Actions, or per job of GitLab.
fn scripts(text: &str) -> Vec<String> {
    let documents = Yaml::load_from_str(text).expect("YAML");
    let top = documents[0].as_mapping().expect("a mapping");
    let steps = |job: &Yaml<'_>| -> Vec<String> {
        let steps = job.as_mapping_get("steps").and_then(Yaml::as_sequence).expect("steps");
        steps.iter().filter_map(|step| step.as_mapping_get("run")?.as_str().map(str::to_owned)).collect()
    };
    if let Some(jobs) = documents[0].as_mapping_get("jobs") {
        return jobs.as_mapping().expect("jobs").values().flat_map(steps).collect();
    }
    let script = |job: &Yaml<'_>| {
        let lines = ["before_script", "script"].into_iter().filter_map(|key| job.as_mapping_get(key)?.as_sequence());
        lines.flatten().filter_map(|line| line.as_str()).collect::<Vec<_>>().join("\n")
    };
    top.values().map(script).collect()
}

fn make_executable(file: &Path) {
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("permissions");
}

#[test]
fn the_command_line_of_a_search_goes_before_its_file() {
    let dir = TestDir::new();
    let search = "[capacity.api]\nurl = \"http://127.0.0.1:9/\"\nslo = \"p99 < 50ms\"\nconnections = 5\n";
    dir.file("truetail.toml", search);
    // No server listens on this port. Any earlier error means that the arguments were misread.
    let output = dir.truetail(&["capacity", "api", "--", "-c", "10"]);
    assert!(output.code == Some(1) && output.stderr.contains("is the server running?"), "{output:?}");
    let rate = dir.truetail(&["capacity", "api", "--", "-r", "10"]);
    assert!(rate.code == Some(2) && rate.stderr.contains("--rate has no meaning in the requests"), "{rate:?}");
    dir.file("truetail.toml", &format!("{search}rate = 5\n"));
    let file = dir.truetail(&["capacity", "api"]);
    assert_eq!((file.code, file.stderr.lines().count()), (Some(2), 1), "{file:?}");
    assert!(file.stderr.contains("truetail.toml:5:1: 'rate' in [capacity.api]: a search sets this itself"), "{file:?}");
}

#[test]
fn a_run_is_not_saved_twice_in_one_folder() {
    let (dir, _server) = stage(&api("baseline = \"./kept\"\nwrite-baseline = true\n"));
    let output = dir.truetail(&["run", "--out", "kept"]);
    assert_eq!((output.code, output.stderr.lines().count()), (Some(2), 1), "{output:?}");
    assert!(output.stderr.contains("--out and --baseline name the same folder"), "{output:?}");
    assert!(!dir.path().join("kept").exists());
}

#[test]
fn the_pipelines_in_the_examples_work() {
    let example = |name: &str| fs::read_to_string(root().join("examples/ci").join(name)).expect("an example");
    for (pipeline, summary) in [("github-actions.yml", "page.md"), ("gitlab-ci.yml", "truetail.md")] {
        // The shortest runs that the gates allow.
        let (dir, server) = stage(&example("truetail.toml").replace("30s", "2s"));
        dir.file("start-service", "#!/bin/sh\n");
        make_executable(&dir.path().join("start-service"));
        fs::create_dir(dir.path().join("bin")).expect("a folder");
        symlink(env!("CARGO_BIN_EXE_truetail"), dir.path().join("bin/truetail")).expect("a link");
        let path = format!("{}:{}", dir.path().join("bin").display(), std::env::var("PATH").expect("a PATH"));
        let scripts = scripts(&example(pipeline).replace(ORIGIN, &server.url));
        assert!(scripts.iter().any(|script| script.contains("truetail run")), "{scripts:?}");
        let mut ended = Vec::new();
        for script in scripts {
            let mut command: Command = dir.command_by(&["sh", "-e", "-c", &script], &[]);
            command.env("PATH", &path).env("GITHUB_STEP_SUMMARY", dir.path().join("page.md"));
            let output = TestProcess::start(command).end();
            assert_ran(&output);
            ended.push(output.code);
        }
        assert_complete(&dir.path().join("truetail-run"));
        // On a busy machine the gates may fail, and then no baseline is saved.
        if ended.iter().all(|code| *code == Some(0)) {
            assert_complete(&dir.path().join("truetail-baseline"));
        }
        for file in ["truetail.xml", summary] {
            assert!(fs::read_to_string(dir.path().join(file)).is_ok_and(|text| !text.is_empty()), "{pipeline}: {file}");
        }
    }
}
