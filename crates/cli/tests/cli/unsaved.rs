//! If something cannot be written after the load, the result is still shown, and everything else is written.

use std::fs;

use super::support::{ServeProcess, TestDir, TestProcess};

const LOAD: [&str; 4] = ["-r", "100", "-d", "1s"];

#[test]
fn a_folder_lost_during_a_run_keeps_summary_and_gates() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    let files = ["--fail-if", "p50 > 10s", "--out", "here", "--html", "page.html", "--junit", "gates.xml"];
    let api = served.api();
    let arguments = [&["run", api.as_str()], &LOAD[..], &files].concat();
    let mut running = TestProcess::start(dir.command(&arguments));
    running.wait_for_stderr("in flight");
    let lost = dir.path().join("here");
    fs::remove_dir_all(&lost).expect("the folder of the run");
    fs::write(&lost, "something else").expect("a file in its place");
    let output = running.end();
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stdout.contains("p99 ") && output.stdout.contains("p50 > 10s"), "{output:?}");
    let last = output.stderr.lines().last().expect("the error");
    assert!(last.contains("here") && last.contains("not a folder"), "{output:?}");
    assert!(dir.path().join("page.html").exists() && dir.path().join("gates.xml").exists(), "{output:?}");
}

/// `/dev/full` acts like a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_written_does_not_stop_the_others() {
    let dir = TestDir::new();
    let served = ServeProcess::start(&dir, "01-healthy");
    for (full, rest) in [("--html", "--junit"), ("--junit", "--html"), ("--markdown", "--html")] {
        let name = format!("for{full}");
        let files = [full, "/dev/full", rest, "kept", "--out", &name];
        let output = dir.truetail(&[&["run", &served.api()], &LOAD[..], &files].concat());
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.stdout.contains("p99 "), "{output:?}");
        assert!(output.stderr.lines().last().expect("the error").contains("cannot write /dev/full"), "{output:?}");
        assert!(dir.path().join("kept").exists() && dir.path().join(&name).join("run.json").exists(), "{output:?}");
        fs::remove_file(dir.path().join("kept")).expect("a file");
        let report = dir.truetail(&["report", &name, "--csv=csv", "--junit", "/dev/full", "-o", "kept"]);
        assert_eq!(report.code, Some(1), "{report:?}");
        assert!(report.stdout.contains("p99 "), "{report:?}");
        assert!(dir.path().join("kept").exists() && dir.path().join("csv").exists(), "{report:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_simulation_is_shown_though_a_file_of_it_cannot_be_written() {
    let dir = TestDir::new();
    let output = dir.truetail(&["simulate", "02", "--slo", "p50 < 1s", "--junit", "/dev/full", "--markdown", "kept"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stdout.contains("p99 ") && output.stdout.contains("PASSED p50 < 1s"), "{output:?}");
    assert!(output.stderr.contains("cannot write /dev/full") && dir.path().join("kept").exists(), "{output:?}");
}
