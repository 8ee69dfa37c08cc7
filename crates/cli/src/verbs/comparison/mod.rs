//! Output of `truetail compare` and `truetail ab`: text, page and history.

mod page;

pub(super) use page::{DRAWN, Surroundings, html};

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use truetail_report::{CompareReport, compare_history, compare_json, compare_text};
use truetail_run::GateState;

use super::named_run::Named;
use crate::after_load::AfterLoad;
use crate::args::comparison::ComparisonArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::gating::check_place;
use crate::output;

/// Checks, before anything is measured, that the output files can be written.
pub(super) fn check_places(args: &ComparisonArgs) -> Result<()> {
    let places = [("--html", &args.html), ("--append", &args.append)];
    places.into_iter().try_for_each(|(option, file)| file.as_deref().map_or(Ok(()), |file| check_place(option, file)))
}

/// Prints the comparison of A and B. If at least one run exists, also writes the page and the history that were asked
/// for. The page shows the command line `command`.
pub(super) fn hand_out(
    args: &ComparisonArgs,
    report: &CompareReport,
    [a, b]: [&[Named]; 2],
    command: impl FnOnce() -> Result<String>,
    steps: &mut AfterLoad,
) {
    let text = if args.json { compare_json(report) } else { compare_text(report, output::stdout_style()) };
    steps.tried(output::print(&text));
    if a.is_empty() && b.is_empty() {
        return;
    }
    if let Some(file) = &args.html {
        steps.tried(command().and_then(|command| page::write(file, report, [a, b], &command)));
    }
    if let Some(file) = &args.append {
        steps.tried(append(file, a.iter().chain(b)));
    }
}

/// Returns the exit code that the conditions of the comparison determine.
pub(super) fn exit_code(report: &CompareReport) -> ExitCode {
    let worst = report.gates.iter().map(|gate| gate.state).max();
    match (&report.comparison, worst) {
        (None, _) | (_, Some(GateState::Open)) => ExitCode::Open,
        (_, Some(GateState::Fails)) => ExitCode::GateFailed,
        (_, None | Some(GateState::Holds)) => ExitCode::Success,
    }
}

/// Appends one row per run to the history.
fn append<'a>(file: &Path, runs: impl Iterator<Item = &'a Named>) -> Result<()> {
    let cannot = |error: std::io::Error| runtime_error(format!("cannot append to {}: {error}", file.display()));
    let rows: Vec<_> = runs.map(|named| (named.name.as_str(), &named.run, &named.findings)).collect();
    let mut out = OpenOptions::new().append(true).create(true).open(file).map_err(cannot)?;
    let is_new = out.metadata().map_err(cannot)?.len() == 0;
    out.write_all(compare_history(&rows, is_new).as_bytes()).map_err(cannot)
}
