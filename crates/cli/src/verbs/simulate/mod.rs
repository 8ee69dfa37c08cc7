//! `truetail simulate`: runs a scenario or a lab in virtual time, and one lab also in real time.

mod page;
mod real_time;
mod spin;

use std::path::{Path, PathBuf};

use truetail_flow::{AgentGraphs, SimulateError};
use truetail_model::scenario::Scenario;
use truetail_report::labs::{LabReport, lab_report, scenario_json};
use truetail_report::{OutputFile, plot};
use truetail_run::folder::REPORT;
use truetail_run::{Findings, Run};
use truetail_sim::SimOptions;
use truetail_sim::labs::LabResult;

use crate::after_load::AfterLoad;
use crate::args::simulate::SimulateArgs;
use crate::command_line;
use crate::error::{CliError, ExitCode, Result, runtime_error, usage_error};
use crate::gating::{self, Gating};
use crate::output;
use crate::output_folder::{OutputFolder, SaveTo, write_files};
use crate::resolve::lab::{LabRun, lab, lab_error};
use crate::resolve::run::Printed;
use crate::resolve::scenario::scenario_or_lab;
use crate::resolve::stripe::dealt_out;
use crate::resolve::{agents, flow};
use crate::stages::{Delivered, Delivery, Judged};

/// Simulates, saves the result if asked to, and prints it.
///
/// # Errors
/// If the scenario or lab does not exist, an option is out of range, or the run cannot be saved.
pub(super) fn simulate(args: SimulateArgs) -> Result<ExitCode> {
    match (lab(&args.scenario, &args.lab)?, option_of_scenarios(&args)) {
        (Some(_), Some((option, what))) => {
            Err(usage_error(format!("{option} {what} a scenario, and {} is a lab", args.scenario)))
        }
        (Some(lab_run), None) => simulate_lab(lab_run, &args),
        (None, _) => simulate_scenario(args),
    }
}

/// Returns an option that was given but has no meaning for a lab.
fn option_of_scenarios(args: &SimulateArgs) -> Option<(&'static str, &'static str)> {
    let given = [
        (args.stripe.is_some(), "--stripe", "deals out the load of"),
        (!args.flow.is_empty(), "--flow", "lets sessions arrive on the schedule of"),
        (args.agents.is_some(), "--agents", "lets sessions arrive on the schedule of"),
        (!args.gates.slo.is_empty(), "--slo", "judges"),
        (!args.gates.fail_if.is_empty(), "--fail-if", "judges"),
        (args.gates.junit.is_some(), "--junit", "writes the gates of"),
        (args.gates.markdown.is_some(), "--markdown", "writes a summary of"),
        (args.gates.github, "--github", "writes a summary of"),
    ];
    given.into_iter().find(|(given, ..)| *given).map(|(_, option, what)| (option, what))
}

fn simulate_scenario(args: SimulateArgs) -> Result<ExitCode> {
    let scenario = scenario_or_lab(&args.scenario)?;
    if args.flow.is_empty() && (!args.given.variable.is_empty() || args.given.file_root.is_some()) {
        return Err(usage_error("--variable and --file-root need --flow too; see --help"));
    }
    let read = |file: &PathBuf| flow::read(file, &args.given.variable, args.given.file_root.as_deref(), |_| Ok(None));
    let flows = args.flow.iter().map(read).collect::<Result<Vec<_>>>()?;
    let flows = if flows.is_empty() { None } else { Some(flow::together(flows)?) };
    let agents = args.agents.as_deref().map(agents::for_simulation).transpose()?;
    args.gates.refuse_per_request("the simulator knows no tokens; write a figure of the run, such as 'p99 < 50ms'")?;
    let gating = Gating::resolve(args.gates)?;
    let command = command_line::for_simulate(&args.typed.words, &args.given.variable);
    let save_to = args.out.map_or(SaveTo::Nowhere, |folder| SaveTo::folder(folder, args.force));
    let stripe = args.stripe.map(|stripe| dealt_out(&scenario.workload, stripe)).transpose()?;
    let folder = OutputFolder::prepare(&save_to, &scenario.name)?;
    let options = SimOptions::default();
    let mut run = match (&flows, &agents, stripe) {
        (_, Some(agents), _) => simulate_agents(agents, &scenario, options)?,
        (Some(_), None, Some(_)) => return Err(usage_error("--flow and --stripe cannot be used together")),
        (Some(flows), None, None) => truetail_flow::simulate(flows, &scenario, options)
            .map_err(|error| flow_error(&args.flow, &scenario.name, error))?,
        (None, None, None) => truetail_sim::simulate(&scenario, options).map_err(runtime_error)?,
        (None, None, Some(stripe)) => {
            truetail_sim::simulate_stripe(stripe, &scenario, options).map_err(runtime_error)?
        }
    };
    run.facts.command = Some(command);
    let printed = if args.json { Printed::Elsewhere } else { Printed::Summary };
    let judged = Judged { folder, ..Judged::of(run, gating, &[]) };
    let Delivered { code, mut steps, result } = judged.deliver(&Delivery { printed, ..Delivery::default() });
    let Judged { run, findings, saved, .. } = result;
    if let Some(folder) = &saved {
        let pictures = plot::run_spectrum(&run).files(plot::SPECTRUM).map_err(runtime_error);
        steps.tried(pictures.and_then(|pictures| write_files(folder, &pictures)));
    }
    if args.json {
        steps.tried(output::print(&scenario_json(&scenario.name, &run, &findings)));
        gating::note_failures(&findings);
    }
    // Without gates the exit code is always 0: a run in virtual time has no doubts about the generator.
    steps.end(if findings.gates.is_empty() { ExitCode::Success } else { code })
}

