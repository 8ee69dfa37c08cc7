//! `truetail capacity --sweep`: offers one rate after another, and draws throughput against times.

use std::path::Path;

use truetail_analysis::gates;
use truetail_analysis::sweep::{EndedBy, SCHEMA, StepState, Sweep, SweepStep};
use truetail_model::arrival::Horizon;
use truetail_model::time::Nanos;
use truetail_page::{SweepPage, sweep_page};
use truetail_report::plot::sweep_curves;
use truetail_report::{SweepReport, sweep_json, sweep_line, sweep_text};
use truetail_run::input;
use truetail_stream::StreamRun;
use truetail_study::capacity::{CoolDown, Probe, ProbeError};
use truetail_study::sweep::{StepRecord, SweepCourse, SweepJournal, SweepQuestion};

use super::engine_probe::EngineProbe;
use super::folder;
use super::question::Asked;
use super::stop::SearchStop;
use crate::after_load::AfterLoad;
use crate::args::capacity::{CapacityResultArgs, SweepArgs};
use crate::error::{ExitCode, Result, runtime_error, usage_error};
use crate::output;
use crate::progress::ProgressReporter;

const DEFAULT_STEP: Nanos = Nanos::from_secs(30);
/// Name of the result in the folder of a sweep.
const RESULT: &str = "sweep.json";

/// A sweep to make.
pub(super) struct SweepPlan {
    rates: Vec<f64>,
    step: Nanos,
    past_saturation: bool,
    /// Saved sweeps to draw beside it.
    beside: Vec<(String, Sweep)>,
}

impl SweepPlan {
    /// Returns the sweep that the arguments ask for, if they do. Reads the saved sweeps that they name.
    ///
    /// # Errors
    /// If a saved sweep cannot be read.
    pub(super) fn resolve(args: &SweepArgs) -> Result<Option<SweepPlan>> {
        let Some(ladder) = &args.sweep else { return Ok(None) };
        Ok(Some(SweepPlan {
            rates: ladder.rates().to_vec(),
            step: args.step.unwrap_or(DEFAULT_STEP),
            past_saturation: args.past_saturation,
            beside: args.beside.iter().map(|path| saved(path)).collect::<Result<_>>()?,
        }))
    }

    /// Returns about how many requests the sweep makes. Each step waits until the service answers as fast as without
    /// load, which takes ten requests and more.
    pub(super) fn requests(&self) -> u64 {
        let of_steps: f64 = self.rates.iter().map(|rate| rate * self.step.as_secs_f64()).sum();
        (of_steps * 1.2) as u64 + 100 * self.rates.len() as u64
    }

    fn question(&self, asked: &Asked) -> SweepQuestion {
        let course =
            SweepCourse { rates: self.rates.clone(), step_ns: self.step.0, past_saturation: self.past_saturation };
        asked.sweep_question(course)
    }

    /// Returns why the sweep ends with the last of these steps before all rates were offered; `None` if it does not.
    fn ended_with(&self, steps: &[StepRecord]) -> Option<EndedBy> {
        let last = steps.last().filter(|_| !self.past_saturation && steps.len() < self.rates.len())?;
        match last.step.state {
            StepState::Saturated => Some(EndedBy::Saturated),
            StepState::GeneratorLimit => Some(EndedBy::GeneratorLimit),
            StepState::Valid | StepState::Suspect | StepState::Invalid => None,
        }
    }

    /// Refuses saved sweeps whose answers were read in another way, before any load.
    fn check_beside(&self, asked: &Asked) -> Result<()> {
        let time = match &asked.streams {
            None => "response-time",
            Some(streams) => match streams.llm_api() {
                Some(api) if api.comes_whole() => "response-time",
                Some(_) => "ttft",
                None => "first-event",
            },
        };
        let other = self.beside.iter().find(|(_, sweep)| sweep.time_names().first() != Some(&time));
        match other {
            Some((path, _)) => Err(usage_error(format!(
                "--beside {path} has no {time}, so its curve cannot be drawn beside this one; name a sweep whose answers \
                 were read in the same way"
            ))),
            None => Ok(()),
        }
    }
}

/// Reads a saved sweep from its folder, or from its file.
fn saved(path: &Path) -> Result<(String, Sweep)> {
    let file = if path.is_dir() { path.join(RESULT) } else { path.to_owned() };
    let shown = file.display();
    let text = input::text(&file).map_err(|error| runtime_error(format!("cannot read the sweep {shown}: {error}")))?;
    let sweep = Sweep::parse(&text).map_err(|error| runtime_error(format!("{shown} {error}")))?;
    Ok((path.display().to_string(), sweep))
}

/// Makes the sweep, saves it, and prints it.
///
/// # Errors
/// If the folder holds anything else, the service is gone, a step cannot be made, or something cannot be written.
pub(super) fn sweep(asked: &Asked, plan: &SweepPlan, result: &CapacityResultArgs) -> Result<ExitCode> {
    plan.check_beside(asked)?;
    let mut journal = folder::open_sweep(result.out.clone(), asked, &plan.question(asked))?;
    let path = journal.folder().to_owned();
    if !result.quiet {
        output::note(&begins(plan, &journal));
    }
    let stop = SearchStop::new();
    let signals = stop.on_signals()?;
    let rows_used = journal.records().last().map_or(0, |last| last.rows_used);
    let mut probe = EngineProbe::new(asked, path.clone(), stop, result.quiet).after_rows(rows_used);
    let ended = offered(&mut probe, plan, &mut journal)?;
    let steps = journal.records().iter().map(|record| record.step.clone()).collect();
    let signal = signals.first_signal();
    drop(signals);
    let report = SweepReport {
        sweep: Sweep {
            schema: SCHEMA.to_owned(),
            server: asked.server.clone(),
            target: asked.url.clone(),
            slo: asked.objectives.iter().map(ToString::to_string).collect(),
            goodput_slo: asked.each_request.clone(),
            step_s: plan.step.as_secs_f64(),
            planned_rates: plan.rates.clone(),
            ended_by: ended.as_ref().map(|(by, _)| *by),
            steps,
        },
        beside: plan.beside.clone(),
        folder: path.display().to_string(),
    };
    let mut after = AfterLoad::default();
    write(&report, &asked.typed, &path, result.json, &mut after);
    after.end_with(match ended {
        Some((EndedBy::ServiceGone | EndedBy::Error, why)) => {
            Err(runtime_error(format!("the sweep stopped: {why}; the same command continues it")))
        }
        Some((EndedBy::User, _)) => Ok(signal.map_or(ExitCode::Open, ExitCode::Signal)),
        _ if report.sweep.steps.iter().any(is_measured) => Ok(ExitCode::Success),
        _ => Ok(ExitCode::Open),
    })
}

