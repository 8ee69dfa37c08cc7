//! `truetail runs`: saved runs of the simulator, with the start and the labels that a test gives them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::support::{ServeProcess, TestDir, feed};

/// Saves a run, and returns its `run.json`.
pub(super) fn template(dir: &TestDir) -> Value {
    let service = "[service]\nbaseline = \"1ms\"\n";
    let workload = "[workload]\nmodel = \"open\"\nrate = \"200/s\"\nduration = \"2s\"\n";
    dir.file("short.toml", &format!("name = \"short\"\nabout = \"short\"\n{service}{workload}"));
    let saved = dir.truetail(&["simulate", "short.toml", "--out", "template"]);
    assert_eq!(saved.code, Some(0), "{saved:?}");
    serde_json::from_slice(&fs::read(dir.path().join("template/run.json")).expect("a run")).expect("JSON")
}

/// Writes `run` as a run called `name` under `truetail-runs`.
pub(super) fn write(dir: &TestDir, name: &str, run: &Value) {
    let folder = dir.path().join("truetail-runs").join(name);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("run.json"), run.to_string()).expect("a file");
}

/// Writes three runs: of day 1, 2 and 3 of 2026, builds 1 to 3, the last of them INVALID and of another target.
fn three(dir: &TestDir) {
    let mut run = template(dir);
    for day in 1..=3u64 {
        run["started_at_unix_ns"] = (1_767_225_600_000_000_000 + (day - 1) * 86_400_000_000_000).into();
        run["tags"] = json!({"build": day.to_string()});
        run["scenario"]["name"] = Value::Null;
        run["scenario"]["url"] = if day == 3 { "http://b.test/\u{1b}[31m" } else { "http://a.test/" }.into();
        run["verdict"]["state"] = if day == 3 { "INVALID" } else { "VALID" }.into();
        write(dir, &format!("run-{day}"), &run);
    }
}

fn folders(output: &Value) -> Vec<&str> {
    output.as_array().expect("an array").iter().map(|run| run["folder"].as_str().expect("a folder")).collect()
}

