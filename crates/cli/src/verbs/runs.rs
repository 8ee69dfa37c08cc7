//! `truetail runs`: lists and removes saved runs.

use std::io::{self, IsTerminal};
use std::path::Path;

use truetail_report::{run_list, run_list_json, run_list_line};
use truetail_run::catalog::{self, Catalog, IndexUse, Removal, RunOrder, SavedRun};
use truetail_run::folder::has_files_of_a_run;

use crate::args::runs::{RunsArgs, RunsKeepArgs, RunsPlaceArgs, RunsRemoveArgs, RunsVerb};
use crate::error::{ExitCode, Result, runtime_error, usage_error};
use crate::output;
use crate::output_folder::Claim;

/// Lists or removes runs.
///
/// # Errors
/// If the folder cannot be read, a run cannot be removed, or the result cannot be printed.
pub(super) fn runs(args: RunsArgs) -> Result<ExitCode> {
    match args.verb {
        Some(RunsVerb::Rm(args)) => remove(args),
        Some(RunsVerb::Keep(args)) => keep(args),
        None => list(&args),
    }
}

fn list(args: &RunsArgs) -> Result<ExitCode> {
    let parent = &args.place.dir;
    let mut runs = chosen(&args.place, IndexUse::Trusted)?;
    args.sort.sort(&mut runs);
    let parent = parent.display().to_string();
    let text = if args.json {
        run_list_json(&parent, &runs)
    } else if runs.is_empty() {
        output::note(&format!("no run in {parent} meets the conditions"));
        return Ok(ExitCode::Success);
    } else {
        run_list(&parent, &runs, output::stdout_style())
    };
    output::print(&text).map(|()| ExitCode::Success)
}

/// Returns the runs that meet the conditions, and prints a note on each run that cannot be read.
///
/// # Errors
/// If there is no such folder, it is a run itself, or it cannot be read.
pub(super) fn chosen(place: &RunsPlaceArgs, index_use: IndexUse) -> Result<Vec<SavedRun>> {
    let Catalog { runs, unreadable, .. } = catalog_of(&place.dir, index_use)?;
    for (folder, why) in unreadable {
        output::note(&format!("{folder} is left out: {why}"));
    }
    let filter = place.which.filter();
    Ok(runs.into_iter().filter(|run| filter.keeps(run)).collect())
}

/// Reads the list of the runs in a folder.
fn catalog_of(parent: &Path, index_use: IndexUse) -> Result<Catalog> {
    check_place(parent)?;
    let shown = parent.display();
    catalog::read(parent, index_use).map_err(|error| runtime_error(format!("cannot list the runs in {shown}: {error}")))
}

/// Checks that a folder may hold runs.
///
/// # Errors
/// If there is no such folder, or it is a run itself.
pub(super) fn check_place(parent: &Path) -> Result<()> {
    let shown = parent.display();
    if !parent.is_dir() {
        return Err(runtime_error(format!(
            "there is no folder {shown}; 'truetail run' saves runs under truetail-runs, and 'truetail runs DIR' lists others"
        )));
    }
    if has_files_of_a_run(parent) {
        return Err(usage_error(format!(
            "{shown} is a run, not a folder of runs; 'truetail report {shown}' prints it"
        )));
    }
    Ok(())
}

fn remove(args: RunsRemoveArgs) -> Result<ExitCode> {
    match (args.place.which.filter().is_empty(), args.all) {
        (true, false) => {
            let help = "name a condition, such as --before 30d, or --all for every run in the folder";
            return Err(usage_error(format!("'truetail runs rm' does not say which runs to remove; {help}")));
        }
        (false, true) => return Err(usage_error("--all and conditions contradict each other; give one of them")),
        _ => {}
    }
    let runs = chosen(&args.place, IndexUse::Ignored)?;
    remove_all(&args.place.dir, &runs, args.yes)
}

fn keep(args: RunsKeepArgs) -> Result<ExitCode> {
    let mut runs = chosen(&args.place, IndexUse::Ignored)?;
    runs.retain(|run| run.started_at_unix_ns.is_some());
    RunOrder::Started.sort(&mut runs);
    let old = runs.get(args.last..).unwrap_or_default();
    remove_all(&args.place.dir, old, args.yes)
}

fn remove_all(parent: &Path, runs: &[SavedRun], yes: bool) -> Result<ExitCode> {
    let shown = parent.display().to_string();
    if runs.is_empty() {
        output::note(&format!("no run in {shown} is to remove"));
        return Ok(ExitCode::Success);
    }
    if !yes && !confirmed(&shown, runs)? {
        output::note("nothing was removed");
        return Ok(ExitCode::Success);
    }
    for run in runs {
        remove_one(&parent.join(&run.folder))?;
    }
    output::print(&format!("removed {} from {}\n", number_of(runs), output::stdout_style().printable(&shown)))?;
    Ok(ExitCode::Success)
}

fn remove_one(folder: &Path) -> Result<()> {
    if let Some(left) = removed(folder)? {
        output::note(&format!("{} stays, because truetail did not write '{left}' in it", folder.display()));
    }
    Ok(())
}

/// Removes a run that no process is saving. If its folder has other files and therefore stays, returns the name of one.
pub(super) fn removed(folder: &Path) -> Result<Option<String>> {
    let claim = Claim::on(folder)?;
    let removed = catalog::remove(folder).map_err(|error| runtime_error(format!("cannot remove a run: {error}")))?;
    drop(claim);
    Ok(match removed {
        Removal::Folder => None,
        Removal::FilesOnly { left } => Some(left),
    })
}

/// Asks on the terminal whether to remove the runs.
///
/// # Errors
/// If there is no terminal to ask on.
fn confirmed(parent: &str, runs: &[SavedRun]) -> Result<bool> {
    let number = number_of(runs);
    if !io::stdin().is_terminal() {
        return Err(usage_error(format!(
            "this would remove {number} from {parent}, and there is no terminal to ask on; add --yes"
        )));
    }
    let style = output::stderr_terminal().unwrap_or_default();
    let lines: String = runs.iter().map(|run| run_list_line(parent, run, style) + "\n").collect();
    output::write_stderr(&format!("{lines}Remove {number} from {}? [y/N] ", style.printable(parent)));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(|error| runtime_error(format!("cannot read the answer: {error}")))?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

fn number_of(runs: &[SavedRun]) -> String {
    if runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", runs.len()) }
}
