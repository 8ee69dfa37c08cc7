//! `truetail report`: the result of a saved run.

use std::path::Path;

use truetail_run::{Run, folder};

use crate::args::report::ReportArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::output;

/// Prints a saved run. The findings are computed again from what was recorded.
///
/// # Errors
/// If the folder is no run.
pub fn report(args: ReportArgs) -> Result<ExitCode> {
    let run = load(&args.run)?;
    let findings = truetail_analysis::findings(&run);
    output::print(&super::run::result(&run, &findings, Some(&args.run), args.json, args.screen))?;
    Ok(ExitCode::from_verdicts([&findings.verdict]))
}

/// Loads the run in a folder, with a note on each optional file that is missing.
///
/// # Errors
/// If the folder is no run.
pub fn load(path: &Path) -> Result<Run> {
    let loaded = folder::load(path).map_err(runtime_error)?;
    for lacking in &loaded.missing {
        output::note(&format!("{}: {lacking}", path.display()));
    }
    Ok(loaded.run)
}
