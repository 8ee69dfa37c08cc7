//! `truetail merge`: merges runs into one.

use std::path::PathBuf;

use truetail_run::Run;

use super::report::load;
use crate::args::merge::MergeArgs;
use crate::args::screen::ScreenArgs;
use crate::error::{ExitCode, Result, runtime_error, usage_error};
use crate::output;
use crate::output_folder::{OutputFolder, SaveTo};

/// Merges, saves and prints.
///
/// # Errors
/// If `--out` is one of the runs, a folder is no run, the runs have different workloads, or the result cannot be saved.
pub fn merge(args: MergeArgs) -> Result<ExitCode> {
    check_out(&args)?;
    let save_to = SaveTo::folder(args.out, args.force);
    OutputFolder::check(&save_to)?;
    let runs = args.runs.iter().map(|path| load(path)).collect::<Result<Vec<Run>>>()?;
    let names: Vec<_> = args.runs.iter().map(|path| path.display().to_string()).collect();
    let run = truetail_run::merge(runs)
        .map_err(|error| runtime_error(format!("{error} (runs in order: {})", names.join(", "))))?;
    let findings = truetail_analysis::findings(&run);
    let folder = OutputFolder::prepare(&save_to, "")?;
    let saved = folder.map(|folder| folder.save(&run, &findings)).transpose()?;
    output::print(&super::run::result(&run, &findings, saved.as_deref(), false, ScreenArgs::default()))?;
    Ok(ExitCode::from_verdicts([&findings.verdict]))
}

/// Refuses one of the runs as `--out`: it would be lost, and the next merge would count the others twice.
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
