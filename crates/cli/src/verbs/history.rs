//! `truetail history`: tells when something got slower.

use std::path::{Path, PathBuf};

use truetail_analysis::compare::ExpectedDifference;
use truetail_analysis::history::{HistoryGate, HistoryRun, history as history_of};
use truetail_report::{HistoryReport, history_json, history_text};
use truetail_run::catalog::{IndexUse, SavedRun};
use truetail_run::folder::load_run_file;
use truetail_run::{Facts, GateState};

use super::runs::chosen;
use crate::args::compare::CompareAs;
use crate::args::history::HistoryArgs;
use crate::args::runs::RunsPlaceArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::output;

/// Most runs that are read: a series has fewer, and other loads may lie between its runs.
const MOST_READ: usize = 10_000;

/// Prints the changes of a series of runs.
///
/// # Errors
/// If there is no such folder, no run meets the conditions, or the result cannot be printed.
pub fn history(args: &HistoryArgs) -> Result<ExitCode> {
    let runs = series(args)?;
    let expected = match args.compare_as {
        Some(CompareAs::Hosts) => ExpectedDifference::Target,
        None => ExpectedDifference::Nothing,
    };
    let history = history_of(&runs, expected);
    let gates: Vec<_> = args.fail_if.iter().map(|gate: &HistoryGate| gate.judge(&history)).collect();
    let worst = gates.iter().map(|gate| gate.state).max();
    let report = HistoryReport { history, gates };
    let text = if args.json { history_json(&report) } else { history_text(&report, output::stdout_style()) };
    output::print(&text)?;
    Ok(match worst {
        Some(GateState::Fails) => ExitCode::GateFailed,
        Some(GateState::Open) => ExitCode::Open,
        Some(GateState::Holds) | None => ExitCode::Success,
    })
}

/// Reads the runs that the arguments mean, oldest first.
fn series(args: &HistoryArgs) -> Result<Vec<HistoryRun>> {
    let (dir, name) = match &args.what {
        Some(what) if Path::new(what).is_dir() => (PathBuf::from(what), None),
        Some(name) => (args.dir.clone(), Some(name.as_str())),
        None => (args.dir.clone(), None),
    };
    let place = RunsPlaceArgs { dir, which: args.which.clone() };
    let runs = chosen(&place, IndexUse::Trusted)?;
    let mut runs = match name {
        Some(name) => called(name, runs),
        None => like_the_newest(runs),
    };
    if runs.is_empty() {
        let shown = place.dir.display();
        let what = name.map_or(String::new(), |name| format!(" called '{name}'"));
        return Err(runtime_error(format!(
            "no run{what} in {shown} meets the conditions; 'truetail runs {shown}' lists them"
        )));
    }
    runs.sort_by(|a, b| (a.started_at_unix_ns, &a.folder).cmp(&(b.started_at_unix_ns, &b.folder)));
    runs.iter().skip(runs.len().saturating_sub(MOST_READ)).map(|run| read(&place.dir, run)).collect()
}

/// Returns the runs with this name; if there are none, the runs with this text in their URL.
fn called(name: &str, runs: Vec<SavedRun>) -> Vec<SavedRun> {
    let is_called = |run: &SavedRun| run.name.as_deref() == Some(name);
    let has_in_url = |run: &SavedRun| run.url.as_deref().is_some_and(|url| url.contains(name));
    let named = runs.iter().any(is_called);
    runs.into_iter().filter(|run| if named { is_called(run) } else { has_in_url(run) }).collect()
}

/// Returns the runs with the name of the newest one; if it has none, every run.
fn like_the_newest(runs: Vec<SavedRun>) -> Vec<SavedRun> {
    let newest = runs.iter().max_by_key(|run| (run.started_at_unix_ns, run.folder.clone()));
    match newest.and_then(|newest| newest.name.clone()) {
        Some(name) => called(&name, runs),
        None => runs,
    }
}

fn read(parent: &Path, run: &SavedRun) -> Result<HistoryRun> {
    let folder = parent.join(&run.folder);
    let file = load_run_file(&folder).map_err(runtime_error)?;
    let verdict = file.verdict.clone();
    let times = file.response_time.clone();
    let folder = folder.display().to_string();
    Ok(HistoryRun { folder, facts: Facts::from(file), verdict, times })
}
