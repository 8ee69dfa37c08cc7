//! Stored outputs of every tool, laid out in the folders of the laboratory, read into the league table and back from
//! its CSV.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use truetail_analysis::league::{ObservedModel, QUANTILES, ToolState};
use truetail_lab::{LabRunner, TrialPlan};
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::time::Nanos;
use truetail_report::league::{LeagueTable, csv, text};
use truetail_tools::{InstalledTool, LoadSpec, Tool, by_name};

use crate::NOWHERE;

/// Scenario of the stored outputs: 100/s for 6 s, with a stall of 1 s at 3 s.
const SCENARIO: &str = "name = \"captured\"\n[workload]\nrate = 100\nduration = \"6s\"\n[service]\n\
    baseline = \"10ms\"\n[[service.fault]]\nkind = \"stall\"\nat = \"3s\"\nfor = \"1s\"\n";

/// Each tool, its version, and the file with its standard output.
const CAPTURED: [(&str, &str, &str); 15] = [
    ("ab", "2.3", "stdout.txt"),
    ("autocannon", "9.0.0", "closed.json"),
    ("gatling", "3.15.1", "stdout.txt"),
    ("h2load", "1.52.0", "stdout.txt"),
    ("hey", "0.1.4", "samples.csv"),
    ("hyperfoil", "0.25.2", ""),
    ("jmeter-precise-throughput", "5.6.3", "stdout.txt"),
    ("jmeter-thread-group", "5.6.3", "stdout.txt"),
    ("k6-constant-arrival-rate", "1.8.1", ""),
    ("k6-constant-vus", "1.8.1", ""),
    ("locust", "2.47.0", ""),
    ("oha", "1.16.0", "corrected-samples.csv"),
    ("vegeta", "12.13.0", ""),
    ("wrk", "4.1.0", "stdout.txt"),
    ("wrk2", "4.0.0", "stdout.txt"),
];

fn captured(tool: &str, version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tools").join(tool).join(version).join("stall")
}

/// Writes the files that a run of `tool` would leave in `folder`, with a sample of version 1 of `ran.json`.
fn lay_out(tool: &dyn Tool, version: &str, stdout: &str, plan: &TrialPlan, folder: &Path) {
    let from = captured(tool.name(), version);
    let work = folder.join("files");
    fs::create_dir_all(&work).expect("a folder");
    let load: LoadSpec = plan.load("http://127.0.0.1:1/api".to_owned());
    let found = InstalledTool { path: "/nowhere/tool".into(), version: version.to_owned() };
    let invocation = tool.command(&found, &load, &work).expect("a command");
    for (_, pattern) in &invocation.outputs {
        let to = work.join(pattern.replace('*', "run-1"));
        let name = to.file_name().expect("a name").to_owned();
        if from.join(&name).is_file() {
            fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
            fs::copy(from.join(name), to).expect("a copy");
        }
    }
    match stdout {
        "" => fs::write(folder.join("stdout"), "").expect("a file"),
        name => drop(fs::copy(from.join(name), folder.join("stdout")).expect("a copy")),
    }
    fs::write(folder.join("stderr"), "").expect("a file");
    fs::write(folder.join("truth.csv"), truth_log()).expect("a file");
    let tool_run = json!({
        "schema": "truetail.lab/1", "tool": tool.name(), "version": version, "found_at": "/nowhere/tool",
        "scenario": plan.scenario.to_toml(),
        "load": {"url": load.url, "rate_per_second": 100.0, "duration_ns": load.duration.0, "users": load.users,
                 "connections": load.connections, "timeout_ns": null},
        "argv": ["tool"], "env": [], "outputs": [], "started_at_unix_ns": 1, "clock_started_at_unix_ns": 2,
        "limit_ns": 40_000_000_000_u64,
        "ended": {"by": "itself", "exit_code": 0, "signal": null, "wall_ns": 6_100_000_000_u64,
                  "cpu": {"user_ns": 1_000_000_000, "system_ns": 500_000_000}, "peak_memory_bytes": 1_048_576},
        "trouble": null,
    });
    fs::write(folder.join("ran.json"), tool_run.to_string()).expect("a file");
}

/// Returns the log of 600 evenly spaced requests.
fn truth_log() -> String {
    log_of((0..600).map(|n| n * 10_000_000))
}

/// Returns the log of requests that arrived at these times, in nanoseconds, and were answered after 10 ms.
fn log_of(arrivals: impl Iterator<Item = u64>) -> String {
    let row = |(n, at): (u64, u64)| format!("1,{n},{at},,{},200,answered,\n", at + 10_000_000);
    "epoch,number,arrived_ns,due_ns,answered_ns,status,ending,faults\n".to_owned()
        + &(1..).zip(arrivals).map(row).collect::<String>()
}

/// Returns a cell of the CSV. The cells that the tests read are never quoted.
fn cell<'a>(csv: &'a str, tool: &str, head: &str) -> &'a str {
    let heads = csv.lines().next().expect("heads");
    let index = heads.split(',').position(|cell| cell == head).unwrap_or_else(|| panic!("no {head}"));
    let begins = format!("{tool},");
    let line = csv.lines().find(|line| line.starts_with(&begins)).unwrap_or_else(|| panic!("no {tool} in {csv}"));
    line.split(',').nth(index).expect("every row has every column")
}

