//! Well-behaved and misbehaving tools against a real server.

mod round_trip;
mod support;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use support::{Fake, is_alive, plan};
use truetail_analysis::league::ToolState;
use truetail_lab::{CancelToken, LabEvent, LabRunner, ToolEntry, ToolResult, run_trial};
use truetail_model::time::Nanos;
use truetail_tools::{SearchPath, Tool};

const PATIENT: Nanos = Nanos::from_secs(60);
pub(crate) const NOWHERE: fn() -> SearchPath = || SearchPath { folder: "/nowhere".into(), path: Vec::new() };

fn run(tool: &Fake, folder: &Path, limit: Nanos) -> ToolResult {
    let found = tool.locate(&NOWHERE()).expect("it is here");
    run_trial(tool, &found, &plan(limit), folder, &CancelToken::new()).expect("a server");
    ToolResult::read(tool, folder).expect("it was run")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn everything_a_tool_is_given_and_leaves_is_kept() {
    let root = tempfile::tempdir().unwrap();
    let script = "cat > fed; echo \"$GREETING $1\" > said; mkdir -p results/a; echo 12345 > results/a/p99; echo hm >&2";
    let tool = Fake::new("good", script);
    let result = run(&tool, root.path(), PATIENT);
    assert_eq!((result.state, result.message.as_deref()), (ToolState::Ok, None));
    assert_eq!(result.report.as_ref().unwrap().claims.quantile(0.99).unwrap().value_ns, 12_345);
    let files = root.path().join("files");
    let said = text(&files.join("said"));
    assert!(said.starts_with("good day http://127.0.0.1:") && said.trim_end().ends_with("/api"), "{said}");
    for (name, holds) in [("fed", "from standard input\n"), ("compiled", "compiled\n"), ("decoded", "decoded\n")] {
        assert_eq!(text(&files.join(name)), holds);
    }
    assert_eq!(text(&root.path().join("stderr")), "hm\n");
    let command = text(&root.path().join("cmd.txt"));
    assert!(
        ["command", "script.sh", "exit code 0", "cpu", "wall"].iter().all(|word| command.contains(word)),
        "{command}"
    );
    assert!(text(&root.path().join("truth.csv")).starts_with("epoch,"));
    result.write_report(root.path()).unwrap();
    assert!(text(&root.path().join("report.json")).contains("12345"));
}

#[test]
fn a_failing_tool_keeps_its_output_and_says_why() {
    let root = tempfile::tempdir().unwrap();
    for (script, why) in [
        ("echo half a report; echo 'no such host' >&2; exit 3", "exit code 3: no such host"),
        ("echo nonsense", "bad: stdout, line 1: 'nonsense' is not a number (this parser was tested with bad 1.0)"),
        ("kill -9 $$", "ended by signal 9"),
        ("true", "is not a number"),
    ] {
        let result = run(&Fake::new("bad", script), root.path(), PATIENT);
        assert_eq!(result.state, ToolState::Failed, "{script}");
        assert!(result.message.as_deref().is_some_and(|message| message.contains(why)), "{:?}", result.message);
        assert!(root.path().join("stdout").is_file() && result.report.is_none());
    }
    assert_eq!(
        run(&Fake::new("bad", "echo 7; exit 4"), root.path(), PATIENT).state,
        ToolState::Ok,
        "it gave its figure"
    );
}

#[test]
fn a_tool_that_cannot_be_started_or_prepared_is_told() {
    let root = tempfile::tempdir().unwrap();
    let nowhere = Fake { program: "/nowhere/tool", ..Fake::new("lost", "") };
    let unprepared = Fake { before: "exit 1", ..Fake::new("unprepared", "echo 5") };
    for (tool, why) in [(nowhere, "cannot start /nowhere/tool"), (unprepared, "sh -c exit 1 failed")] {
        let result = run(&tool, root.path(), PATIENT);
        assert_eq!(result.state, ToolState::Failed);
        assert!(result.message.as_deref().is_some_and(|message| message.contains(why)), "{:?}", result.message);
    }
}

#[test]
fn a_tool_that_hangs_is_ended_with_its_children() {
    let root = tempfile::tempdir().unwrap();
    // The shell and its child both ignore SIGTERM.
    let script = "trap '' TERM; sleep 300 & echo $! > child; echo 5; sleep 300";
    let result = run(&Fake::new("hanging", script), root.path(), Nanos::from_secs(2));
    assert_eq!(result.state, ToolState::Hung);
    assert!(result.message.as_deref().is_some_and(|message| message.contains("2.0 s")), "{:?}", result.message);
    assert_eq!(result.run.ended.and_then(|ended| ended.signal), Some(9));
    assert_eq!(text(&root.path().join("stdout")), "5\n", "what it had said is kept");
    let child: u32 = text(&root.path().join("files/child")).trim().parse().unwrap();
    assert!(!is_alive(child));
}

#[test]
fn children_that_a_tool_leaves_behind_are_ended() {
    let root = tempfile::tempdir().unwrap();
    let result = run(&Fake::new("careless", "sleep 300 & echo $! > child; echo 5"), root.path(), PATIENT);
    assert_eq!(result.state, ToolState::Ok);
    let child: u32 = text(&root.path().join("files/child")).trim().parse().unwrap();
    assert!(!is_alive(child));
}

#[test]
fn what_a_tool_used_is_its_own() {
    let root = tempfile::tempdir().unwrap();
    // Memory of this process must not be counted as the shell's.
    let ours = vec![1_u8; 200 << 20];
    let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.4; echo 5";
    let result = run(&Fake::new("busy", script), root.path(), PATIENT);
    assert_eq!(ours.iter().map(|byte| u64::from(*byte)).sum::<u64>(), 200 << 20);
    let ended = result.run.ended.unwrap();
    assert!(ended.cpu.user_ns + ended.cpu.system_ns >= 10_000_000, "{ended:?}");
    assert!(ended.wall_ns >= 400_000_000, "{ended:?}");
    if cfg!(target_os = "linux") {
        let peak = ended.peak_memory_bytes.expect("this system says");
        assert!((100_000..64 << 20).contains(&peak), "{peak}");
    }
}

/// Runs a runner. Returns its events in words, and its entries.
fn surveyed(
    folder: &Path,
    tools: &[&'static dyn Tool],
    force: bool,
    token: &CancelToken,
) -> (Vec<String>, Vec<ToolEntry>) {
    let plan = plan(PATIENT);
    let runner = LabRunner { plan: &plan, folder, force };
    let mut told = Vec::new();
    let mut tell = |event: LabEvent<'_>| {
        told.push(match event {
            LabEvent::Starting { tool, number, of, .. } => format!("{tool} starts {number}/{of}"),
            LabEvent::Finished { tool, result } => format!("{tool} {}", result.map_or("ended", |r| r.state.name())),
            LabEvent::Reused { tool, .. } => format!("{tool} kept"),
            LabEvent::NotFound { tool, install, .. } => format!("{tool} missing: {install}"),
        });
    };
    let entries = runner.run(tools, &NOWHERE(), token, &mut tell).expect("a server");
    (told, entries)
}

#[test]
fn a_run_goes_on_after_a_failure_and_keeps_what_is_there() {
    let root = tempfile::tempdir().unwrap();
    let bad = Fake::new("bad", "exit 1").leaked();
    let good = Fake::new("good", "echo 20000000").leaked();
    let gone = Fake { here: false, ..Fake::new("gone", "") }.leaked();
    let tools: [&'static dyn Tool; 3] = [bad, gone, good];
    let (told, entries) = surveyed(root.path(), &tools, false, &CancelToken::new());
    let missing = "gone missing: fetch the fake";
    assert_eq!(told, [missing, "bad starts 1/2", "bad failed", "good starts 2/2", "good ok"]);
    let plan = plan(PATIENT);
    let runner = LabRunner { plan: &plan, folder: root.path(), force: false };
    let rows = runner.league(&entries);
    let order: Vec<_> = rows.iter().map(|row| (row.tool.as_str(), row.state)).collect();
    assert_eq!(order, [("good", ToolState::Ok), ("bad", ToolState::Failed), ("gone", ToolState::Missing)]);
    assert!(rows[2].message.as_deref().is_some_and(|message| message.contains("fetch the fake")));

    let (told, _) = surveyed(root.path(), &tools, false, &CancelToken::new());
    assert_eq!(told, ["bad kept", missing, "good kept"]);
    let (told, _) = surveyed(root.path(), &tools[2..], true, &CancelToken::new());
    assert_eq!(told, ["good starts 1/1", "good ok"]);
    let newer: [&'static dyn Tool; 1] = [Fake { version: "2.0", ..Fake::new("good", "echo 3") }.leaked()];
    let (told, _) = surveyed(root.path(), &newer, false, &CancelToken::new());
    assert_eq!(told, ["good starts 1/1", "good ok"], "another version is run");
}

#[test]
fn a_better_parser_reads_old_output_anew() {
    let root = tempfile::tempdir().unwrap();
    let tool = Fake::new("odd", "echo 12345");
    run(&tool, root.path(), PATIENT);
    fs::write(root.path().join("stdout"), "777\n").unwrap();
    let again = ToolResult::read(&tool, root.path()).expect("it was run");
    assert_eq!(again.report.unwrap().claims.quantile(0.99).unwrap().value_ns, 777);
}

#[test]
fn cancelling_ends_the_tool_and_starts_no_other() {
    let root = tempfile::tempdir().unwrap();
    let tools: [&'static dyn Tool; 2] =
        [Fake::new("long", "echo $$ > me; sleep 300").leaked(), Fake::new("next", "echo 5").leaked()];
    let token = CancelToken::new();
    let me = root.path().join("long/files/me");
    let stopper = thread::spawn({
        let token = token.clone();
        let me = me.clone();
        move || {
            while fs::read_to_string(&me).map_or(true, |text| !text.ends_with('\n')) {
                thread::sleep(Duration::from_millis(5));
            }
            token.cancel();
        }
    });
    let (told, _) = surveyed(root.path(), &tools, false, &token);
    stopper.join().unwrap();
    assert_eq!(told, ["long starts 1/2", "long ended"]);
    assert!(!is_alive(text(&me).trim().parse().unwrap()));
    let (told, _) = surveyed(root.path(), &tools[1..], false, &CancelToken::new());
    assert_eq!(told, ["next starts 1/1", "next ok"]);
    assert!(!root.path().join("long/ran.json").exists(), "an interrupted run is no result");
}
