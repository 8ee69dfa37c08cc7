//! `truetail compare`: did it get slower?

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use truetail_analysis::compare::{compare as compare_findings, objections};
use truetail_report::{CompareReport, compare_history, compare_json, compare_text};
use truetail_run::{Findings, GateState};

use super::compare_page;
use super::named_run::{Named, with_verdicts};
use super::report::load;
use crate::args::compare::CompareArgs;
use crate::error::{ExitCode, Result, runtime_error, usage_error};
use crate::gating::check_place;
use crate::{command_line, output};

/// Compares, prints, and appends to the history.
///
/// # Errors
/// If a folder is no run, or something cannot be written.
pub fn compare(args: CompareArgs) -> Result<ExitCode> {
    args.html.as_deref().map_or(Ok(()), |file| check_place("--html", file))?;
    let (a, b) = sides(args.runs, args.against)?;
    let (a, b) = (load_all(&a)?, load_all(&b)?);
    let objections = objections(&with_verdicts(&a), &with_verdicts(&b));
    let compared = (objections.is_empty() || args.anyway).then(|| compare_findings(&of_side(&a), &of_side(&b)));
    let gates = compared.iter().flat_map(|found| args.fail_if.iter().map(|gate| gate.judge(found))).collect();
    let names = |side: &[Named]| side.iter().map(|named| named.name.clone()).collect();
    let report = CompareReport {
        a: names(&a),
        b: names(&b),
        objections,
        anyway: args.anyway,
        comparison: compared,
        gates,
        rounds: None,
    };
    output::print(&if args.json { compare_json(&report) } else { compare_text(&report, output::stdout_style()) })?;
    if let Some(file) = &args.html {
        compare_page::write(file, &report, [&a, &b], &command_line::of_words(&args.typed.words))?;
    }
    if let Some(file) = &args.append {
        append(file, a.iter().chain(&b))?;
    }
    Ok(exit_code(&report))
}

/// As its conditions say.
pub(super) fn exit_code(report: &CompareReport) -> ExitCode {
    let worst = report.gates.iter().map(|gate| gate.state).max();
    match (&report.comparison, worst) {
        (None, _) | (_, Some(GateState::Open)) => ExitCode::Open,
        (_, Some(GateState::Fails)) => ExitCode::GateFailed,
        (_, None | Some(GateState::Holds)) => ExitCode::Success,
    }
}

/// The runs of A and of B: two runs without `--against` are one of each.
fn sides(mut runs: Vec<PathBuf>, against: Vec<PathBuf>) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    if !against.is_empty() {
        return Ok((runs, against));
    }
    match runs.len() {
        2 => {
            let b = runs.split_off(1);
            Ok((runs, b))
        }
        1 => Err(usage_error("there is one run; name a second one to compare it with")),
        n => Err(usage_error(format!(
            "there are {n} runs, and it is not clear which belong together; write A… --against B…, such as old-1 old-2 \
             --against new-1 new-2"
        ))),
    }
}

fn load_all(paths: &[PathBuf]) -> Result<Vec<Named>> {
    let load_one = |path: &PathBuf| {
        let run = load(path)?;
        let findings = truetail_analysis::findings(&run);
        Ok(Named { name: path.display().to_string(), run, findings })
    };
    paths.iter().map(load_one).collect()
}

fn of_side(side: &[Named]) -> Vec<&Findings> {
    side.iter().map(|named| &named.findings).collect()
}

/// Appends a row a run to the history.
pub(super) fn append<'a>(file: &Path, runs: impl Iterator<Item = &'a Named>) -> Result<()> {
    let cannot = |error: std::io::Error| runtime_error(format!("cannot append to {}: {error}", file.display()));
    let rows: Vec<_> = runs.map(|named| (named.name.as_str(), &named.run, &named.findings)).collect();
    let mut out = OpenOptions::new().append(true).create(true).open(file).map_err(cannot)?;
    let is_new = out.metadata().map_err(cannot)?.len() == 0;
    out.write_all(compare_history(&rows, is_new).as_bytes()).map_err(cannot)
}
