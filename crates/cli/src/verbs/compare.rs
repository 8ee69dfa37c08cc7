//! `truetail compare`: tests whether a service became slower.

use std::path::PathBuf;

use truetail_analysis::compare::{
    CompareGate, ExpectedDifference, StreamFigures, compare as compare_findings, objections_except,
};
use truetail_report::CompareReport;
use truetail_run::Findings;

use super::comparison::{check_places, exit_code, hand_out};
use super::history::baseline_from_history;
use super::named_run::{Named, with_verdicts};
use super::report::load;
use crate::after_load::AfterLoad;
use crate::args::compare::{CompareArgs, CompareAs};
use crate::baseline::refuse_missing;
use crate::command_line;
use crate::error::{ExitCode, Result, usage_error};

/// Compares the runs, prints the result, and appends to the history.
///
/// # Errors
/// If a folder is no run, or something cannot be written.
pub(super) fn compare(args: CompareArgs) -> Result<ExitCode> {
    check_places(&args.result)?;
    let expected = match args.compare_as {
        Some(CompareAs::Hosts) => ExpectedDifference::Target,
        None => ExpectedDifference::Nothing,
    };
    let (a, b) = match &args.from_history.baseline {
        Some(label) => baseline_from_history(&args.from_history.dir, label, args.runs, expected)?,
        None => sides(args.runs, args.against)?,
    };
    if a.is_empty() {
        return Ok(ExitCode::Open);
    }
    let a = load_all(&a)?;
    let b = load_all(&b)?;
    refuse_missing("--fail-if", &args.result.fail_if, a.iter().chain(&b).map(|run| (run.name.as_str(), &run.run)))?;
    let report = compared([&a, &b], expected, args.anyway, &args.result.fail_if);
    let mut steps = AfterLoad::default();
    hand_out(&args.result, &report, [&a, &b], || Ok(command_line::from_words(&args.typed.words)), &mut steps);
    steps.end(exit_code(&report))
}

/// Compares the runs of A and B. Objections except for the `expected` difference prevent it, unless they are compared
/// `anyway`.
pub(super) fn compared(
    [a, b]: [&[Named]; 2],
    expected: ExpectedDifference,
    anyway: bool,
    conditions: &[CompareGate],
) -> CompareReport {
    let beyond = |expected| objections_except(expected, &with_verdicts(a), &with_verdicts(b));
    let objections = beyond(expected);
    let help = if beyond(ExpectedDifference::Target).len() < objections.len() {
        "--as hosts compares runs against different hosts, and --anyway compares whatever differs."
    } else {
        "--anyway compares them all the same."
    };
    let compared = (objections.is_empty() || anyway).then(|| {
        let [of_a, of_b] = [a, b].map(streams_of_side);
        let compared = compare_findings(&findings_of_side(a), &findings_of_side(b));
        compared.with_streams(of_a.iter().map(Option::as_ref), of_b.iter().map(Option::as_ref))
    });
    let gates = compared.iter().flat_map(|found| conditions.iter().map(|gate| gate.judge(found))).collect();
    let names = |side: &[Named]| side.iter().map(|named| named.name.clone()).collect();
    CompareReport {
        a: names(a),
        b: names(b),
        runs: [a.len(), b.len()],
        objections,
        help: compared.is_none().then_some(help),
        anyway,
        comparison: compared,
        gates,
        rounds: None,
    }
}

/// Returns the runs of A and of B. Without `--against`, two runs are one of each.
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

fn findings_of_side(side: &[Named]) -> Vec<&Findings> {
    side.iter().map(|named| &named.findings).collect()
}

fn streams_of_side(side: &[Named]) -> Vec<Option<StreamFigures>> {
    side.iter().map(|named| StreamFigures::of_run(&named.run, &named.findings)).collect()
}