/// Audit of each tool's file, made without knowledge of the load.
const AUDITED: [(&str, &str, &str); 7] = [
    ("ab", "certain", "files/samples.tsv"),
    ("hey", "certain", "stdout"),
    ("h2load", "certain", "files/samples.tsv"),
    ("jmeter-thread-group", "certain", "files/samples.csv"),
    ("gatling", "none_seen", "files/results/run-1/simulation.log"),
    ("wrk2", "none_seen", "stdout"),
    ("wrk", "cannot_tell", "stdout"),
];

#[test]
fn the_table_repeats_the_figures_of_real_tools() {
    let root = tempfile::tempdir().expect("a folder");
    let plan = TrialPlan::new(Scenario::parse(SCENARIO, "captured.toml").expect("a scenario")).expect("it is fit");
    let tools: Vec<&'static dyn Tool> = CAPTURED.iter().map(|(tool, ..)| by_name(tool).expect("a tool")).collect();
    for (tool, (name, version, stdout)) in tools.iter().zip(CAPTURED) {
        lay_out(*tool, version, stdout, &plan, &root.path().join(name));
    }
    let runner = LabRunner { plan: &plan, folder: root.path(), force: false };
    let entries = runner.earlier(&tools, &NOWHERE()).expect("it can be read");
    let rows = runner.league(&entries);
    let duration = Nanos::from_secs(6);
    let table =
        LeagueTable { scenario: &plan.scenario, duration, truth: &plan.truth, window: &[], rows: &rows, streams: None };
    let csv = csv(&table);
    let text = text(&table, truetail_report::Style::default());
    assert_eq!(rows.len(), CAPTURED.len());
    for (name, ..) in CAPTURED {
        let row = rows.iter().find(|row| row.tool == name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(row.state, ToolState::Ok, "{name}: {:?}", row.message);
        assert_eq!(row.observed_model, Some(ObservedModel::Open), "{name}: the log says so");
        let reported = row.reported.as_ref().expect("figures");
        assert!(reported.quantile(0.5).is_some() && reported.quantile(0.99).is_some(), "{name}: {reported:?}");
        for (q, head) in QUANTILES.iter().zip(["p50_ns", "p90_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns"]) {
            let said = reported.quantile(*q).map_or(String::new(), |quantile| quantile.value_ns.to_string());
            assert_eq!(cell(&csv, name, head), said, "{name} {head}");
        }
        assert_eq!(cell(&csv, name, "cpu_seconds"), "1.5");
        assert_eq!(cell(&csv, name, "audit"), row.audit.as_ref().map_or("", |audit| audit.finding.name()), "{name}");
        assert!(text.lines().any(|line| line.trim_start().starts_with(name)), "{name} in {text}");
    }
    for (name, finding, file) in AUDITED {
        let audit = rows.iter().find(|row| row.tool == name).and_then(|row| row.audit.as_ref()).expect("an audit");
        assert_eq!((audit.finding.name(), audit.file.as_str()), (finding, file), "{name}");
        let is_omission = finding == "certain";
        assert_eq!(audit.corrected_p99_ns.is_some(), is_omission, "{name}");
        // 100 requests of the schedule fall into the stall, and 5 or 6 users send one each.
        assert!(!is_omission || audit.missing_arrivals.is_some_and(|missing| missing >= 80), "{name}: {audit:?}");
    }
}

/// Locust's forty users send one request each while no request is admitted, and none while no answer progresses. Ten
/// users could not send that many.
#[test]
fn a_closed_loop_is_recognised_with_the_users_of_the_tool() {
    const S: u64 = 1_000_000_000;
    let root = tempfile::tempdir().expect("a folder");
    let plan = TrialPlan::new(builtin::find("06").expect("a scenario")).expect("it is fit");
    let tools = [("locust-llm", "2.47.0"), ("k6-llm", "1.8.1")].map(|(name, version)| {
        let tool = by_name(name).expect("a tool");
        let folder = root.path().join(name);
        lay_out(tool, version, "", &plan, &folder);
        let arrivals = (0..1_200).map(|n| n * S / 20).filter(|at| !matches!(at / S, 22..25 | 45 | 46));
        fs::write(folder.join("truth.csv"), log_of(arrivals)).expect("a log");
        tool
    });
    let runner = LabRunner { plan: &plan, folder: root.path(), force: false };
    let rows = runner.league(&runner.earlier(&tools, &NOWHERE()).expect("it can be read"));
    let observed = |name: &str| {
        let row = rows.iter().find(|row| row.tool == name).expect("a row");
        (row.observed_model, row.arrivals_in_fault, row.planned_in_fault)
    };
    assert_eq!(observed("locust-llm"), (Some(ObservedModel::Closed), Some(40), 140));
    assert_eq!(observed("k6-llm"), (Some(ObservedModel::Partly), Some(40), 140));
}
