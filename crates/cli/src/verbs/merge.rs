//! `truetail merge`: one run of several.

use std::path::PathBuf;

use truetail_run::Run;

use super::report::load;
use crate::args::merge::MergeArgs;
use crate::outcome::{Exit, Result, could_not, usage};
use crate::output;
use crate::target_folder::{Place, TargetFolder};

/// Merges, saves and prints.
///
/// # Errors
/// When `--out` is one of the runs, when a folder is no run, when the runs are no parts of one, or when the whole cannot be
/// saved.
pub fn merge(args: MergeArgs) -> Result<Exit> {
    check_place(&args)?;
    let runs = args.runs.iter().map(|path| load(path)).collect::<Result<Vec<Run>>>()?;
    let names: Vec<_> = args.runs.iter().map(|path| path.display().to_string()).collect();
    let run = truetail_run::merge(runs)
        .map_err(|error| could_not(format!("{error} (the runs are, in order: {})", names.join(", "))))?;
    let findings = truetail_analysis::findings(&run);
    let folder = TargetFolder::prepare(&Place::Chosen(args.out), "")?;
    let saved = folder.map(|folder| folder.save(&run, &findings)).transpose()?;
    output::print(&super::run::result(&run, &findings, saved.as_deref(), false))?;
    Ok(Exit::of([&findings.verdict]))
}

/// The whole must not take the place of a part: the part would be lost, and the next merge would count the others twice.
fn check_place(args: &MergeArgs) -> Result<()> {
    let Ok(out) = args.out.canonicalize() else { return Ok(()) };
    let is_out = |run: &&PathBuf| run.canonicalize().is_ok_and(|run| run == out);
    match args.runs.iter().find(is_out) {
        None => Ok(()),
        Some(run) => Err(usage(format!(
            "--out {} is {}, one of the runs to be merged, and would be overwritten; choose a folder of its own",
            args.out.display(),
            run.display()
        ))),
    }
}