fn is_measured(step: &SweepStep) -> bool {
    matches!(step.state, StepState::Valid | StepState::Suspect | StepState::Saturated)
}

fn begins(plan: &SweepPlan, journal: &SweepJournal) -> String {
    let rates = plan.rates.len();
    let step = plan.step;
    let folder = journal.folder().display();
    match journal.records().len() {
        0 => format!("{rates} rates, {step} each; the sweep and its runs are saved in {folder}"),
        done => format!("going on with the sweep in {folder}, which has {done} of {rates} steps"),
    }
}

/// Reason why a sweep ended early, with more in words.
type Ended = Option<(EndedBy, String)>;

/// Offers the rates in turn that have no step in the journal. Returns why the sweep ended early.
fn offered(probe: &mut EngineProbe<'_>, plan: &SweepPlan, journal: &mut SweepJournal) -> Result<Ended> {
    loop {
        if let Some(ended) = plan.ended_with(journal.records()) {
            return Ok(Some((ended, String::new())));
        }
        let done = journal.records().len();
        let Some(rate) = plan.rates.get(done) else { return Ok(None) };
        let step = match cooled_step(probe, done, *rate, plan.step) {
            // Another program on this machine may have disturbed the step once.
            Ok(step) if step.state == StepState::GeneratorLimit => {
                if !probe.quiet {
                    output::note(&format!("{rate}/s: the generator spoilt this step; truetail makes it once more"));
                }
                cooled_step(probe, done, *rate, plan.step)
            }
            step => step,
        };
        let step = match step {
            Ok(step) => step,
            Err(error) => return Ok(Some(stopped(error))),
        };
        let shown = sweep_line(&step, output::stdout_style());
        let record = StepRecord { step, rows_used: probe.rows_used() };
        let folder = journal.folder().display().to_string();
        journal.append(record).map_err(|error| runtime_error(format!("cannot write to {folder}: {error}")))?;
        if !probe.quiet {
            output::note(&shown);
        }
    }
}

/// Waits until the service answers as fast as without load, then makes a step.
fn cooled_step(
    probe: &mut EngineProbe<'_>,
    number: usize,
    rate: f64,
    length: Nanos,
) -> std::result::Result<SweepStep, ProbeError> {
    let before = probe.cool_down()?;
    let step = probe.step(number, rate, length)?;
    Ok(match (before, &step.reason) {
        (CoolDown::StillSlow, None) => {
            let reason = "before this step the service was still slower than without load".to_owned();
            SweepStep { state: StepState::Suspect, reason: Some(reason), ..step }
        }
        _ => step,
    })
}

fn stopped(error: ProbeError) -> (EndedBy, String) {
    match error {
        ProbeError::Gone(why) => (EndedBy::ServiceGone, why),
        ProbeError::Failed(why) => (EndedBy::Error, why),
        ProbeError::Interrupted | ProbeError::TimeUp => (EndedBy::User, "it was interrupted".to_owned()),
    }
}

fn write(report: &SweepReport, command: &str, folder: &Path, json: bool, after: &mut AfterLoad) {
    let as_json = sweep_json(&report.sweep);
    let curves = sweep_curves(report);
    let page = sweep_page(&SweepPage { report, curves: &curves, command });
    for (name, content) in [(RESULT, as_json.as_str()), ("sweep.svg", curves.svg()), ("sweep.html", page.as_str())] {
        after.tried(output::write_file(&folder.join(name), content));
    }
    let style = output::stdout_style();
    after.tried(output::print(&if json { as_json } else { sweep_text(report, style) }));
}

impl EngineProbe<'_> {
    /// Offers a rate for a time, waits for the answers as a run does, and saves the run.
    fn step(&self, number: usize, rate: f64, length: Nanos) -> std::result::Result<SweepStep, ProbeError> {
        let horizon = Horizon { duration: Some(length), requests: None };
        let mut plan = self.plan(rate, horizon, self.seed(number))?;
        // A search does not wait for requests that are bad already. A curve shows how long they take.
        plan.workload.limits.drain = self.asked.plan.workload.limits.drain;
        let control = self.begin_run();
        let reporter = (!self.quiet).then(|| ProgressReporter::start(plan.workload.model.clone(), control.clone()));
        let measured = truetail_engine::run(&plan, &control);
        drop(reporter);
        let run = self.finish(&plan, measured, &control)?;
        let rows = self.asked.streams.as_ref().map(StreamRun::rows);
        let mut findings = truetail_analysis::findings(&run);
        findings.gates = gates::judge_all(&self.asked.gates, &run, &findings);
        let step = SweepStep::new(rate, &run, &findings, rows.as_ref(), &self.asked.objectives);
        Ok(SweepStep { run: Some(self.save(("step", number), rate, &run, &findings)?), ..step })
    }
}
