//! `truetail lab run`: load tools through a scenario, one at a time.

use std::fs;
use std::path::{Path, PathBuf};

use truetail_analysis::league::ToolState;
use truetail_engine::host;
use truetail_lab::{CancelToken, LabRunner, ToolEntry, TrialPlan};
use truetail_tools::{SearchPath, Tool};

use super::results::{Results, shown};
use super::{named, progress};
use crate::args::lab::LabRunArgs;
use crate::outcome::{Exit, Result, could_not, usage};
use crate::resolve::scenario::scenario;
use crate::{output, signals};

/// The folder that holds the results whose place nobody chose.
const PARENT: &str = "truetail-lab";

/// Does it.
///
/// # Errors
/// When there is no such scenario or tool, when no server can be had, when results cannot be written, or when none of the
/// tools gave one.
pub fn run(args: LabRunArgs) -> Result<Exit> {
    let tools = named(&args.tools)?;
    let setting = setting(&args)?;
    // The server holds a connection for each of a tool's, and the tools inherit the limit.
    let _ = host::raise_open_file_limit();
    let folder = folder(&args, &setting)?;
    let survey = LabRunner { plan: &setting, folder: &folder, force: args.force };
    let (entries, interrupted) = surveyed(&survey, &tools, args.quiet)?;
    let results = Results::of(&survey, &entries);
    results.write(&folder)?;
    output::print(&if args.json { results.json() } else { shown(&results, &folder) })?;
    match entries.iter().any(|entry| is_result(entry, &tools)) {
        _ if interrupted => Err(could_not("ended before all tools had run; the same command goes on from here")),
        true => Ok(Exit::Done),
        false => Err(could_not("none of the tools that were to run gave a result; the table says why")),
    }
}

/// Was it asked for, and did it run to a good end, now or earlier?
fn is_result(entry: &ToolEntry, tools: &[&'static dyn Tool]) -> bool {
    let asked_for = tools.iter().any(|tool| tool.name() == entry.tool.name());
    asked_for && entry.result.as_ref().is_some_and(|reading| reading.state == ToolState::Ok)
}

/// Runs the tools, and adds what is there of others. Ctrl-C ends the tool that runs.
fn surveyed(survey: &LabRunner<'_>, tools: &[&'static dyn Tool], quiet: bool) -> Result<(Vec<ToolEntry>, bool)> {
    let stop = CancelToken::new();
    let _watch = signals::end_tool_on_signal(&stop)?;
    let lookup = SearchPath::from_env();
    let mut tell = |event: truetail_lab::LabEvent<'_>| {
        if !quiet {
            progress::tell(&event);
        }
    };
    let cannot = |error| could_not(format!("the laboratory cannot work in {}: {error}", survey.folder.display()));
    let mut entries = survey.run(tools, &lookup, &stop, &mut tell).map_err(cannot)?;
    let named = |tool: &&&dyn Tool| tools.iter().any(|named| named.name() == tool.name());
    let others: Vec<_> = truetail_tools::all().iter().filter(|tool| !named(tool)).copied().collect();
    entries.extend(survey.earlier(&others, &lookup).map_err(cannot)?);
    Ok((entries, stop.is_cancelled()))
}

fn setting(args: &LabRunArgs) -> Result<TrialPlan> {
    let scenario = scenario(&args.scenario)?;
    let scenario = match args.duration {
        Some(duration) => scenario.scaled_to(duration).map_err(usage)?,
        None => scenario,
    };
    TrialPlan::new(scenario).map_err(usage)
}

/// The folder of the scenario, made if it was not there. A picture of another length has a folder of its own, so that a
/// quick look takes nothing away.
fn folder(args: &LabRunArgs, setting: &TrialPlan) -> Result<PathBuf> {
    let name = &setting.scenario.name;
    let name = args.duration.map_or_else(|| name.clone(), |duration| format!("{name}-{duration}"));
    let folder = args.out.as_deref().unwrap_or(Path::new(PARENT)).join(name);
    let toml = |folder: &Path| fs::write(folder.join("scenario.toml"), setting.scenario.to_toml());
    fs::create_dir_all(&folder)
        .and_then(|()| toml(&folder))
        .map_err(|error| could_not(format!("cannot write in {}: {error}; use --out DIR", folder.display())))?;
    Ok(folder)
}