#[test]
fn runs_are_listed_newest_first() {
    let dir = TestDir::new();
    three(&dir);
    let output = dir.truetail(&["runs"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    let lines: Vec<_> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{output:?}");
    assert!(lines[1].contains("INVALID") && lines[1].ends_with("truetail-runs/run-3"), "{output:?}");
    assert!(lines[3].contains("VALID") && lines[3].ends_with("truetail-runs/run-1"), "{output:?}");
    assert!(!output.stdout.contains('\u{1b}'), "{output:?}");
    assert!(dir.path().join("truetail-runs/runs.jsonl").is_file());
    assert_eq!(dir.truetail(&["runs"]).stdout, output.stdout, "the index says the same");
}

#[test]
fn programs_get_the_figures_of_each_run() {
    let dir = TestDir::new();
    three(&dir);
    let run: Value = serde_json::from_slice(&fs::read(dir.path().join("truetail-runs/run-1/run.json")).expect("a run"))
        .expect("JSON");
    let list = dir.truetail(&["runs", "--json", "--sort", "name"]).json();
    assert_eq!(folders(&list), ["truetail-runs/run-2", "truetail-runs/run-1", "truetail-runs/run-3"]);
    let first = &list[1];
    let quantile = |q: f64| {
        let all = run["response_time"]["quantiles"].as_array().expect("quantiles");
        all.iter().find(|quantile| quantile["q"] == q).expect("a quantile")["value_ns"].clone()
    };
    assert_eq!(first["p50_ns"], quantile(0.5));
    assert_eq!((&first["max_ns"], &first["planned"]), (&run["response_time"]["max_ns"], &run["tally"]["planned"]));
    assert_eq!((&first["started"], &first["errors"]), (&"2026-01-01T00:00:00Z".into(), &0.into()));
    assert_eq!((&first["tags"], &first["verdict"]), (&json!({"build": "1"}), &"VALID".into()));
    assert_eq!((&first["gates"], &first["name"]), (&json!([]), &Value::Null));
}

#[test]
fn conditions_choose_runs() {
    let dir = TestDir::new();
    three(&dir);
    for (arguments, chosen) in [
        (&["--target", "B.TEST"][..], "3"),
        (&["--since", "2026-01-02"], "32"),
        (&["--before", "2026-01-02"], "1"),
        (&["--verdict", "valid", "--verdict", "SUSPECT"], "21"),
        (&["--tag", "build=2"], "2"),
        (&["--tag", "build"], "321"),
        (&["--tag", "commit"], ""),
        (&["--since", "1h"], ""),
    ] {
        let list = dir.truetail(&[&["runs", "--json"], arguments].concat()).json();
        let ends: String = folders(&list).iter().filter_map(|folder| folder.chars().last()).collect();
        assert_eq!(ends, chosen, "{arguments:?}");
    }
}

fn kept(dir: &TestDir) -> String {
    let folder = |name: u8| dir.path().join(format!("truetail-runs/run-{name}")).is_dir();
    (1..=3).filter(|name| folder(*name)).map(|name| name.to_string()).collect()
}

#[test]
fn runs_are_removed_when_that_was_meant() {
    let dir = TestDir::new();
    three(&dir);
    let unsaid = dir.truetail(&["runs", "rm", "--yes"]);
    assert_eq!((unsaid.code, kept(&dir).as_str()), (Some(2), "123"), "{unsaid:?}");
    let unasked = dir.truetail(&["runs", "rm", "--all"]);
    assert_eq!(unasked.code, Some(2), "{unasked:?}");
    assert!(unasked.stderr.contains("remove 3 runs") && unasked.stderr.contains("add --yes"), "{unasked:?}");
    let piped = feed(dir.command(&["runs", "rm", "--all"]), "y\n");
    assert_eq!((piped.code, kept(&dir).as_str()), (Some(2), "123"), "a pipe is no terminal: {piped:?}");
    let removed = dir.truetail(&["runs", "rm", "--verdict", "invalid", "--yes"]);
    assert_eq!((removed.code, removed.stdout.as_str()), (Some(0), "removed 1 run from truetail-runs\n"), "{removed:?}");
    assert_eq!(kept(&dir), "12");
    let newest = dir.truetail(&["runs", "keep", "--last", "1", "--yes"]);
    assert_eq!((newest.code, kept(&dir).as_str()), (Some(0), "2"), "{newest:?}");
    assert!(dir.path().join("template/run.json").is_file(), "it is in another folder");
    assert_eq!(folders(&dir.truetail(&["runs", "--json"]).json()), ["truetail-runs/run-2"]);
}

/// A link to a run elsewhere is neither listed nor followed, and a run that is being saved is not removed.
#[test]
fn nothing_outside_the_folder_is_removed() {
    let dir = TestDir::new();
    three(&dir);
    std::os::unix::fs::symlink(dir.path().join("template"), dir.path().join("truetail-runs/link")).expect("a link");
    fs::write(dir.path().join("truetail-runs/run-1/notes.txt"), "mine").expect("a file");
    let claimed = fs::File::open(dir.path().join("truetail-runs/run-3")).expect("a folder");
    claimed.lock().expect("a lock");
    let removed = dir.truetail(&["runs", "rm", "--all", "--yes"]);
    assert_eq!(removed.code, Some(1), "{removed:?}");
    assert!(removed.stderr.contains("has not ended"), "{removed:?}");
    assert!(removed.stderr.contains("because truetail did not write 'notes.txt'"), "{removed:?}");
    assert_eq!(kept(&dir), "13");
    assert!(dir.path().join("truetail-runs/run-3/run.json").is_file());
    assert!(!dir.path().join("truetail-runs/run-1/run.json").exists());
    assert!(dir.path().join("template/run.json").is_file());
}

#[test]
fn what_makes_no_sense_is_one_line() {
    let dir = TestDir::new();
    three(&dir);
    for (arguments, code, part) in [
        (&["missing"][..], 1, "there is no folder missing"),
        (&["truetail-runs/run-1"], 2, "is a run, not a folder of runs"),
        (&["--since", "yesterday"], 2, "write a time ago"),
        (&["--tag", "=1"], 2, "write KEY=VALUE"),
        (&["--sort", "p75"], 2, "p75"),
        (&["keep", "--yes"], 2, "--last"),
        (&["rm", "--all", "--since", "1d", "--yes"], 2, "give one of them"),
    ] {
        let output = dir.truetail(&[&["runs"], arguments].concat());
        assert_eq!((output.code, output.stderr.lines().count()), (Some(code), 1), "{output:?}");
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
    assert_eq!(kept(&dir), "123");
}

#[test]
fn a_run_keeps_its_name_its_labels_and_those_of_the_build_server() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    dir.file("truetail.toml", &format!("[run.checkout]\nurl = \"{}\"\nrate = 100\ntag = \"env=test\"\n", server.api()));
    let mut command = dir.command(&["run", "checkout", "-d", "200ms", "--quiet", "--tag", "env=stage", "--tag", "a=1"]);
    command.env("GITHUB_SHA", "0123abc").env("GITHUB_RUN_ID", "77").env("GITHUB_REF_NAME", "main");
    command.env_remove("GITHUB_HEAD_REF");
    super::support::TestProcess::start(command).end();
    let list = dir.truetail(&["runs", "--json", "--tag", "commit=0123abc"]).json();
    assert_eq!((folders(&list).len(), &list[0]["name"]), (1, &"checkout".into()), "{list}");
    let tags = json!({"a": "1", "branch": "main", "commit": "0123abc", "env": "stage", "job": "77"});
    assert_eq!(list[0]["tags"], tags);
    let folder = list[0]["folder"].as_str().expect("a folder");
    assert!(Path::new(folder).starts_with("truetail-runs"), "{folder}");
    let wrong = dir.truetail(&["run", "checkout", "--tag", "a b=1"]);
    assert_eq!((wrong.code, wrong.stderr.lines().count()), (Some(2), 1), "{wrong:?}");
}
