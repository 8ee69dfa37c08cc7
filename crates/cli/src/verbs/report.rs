//! `truetail report`: the result of a saved run.

use std::path::Path;

use truetail_run::{Run, folder};

use crate::args::report::ReportArgs;
use crate::outcome::{Exit, Result, could_not};
use crate::output;

/// Prints it. The findings are computed anew from what was recorded.
///
/// # Errors
/// When the folder is no run.
pub fn report(args: ReportArgs) -> Result<Exit> {
    let run = load(&args.run)?;
    let findings = truetail_analysis::findings(&run);
    output::print(&super::run::result(&run, &findings, Some(&args.run), args.json))?;
    Ok(Exit::of([&findings.verdict]))
}

/// The run in a folder; a file that it can do without and that is missing is told.
///
/// # Errors
/// When the folder is no run.
pub fn load(path: &Path) -> Result<Run> {
    let loaded = folder::load(path).map_err(could_not)?;
    for lacking in &loaded.missing {
        output::note(&format!("{}: {lacking}", path.display()));
    }
    Ok(loaded.run)
}
