//! `truetail merge`: one run of several.

use truetail_run::Run;

use super::report::load;
use crate::args::merge::MergeArgs;
use crate::outcome::{Exit, Result, could_not};
use crate::output;
use crate::target_folder::{Place, TargetFolder};

/// Merges, saves and prints.
///
/// # Errors
/// When a folder is no run, when the runs are no parts of one, or when the whole cannot be saved.
pub fn merge(args: MergeArgs) -> Result<Exit> {
    let runs = args.runs.iter().map(|path| load(path)).collect::<Result<Vec<Run>>>()?;
    let names: Vec<_> = args.runs.iter().map(|path| path.display().to_string()).collect();
    let run = truetail_run::merge(runs)
        .map_err(|error| could_not(format!("{error} (the runs are, in order: {})", names.join(", "))))?;
    let findings = truetail_analysis::findings(&run);
    let folder = TargetFolder::prepare(&Place::Chosen(args.out), "")?;
    let saved = folder.map(|folder| folder.save(&run, &findings)).transpose()?;
    output::print(&super::run::result(&run, &findings, saved.as_deref(), false))?;
    Ok(Exit::Done)
}
