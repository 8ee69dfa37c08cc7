//! `truetail history`: tells when something got slower.

use std::path::{Path, PathBuf};

use truetail_analysis::compare::ExpectedDifference;
use truetail_analysis::history::{HistoryGate, HistoryRun, history as history_of};
use truetail_report::{HistoryReport, history_json, history_text};
use truetail_run::GateState;
use truetail_run::catalog::{IndexUse, SavedRun};
use truetail_run::folder::load_run_file;

use super::runs::chosen;
use crate::args::compare::CompareAs;
use crate::args::history::HistoryArgs;
use crate::args::runs::{RunsPlaceArgs, WhichRunsArgs};
use crate::error::{ExitCode, Result, runtime_error};
use crate::output;

/// Limit on the runs that are read: a series has fewer, and other loads may lie between its runs.
const MAX_READ: usize = 10_000;

/// Prints the changes of a series of runs.
///
/// # Errors
/// If there is no such folder, no run meets the conditions, or the result cannot be printed.
pub(super) fn history(args: &HistoryArgs) -> Result<ExitCode> {
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
    runs.iter().skip(runs.len().saturating_sub(MAX_READ)).map(|run| read(&place.dir, run)).collect()
}

/// Returns the runs with this name; if no run has it, the runs with this text in their URL.
fn called(name: &str, runs: Vec<SavedRun>) -> Vec<SavedRun> {
    let is_called = |run: &SavedRun| run.name.as_deref() == Some(name);
    let has_in_url = |run: &SavedRun| run.url.as_deref().is_some_and(|url| url.contains(name));
    let named = runs.iter().any(is_called);
    runs.into_iter().filter(|run| if named { is_called(run) } else { has_in_url(run) }).collect()
}

/// Returns the runs with the name of the newest one; every run if that one has no name.
fn like_the_newest(runs: Vec<SavedRun>) -> Vec<SavedRun> {
    let newest = runs.iter().max_by_key(|run| (run.started_at_unix_ns, run.folder.clone()));
    match newest.and_then(|newest| newest.name.clone()) {
        Some(name) => called(&name, runs),
        None => runs,
    }
}

/// Limit on the runs of a baseline: more narrow the interval little, and each is read in full.
const MAX_IN_BASELINE: usize = 10;

/// Returns the runs of A and of B for `truetail compare --baseline`. A has the runs with the label that are like B,
/// since the last change of a percentile. If there are no such runs, A is empty, and a note says so. Without `b`, B is
/// the newest run.
///
/// # Errors
/// If there is no such folder, it holds no run, or a run cannot be read.
pub(super) fn baseline_from_history(
    dir: &Path,
    label: &str,
    b: Vec<PathBuf>,
    expected: ExpectedDifference,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (key, value) = label.split_once('=').unwrap_or(("branch", label));
    let all = chosen(&RunsPlaceArgs { dir: dir.to_owned(), which: WhichRunsArgs::default() }, IndexUse::Trusted)?;
    let newest = || all.iter().max_by_key(|run| (run.started_at_unix_ns, &run.folder)).map(|run| dir.join(&run.folder));
    let b = if b.is_empty() { newest().into_iter().collect() } else { b };
    let Some(first) = b.first() else {
        return Err(runtime_error(format!("there is no run in {}; make one with 'truetail run'", dir.display())));
    };
    let is_b = |folder: &Path| b.iter().any(|other| same_folder(other, folder));
    let has_label = |run: &&SavedRun| run.tags.get(key).is_some_and(|tag| tag == value);
    let mut old: Vec<&SavedRun> = all.iter().filter(has_label).filter(|run| !is_b(&dir.join(&run.folder))).collect();
    old.sort_by_key(|run| (run.started_at_unix_ns, &run.folder));
    let mut runs = old.iter().map(|run| read(dir, run)).collect::<Result<Vec<_>>>()?;
    // The newest run of a series decides about its load.
    runs.push(read_folder(first)?);
    let history = history_of(&runs, expected);
    let level = history.newest_level();
    let a: Vec<PathBuf> = level.iter().filter(|at| **at < old.len()).map(|at| dir.join(&old[*at].folder)).collect();
    if a.is_empty() {
        output::note(&format!(
            "no saved run in {} with the label {key}={value} is like {}, so nothing is compared",
            dir.display(),
            first.display()
        ));
    }
    let oldest = a.len().saturating_sub(MAX_IN_BASELINE);
    Ok((a[oldest..].to_vec(), b))
}

fn same_folder(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn read(parent: &Path, run: &SavedRun) -> Result<HistoryRun> {
    read_folder(&parent.join(&run.folder))
}

fn read_folder(folder: &Path) -> Result<HistoryRun> {
    let file = load_run_file(folder).map_err(runtime_error)?;
    Ok(HistoryRun::new(folder.display().to_string(), file))
}
