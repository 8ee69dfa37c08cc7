//! `truetail lab run`: runs load tools through a scenario, one at a time.

use std::fs;
use std::path::{Path, PathBuf};

use truetail_analysis::league::ToolState;
use truetail_engine::host;
use truetail_lab::{CancelToken, LabRunner, ToolEntry, TrialPlan};
use truetail_server::SPEAKS_HTTP2;
use truetail_tools::{SearchPath, Tool};

use super::progress;
use super::results::Results;
use crate::after_load::AfterLoad;
use crate::args::lab::LabRunArgs;
use crate::error::{ExitCode, Result, runtime_error, usage_error};
use crate::resolve::scenario::scenario;
use crate::{output, signals};

/// Default folder for results.
const PARENT: &str = "truetail-lab";

/// Runs the tools, saves the league, and prints it.
///
/// # Errors
/// If the scenario or a tool does not exist, no server starts, results cannot be written, or no tool gave a result.
pub(super) fn run(args: LabRunArgs) -> Result<ExitCode> {
    let plan = plan(&args)?;
    let tools = named(&args.tools, &plan)?;
    // The server holds one connection for each connection of a tool. The tools inherit the limit.
    let _ = host::raise_open_file_limit();
    let folder = folder(&args, &plan)?;
    let runner = LabRunner { plan: &plan, folder: &folder, force: args.force };
    let (entries, interrupted) = run_tools(&runner, &tools, args.quiet)?;
    let results = Results::collect(&runner, &entries);
    let mut steps = AfterLoad::default();
    steps.tried(output::print(&if args.json { results.json() } else { results.text(&folder) }));
    steps.tried(results.write(&folder));
    let ended = match entries.iter().any(|entry| is_result(entry, &tools)) {
        _ if interrupted => {
            Err(runtime_error("stopped before all tools had run; run the same command again to continue"))
        }
        true => Ok(ExitCode::Success),
        false => Err(runtime_error("no tool produced a result; the table says why")),
    };
    steps.end_with(ended)
}

/// Returns the named tools in registry order. Without names, returns all that speak the protocol of the plan and
/// measure what it answers.
fn named(names: &[String], plan: &TrialPlan) -> Result<Vec<&'static dyn Tool>> {
    let known = truetail_tools::names();
    for name in names.iter().map(|name| name.trim()) {
        if !known.contains(&name) {
            return Err(usage_error(format!("unknown tool '{name}'; the tools are {}", known.join(", "))));
        }
    }
    let streams = plan.stream_truth.is_some();
    let can = |tool: &dyn Tool| tool.protocols().can(plan.grpc);
    let wanted = |tool: &&dyn Tool| match names.is_empty() {
        true => can(*tool) && tool.measures_streams() == streams,
        false => names.iter().any(|name| name.trim() == tool.name()),
    };
    let tools: Vec<_> = truetail_tools::all().iter().copied().filter(|tool| wanted(tool)).collect();
    match tools.iter().find(|tool| !can(**tool)).map(|tool| tool.name()) {
        None => Ok(tools),
        Some(name) if plan.grpc => Err(usage_error(format!("{name} does not call gRPC; leave out --grpc"))),
        Some(name) => Err(usage_error(format!("{name} only calls gRPC; add --grpc"))),
    }
}

/// Returns true if the tool was asked for and succeeded, now or earlier.
fn is_result(entry: &ToolEntry, tools: &[&'static dyn Tool]) -> bool {
    let asked_for = tools.iter().any(|tool| tool.name() == entry.tool.name());
    asked_for && entry.result.as_ref().is_some_and(|reading| reading.state == ToolState::Ok)
}

/// Runs the tools, and adds earlier results of the tools not asked for. Also returns true if Ctrl-C ended it.
fn run_tools(runner: &LabRunner<'_>, tools: &[&'static dyn Tool], quiet: bool) -> Result<(Vec<ToolEntry>, bool)> {
    let stop = CancelToken::new();
    let _watch = signals::end_tool_on_signal(&stop)?;
    let lookup = SearchPath::from_env();
    let mut on_event = |event: truetail_lab::LabEvent<'_>| {
        if !quiet {
            progress::show(&event);
        }
    };
    let cannot = |error| runtime_error(format!("cannot run the tools in {}: {error}", runner.folder.display()));
    let mut entries = runner.run(tools, &lookup, &stop, &mut on_event).map_err(cannot)?;
    let is_asked_for = |tool: &&&dyn Tool| tools.iter().any(|asked_for| asked_for.name() == tool.name());
    let others: Vec<_> = truetail_tools::all().iter().filter(|tool| !is_asked_for(tool)).copied().collect();
    entries.extend(runner.earlier(&others, &lookup).map_err(cannot)?);
    Ok((entries, stop.is_cancelled()))
}

fn plan(args: &LabRunArgs) -> Result<TrialPlan> {
    let scenario = scenario(&args.scenario)?;
    let scenario = match args.duration {
        Some(duration) => scenario.scaled_to(duration).map_err(usage_error)?,
        None => scenario,
    };
    let plan = TrialPlan::new(scenario).map_err(usage_error)?;
    if args.grpc { over_grpc(plan) } else { Ok(plan) }
}

/// Makes calls of the requests of a plan. Its results go to a folder of their own.
fn over_grpc(mut plan: TrialPlan) -> Result<TrialPlan> {
    if !SPEAKS_HTTP2 {
        return Err(usage_error(
            "this build's server does not answer gRPC; build truetail with: cargo build --release --features serve-http2",
        ));
    }
    if plan.stream_truth.is_some() {
        return Err(usage_error("--grpc does not fit a scenario whose answers are streams; leave one out"));
    }
    plan.grpc = true;
    plan.scenario.name.push_str("-grpc");
    plan.scenario.about.push_str(" (over gRPC)");
    Ok(plan)
}

/// Creates the folder of the scenario and returns it. A run of another duration has a different folder, so that a short
/// run does not replace earlier results.
fn folder(args: &LabRunArgs, plan: &TrialPlan) -> Result<PathBuf> {
    let name = &plan.scenario.name;
    let name = args.duration.map_or_else(|| name.clone(), |duration| format!("{name}-{duration}"));
    let folder = args.out.as_deref().unwrap_or(Path::new(PARENT)).join(name);
    let toml = |folder: &Path| fs::write(folder.join("scenario.toml"), plan.scenario.to_toml());
    fs::create_dir_all(&folder).and_then(|()| toml(&folder)).map_err(|error| {
        runtime_error(format!("cannot write to {}: {error}; choose another folder with --out DIR", folder.display()))
    })?;
    Ok(folder)
}