/// Runs the scenario with sessions of agents.
fn simulate_agents(agents: &AgentGraphs, scenario: &Scenario, options: SimOptions) -> Result<Run> {
    truetail_flow::simulate_agents(agents, scenario, options).map_err(|error| match error {
        SimulateError::Scenario(problem) => usage_error(format!("--agents with {}: {problem}", scenario.name)),
        error => runtime_error(error),
    })
}

/// Explains why a flow cannot be simulated, and names the file at fault.
fn flow_error(files: &[PathBuf], scenario: &str, error: SimulateError) -> CliError {
    match error {
        SimulateError::Flow { nth, error } => flow::wrong(&files[nth], &error),
        SimulateError::Scenario(problem) => usage_error(format!("--flow with {scenario}: {problem}")),
        SimulateError::Simulation(error) => runtime_error(error),
    }
}

fn simulate_lab(lab_run: LabRun, args: &SimulateArgs) -> Result<ExitCode> {
    let as_json = args.json;
    let command = command_line::from_words(&args.typed.words);
    let folders = LabFolders::prepare(lab_run.lab().series_names(), args.out.as_deref(), args.force)?;
    match lab_run {
        LabRun::Virtual(lab) => {
            let result = lab.run().map_err(|error| lab_error(lab.name(), &error))?;
            finish(&lab_report(&result), folders, as_json, command, |pictures| lab_files(&result, pictures))
        }
        LabRun::RealTime { options, quiet } => {
            let measured = real_time::measure(&options, quiet)?;
            finish(&measured.report(), folders, as_json, command, |_| Vec::new())
        }
    }
}

/// Saves the lab if asked to, and prints it. `more` returns the files of the lab besides its runs and `pictures`.
fn finish(
    report: &LabReport<'_>,
    folders: LabFolders<'_>,
    as_json: bool,
    command: String,
    more: impl FnOnce(&[OutputFile]) -> Vec<OutputFile>,
) -> Result<ExitCode> {
    let mut steps = AfterLoad::default();
    let saved = folders.parent.and_then(|parent| {
        steps.tried(save(report, folders, parent, command, more)).map(|()| parent.display().to_string())
    });
    let text = if as_json { report.json() } else { report.text(saved.as_deref(), output::stdout_style()) };
    steps.tried(output::print(&text));
    let measured = report.series.iter().filter(|series| series.measured);
    steps.end(ExitCode::from_verdicts(measured.map(|series| &series.findings.verdict)))
}

fn save(
    report: &LabReport<'_>,
    folders: LabFolders<'_>,
    parent: &Path,
    command: String,
    more: impl FnOnce(&[OutputFile]) -> Vec<OutputFile>,
) -> Result<()> {
    folders.save(report.series.iter().map(|series| (series.run, &series.findings)))?;
    let mut files = report.pictures().map_err(runtime_error)?;
    files.extend(more(&files));
    files.push(OutputFile::text(REPORT, page::for_lab(report, command)));
    write_files(parent, &files)
}

/// Returns the CSV files of the freeze, and a manifest of these and the pictures. Other labs have no such files.
fn lab_files(result: &LabResult, pictures: &[OutputFile]) -> Vec<OutputFile> {
    let pictures: Vec<_> = pictures.iter().map(|file| (file.name.as_str(), file.content.as_slice())).collect();
    let artifacts = match result {
        LabResult::Freeze(result) => result.artifacts(&pictures),
        LabResult::EveryNth(_) | LabResult::OrderRouter(_) => Vec::new(),
    };
    artifacts.into_iter().map(|file| OutputFile::text(file.name, file.contents)).collect()
}

/// One folder for each series of a lab, in a common parent, checked before the lab begins.
struct LabFolders<'a> {
    parent: Option<&'a Path>,
    runs: Vec<OutputFolder>,
}

impl<'a> LabFolders<'a> {
    fn prepare(series: &[&str], parent: Option<&'a Path>, force: bool) -> Result<LabFolders<'a>> {
        let mut runs = Vec::new();
        for name in series {
            let save_to = parent.map_or(SaveTo::Nowhere, |parent| SaveTo::folder(parent.join(name), force));
            runs.extend(OutputFolder::prepare(&save_to, name)?);
        }
        Ok(LabFolders { parent, runs })
    }

    fn save<'r>(mut self, runs: impl Iterator<Item = (&'r Run, &'r Findings)>) -> Result<()> {
        let folders = std::mem::take(&mut self.runs);
        folders.into_iter().zip(runs).try_for_each(|(folder, (run, findings))| folder.save(run, findings).map(drop))
    }
}

impl Drop for LabFolders<'_> {
    /// Removes the folders in reverse order: the first also created the parents, which must be empty to be removed.
    fn drop(&mut self) {
        while self.runs.pop().is_some() {}
    }
}
