//! `truetail ab`: runs A and B in turns and tests whether B is slower. Module `runner` makes and saves the single runs.

mod runner;

use truetail_analysis::compare::{ExpectedDifference, objections_except};
use truetail_report::{CompareReport, RoundsEnd, RoundsReport};
use truetail_requests::redacted_url;
use truetail_study::ab::{AbPlan, AbResult, EndReason, Ending, run_rounds};

use super::comparison::{check_places, exit_code, hand_out};
use super::named_run::with_verdicts;
use crate::after_load::AfterLoad;
use crate::args::ab::{AbArgs, RoundsArgs};
use crate::command_line;
use crate::error::{CliError, ExitCode, Result};
use runner::Runner;

/// Default number of rounds.
const ROUNDS: u32 = 5;
/// Default limit of rounds with `--until-decided`, which gives four looks.
const MAX_ROUNDS: u32 = 12;

/// Runs A and B in turns, compares them, prints the result, and appends to the history.
///
/// # Errors
/// If a run cannot be made, after printing what was measured before; or if something cannot be written.
pub(super) fn ab(args: AbArgs) -> Result<ExitCode> {
    check_places(&args.result)?;
    let plan = AbPlan { ending: ending(args.rounds), gates: args.result.fail_if.clone() };
    let mut runner = Runner::start(&args, plan.ending.most())?;
    let result = run_rounds(&plan, &mut runner);
    let report = report(&args, &plan, &result, &runner);
    let (a, b) = runner.sides();
    let mut steps = AfterLoad::default();
    hand_out(&args.result, &report, [a, b], || command_line::for_ab(&args), &mut steps);
    let ended = match result.ended {
        EndReason::Failed(error) => Err(error),
        EndReason::Stopped => Ok(after_signal(exit_code(&report), runner.signal())),
        EndReason::Spoilt | EndReason::Invalid if exit_code(&report) == ExitCode::Success => Ok(ExitCode::Open),
        EndReason::AllDone | EndReason::Decided | EndReason::Spoilt | EndReason::Invalid => Ok(exit_code(&report)),
    };
    steps.end_with(ended)
}

fn ending(rounds: RoundsArgs) -> Ending {
    if rounds.until_decided {
        Ending::Decided { most: rounds.max_rounds.unwrap_or(MAX_ROUNDS) }
    } else {
        Ending::After(rounds.rounds.unwrap_or(ROUNDS))
    }
}

/// Returns the exit code after a signal. A failed gate stays failed; anything else gives way to the signal.
fn after_signal(code: ExitCode, signal: Option<i32>) -> ExitCode {
    match signal {
        Some(signal) if code != ExitCode::GateFailed => ExitCode::Signal(signal),
        _ => code,
    }
}

fn report(args: &AbArgs, plan: &AbPlan, result: &AbResult<CliError>, runner: &Runner<'_>) -> CompareReport {
    let (a, b) = runner.sides();
    let objections = objections_except(ExpectedDifference::Target, &with_verdicts(a), &with_verdicts(b));
    let is_compared = objections.is_empty() || args.anyway;
    CompareReport {
        help: (!is_compared).then_some("--anyway compares them all the same."),
        a: vec![redacted_url(&args.a)],
        b: vec![redacted_url(&args.b)],
        runs: [a.len(), b.len()],
        objections,
        anyway: args.anyway,
        comparison: result.comparison.clone().filter(|_| is_compared),
        gates: if is_compared { result.gates.clone() } else { Vec::new() },
        rounds: Some(RoundsReport {
            done: result.rounds,
            most: plan.ending.most(),
            looks: plan.ending.looks().len() as u32,
            ended: match result.ended {
                EndReason::AllDone => RoundsEnd::AllDone,
                EndReason::Decided => RoundsEnd::Decided,
                EndReason::Stopped => RoundsEnd::Interrupted,
                EndReason::Invalid => RoundsEnd::Invalid,
                EndReason::Spoilt => RoundsEnd::GeneratorLimit,
                EndReason::Failed(_) => RoundsEnd::Failed,
            },
            spoilt: result.spoilt,
            folder: runner.has_saved().then(|| runner.folder().display().to_string()),
        }),
    }
}
