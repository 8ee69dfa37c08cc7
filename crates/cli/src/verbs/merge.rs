//! `truetail merge`: merges runs into one.

use std::path::PathBuf;

use truetail_model::arrival::Trace;
use truetail_run::folder::Loaded;
use truetail_run::{MergeError, Merger, MissingStripes, Run};

use super::report::load_all;
use crate::args::merge::MergeArgs;
use crate::error::{CliError, ExitCode, Result, runtime_error, usage_error};
use crate::gating::Gating;
use crate::output_folder::{OutputFolder, SaveTo};
use crate::resolve::{load, replay};
use crate::stages::{Delivery, Judged};

/// Merges runs, saves the result, and prints it.
///
/// # Errors
/// If `--out` is one of the runs, a folder is no run, the runs have different workloads, or the result cannot be saved.
pub(super) fn merge(args: MergeArgs) -> Result<ExitCode> {
    check_out(&args)?;
    let holes = if args.partial {
        MissingStripes::NeverIssued { recording: recording(&args)? }
    } else {
        MissingStripes::Refused
    };
    let save_to = SaveTo::folder(args.out, args.force);
    OutputFolder::check(&save_to)?;
    let run = merged(&args.runs, holes)?;
    let folder = OutputFolder::prepare(&save_to, "")?;
    let judged = Judged { folder, ..Judged::of(run, Gating::default(), &[]) };
    let code = ExitCode::from_verdicts([&judged.findings.verdict]);
    judged.deliver(&Delivery::default()).steps.end(code)
}

fn recording(args: &MergeArgs) -> Result<Option<Trace>> {
    let trace = args.trace.as_deref().map(load::trace).transpose()?;
    Ok(trace.map(|trace| replay::at_speed(trace, args.speed)))
}

/// Merges the runs one after the other, so that memory holds only their sum and one of them.
///
/// # Errors
/// If a run cannot be read, or the runs are not parts of one load.
pub(super) fn merged(runs: &[PathBuf], holes: MissingStripes) -> Result<Run> {
    let mut merger = Merger::default();
    for path in runs {
        let Loaded { run, verdict, .. } = load_all(path)?;
        merger.add(run, Some(&verdict)).map_err(|error| refused(&error, runs))?;
    }
    merger.finish(holes).map_err(|error| refused(&error, runs))
}

/// Adds the paths of the runs whose numbers the error mentions.
fn refused(error: &MergeError, runs: &[PathBuf]) -> CliError {
    let named = |number: &usize| Some(format!("run {number} is {}", runs.get(number - 1)?.display()));
    let named: Vec<_> = error.runs().iter().filter_map(named).collect();
    let which = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
    runtime_error(format!("{error}{which}"))
}

/// Refuses an input run as `--out`. It would be overwritten, and the next merge would count the other runs twice.
fn check_out(args: &MergeArgs) -> Result<()> {
    let Ok(out) = args.out.canonicalize() else { return Ok(()) };
    let is_out = |run: &&PathBuf| run.canonicalize().is_ok_and(|run| run == out);
    match args.runs.iter().find(is_out) {
        None => Ok(()),
        Some(run) => Err(usage_error(format!(
            "--out {} is {}, which is one of the runs; choose another folder for the result",
            args.out.display(),
            run.display()
        ))),
    }
}
