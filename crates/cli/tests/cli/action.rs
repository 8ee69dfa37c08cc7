//! The GitHub action: its file, and its script against a server of this test.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use saphyr::{LoadableYamlNode, Yaml};

use super::documented::root;
use super::support::{CommandOutput, ServeProcess, TestDir, TestProcess, assert_complete};

/// Returns the names after `prefix` in a text.
fn names(text: &str, prefix: &str) -> BTreeSet<String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let after = text.match_indices(prefix).map(|(at, _)| &text[at + prefix.len()..]);
    after.map(|rest| rest.chars().take_while(|c| is_of_name(*c)).collect()).collect()
}

#[test]
fn the_action_passes_every_input_on() {
    let text = fs::read_to_string(root().join("action.yml")).expect("action.yml");
    let script = fs::read_to_string(root().join("tools/action.sh")).expect("a script");
    let documents = Yaml::load_from_str(&text).expect("YAML");
    let declared = documents[0].as_mapping_get("inputs").and_then(Yaml::as_mapping).expect("inputs");
    let declared: BTreeSet<String> = declared.keys().filter_map(|key| key.as_str().map(str::to_owned)).collect();
    assert_eq!(names(&text, "inputs."), declared);
    // The script knows the same variables that the action sets.
    assert_eq!(names(&text, "TRUETAIL_"), names(&script, "TRUETAIL_"));
    let page = fs::read_to_string(root().join("examples/ci/README.md")).expect("a page");
    for input in declared {
        assert!(page.contains(&format!("`{input}`")), "examples/ci/README.md does not name {input}");
    }
}

/// A condition that stalls of a busy machine do not break: 101 times the median.
const GATE: &str = "p50 worse than 10000%";

/// Runs the script as job `number` of branch `branch`.
fn job(dir: &TestDir, number: u32, branch: &str, run: &str) -> CommandOutput {
    let script = root().join("tools/action.sh").canonicalize().expect("a script").display().to_string();
    let mut command = dir.command_by(&["bash", &script], &[]);
    let path = format!("{}:{}", dir.path().join("bin").display(), std::env::var("PATH").expect("a PATH"));
    command.env("PATH", path).env("GITHUB_STEP_SUMMARY", dir.path().join("page.md"));
    command.env("GITHUB_SHA", format!("c{number}")).env("GITHUB_RUN_ID", number.to_string());
    command.env("GITHUB_REF_NAME", branch).env("GITHUB_RUN_ATTEMPT", "1").env("TRUETAIL_RUN", run);
    command.env_remove("GITHUB_HEAD_REF").env_remove("GITHUB_BASE_REF");
    command.env("TRUETAIL_BASELINE", "main").env("TRUETAIL_OPEN_PASSES", "true").env("TRUETAIL_KEEP", "2");
    command.env("TRUETAIL_FAIL_IF", GATE);
    TestProcess::start(command).end()
}

#[test]
fn each_job_is_compared_with_the_runs_of_its_base() {
    let dir = TestDir::new();
    let server = ServeProcess::start(&dir, "01");
    fs::create_dir(dir.path().join("bin")).expect("a folder");
    symlink(env!("CARGO_BIN_EXE_truetail"), dir.path().join("bin/truetail")).expect("a link");
    let run = format!("{} -r 100 -d 2s --header 'X-Name: a b'", server.api());
    let difference = || fs::read_to_string(dir.path().join("truetail-difference.md")).expect("a file");
    let first = job(&dir, 1, "main", &run);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(difference().contains("so nothing is compared"), "{first:?}");
    let saved = assert_complete(&dir.path().join("truetail-runs/ci-1-1"));
    assert!(saved["command"].as_str().is_some_and(|command| command.contains("'X-Name: a b'")), "{}", saved["command"]);
    let second = job(&dir, 2, "feature", &run);
    assert_eq!(second.code, Some(0), "{second:?}");
    assert!(difference().contains("    A: truetail-runs/ci-1-1\n    B: truetail-runs/ci-2-1\n"), "{}", difference());
    // On a busy machine the gate may stay open, and a run may be INVALID.
    let results = [format!("PASSED {GATE}: "), format!("OPEN {GATE}: "), "Not compared: ".to_owned()];
    let judged = results.iter().any(|result| difference().contains(result));
    assert!(judged, "{}", difference());
    let third = job(&dir, 3, "main", &run);
    assert_eq!(third.code, Some(0), "{third:?}");
    let kept: BTreeSet<_> = dir.runs().into_iter().filter(|path| path.is_dir()).collect();
    let names: Vec<_> = kept.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    assert_eq!(names, ["ci-2-1", "ci-3-1"], "the newest two");
    let unreachable = job(&dir, 4, "main", "http://127.0.0.1:9/ -r 100 -d 1s");
    assert_eq!(unreachable.code, Some(1), "{unreachable:?}");
}
