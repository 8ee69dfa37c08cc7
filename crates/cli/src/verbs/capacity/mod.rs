//! `truetail capacity`: finds the highest rate at which a service provably meets its objectives, or draws a curve over
//! rates.

mod engine_probe;
mod folder;
mod looking;
mod question;
mod stop;
mod sweep;

use truetail_analysis::capacity::{Objective, SearchState};
use truetail_report::plot::capacity_curve;
use truetail_report::{
    CapacityReport, ObjectiveLine, ProbeFigures, ProbeLine, capacity_json, capacity_line, capacity_text,
};
use truetail_study::capacity::{Journal, ObjectiveRecord, ProbeRecord, SearchOutcome, StopReason, search};

use crate::after_load::AfterLoad;
use crate::args::capacity::CapacityArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::stages::preflight;
use crate::{config, output};
use engine_probe::EngineProbe;
use question::Asked;
use stop::SearchStop;
use sweep::SweepPlan;

/// Searches, saves the result, and prints it.
///
/// # Errors
/// If the server does not answer at the beginning, or something cannot be written.
pub(super) fn capacity(args: CapacityArgs) -> Result<ExitCode> {
    let args = config::complete_capacity(args)?;
    let json = args.result.json;
    let quiet = args.result.quiet;
    let out = args.result.out.clone();
    let sweep_plan = SweepPlan::resolve(&args.sweep)?;
    let result = args.result.clone();
    let mut asked = Asked::resolve(args, sweep_plan.as_ref().map(SweepPlan::requests))?;
    preflight(&mut asked.plan, asked.trial, None)?.iter().for_each(|note| output::note(note));
    if let Some(plan) = sweep_plan {
        return sweep::sweep(&asked, &plan, &result);
    }
    let mut journal = folder::open(out, &asked)?;
    if !quiet {
        output::note(&begins(&journal));
    }
    let stop = SearchStop::new();
    let signals = stop.on_signals()?;
    let known: u64 = journal.records().iter().map(|record| record.requests).sum();
    let mut probe = EngineProbe::new(&asked, journal.folder().to_owned(), stop, quiet).after_requests(known);
    let style = output::stdout_style();
    let told = |record: &ProbeRecord| {
        if !quiet {
            output::note(&capacity_line(&line(record), style));
        }
    };
    let known = journal.records().len();
    let ended = search(&mut probe, &asked.objectives, journal.asked().limits, &mut journal, asked.max_time, told);
    let ended =
        ended.map_err(|error| runtime_error(format!("cannot write to {}: {error}", journal.folder().display())))?;
    let signal = signals.first_signal();
    drop(signals);
    let report = report(&asked, &ended, &journal, known);
    let as_json = capacity_json(&report);
    let mut steps = AfterLoad::default();
    for (name, content) in [("capacity.json", as_json.as_str()), ("capacity.svg", capacity_curve(&report).svg())] {
        steps.tried(output::write_file(&journal.folder().join(name), content));
    }
    steps.tried(output::print(&if json { as_json } else { capacity_text(&report, style) }));
    steps.end_with(exit_code(&report, &ended, signal))
}

fn begins(journal: &Journal) -> String {
    let folder = journal.folder().display();
    match journal.records().len() {
        0 => format!("searching; the search and its runs are saved in {folder}"),
        1 => format!("going on with the search in {folder}, which has 1 probe"),
        probes => format!("going on with the search in {folder}, which has {probes} probes"),
    }
}

fn exit_code(report: &CapacityReport, ended: &SearchOutcome, signal: Option<i32>) -> Result<ExitCode> {
    match &ended.stopped {
        Some(StopReason::ServiceGone(why) | StopReason::Failed(why)) => {
            Err(runtime_error(format!("the search stopped: {why}; {}; the same command continues it", report.so_far())))
        }
        Some(StopReason::Interrupted) => Ok(signal.map_or(ExitCode::Open, ExitCode::Signal)),
        Some(StopReason::TimeUp) => Ok(ExitCode::Open),
        None => Ok(match ended.finding.state {
            SearchState::Found => ExitCode::Success,
            SearchState::BelowRange => ExitCode::GateFailed,
            SearchState::AboveRange | SearchState::GeneratorLimit | SearchState::OutOfTime => ExitCode::Open,
        }),
    }
}

/// Builds the report. `known` is the number of probes in the journal when the command began. If the command added no
/// probe before its time ran out, the time is too short for one, and repeating the command would not help.
fn report(asked: &Asked, ended: &SearchOutcome, journal: &Journal, known: usize) -> CapacityReport {
    let cut = ended.cut.iter().map(|record| ProbeLine { cut_off: true, ..line(record) });
    let made_none = journal.records().len() == known;
    CapacityReport {
        slo: asked.question.objectives.clone(),
        state: ended.finding.state,
        stopped_by: ended.stopped.as_ref().map(|stopped| match stopped {
            StopReason::TimeUp if made_none => "time_too_short",
            StopReason::TimeUp => "time",
            StopReason::Interrupted => "user",
            StopReason::ServiceGone(_) => "service_gone",
            StopReason::Failed(_) => "error",
        }),
        proven: ended.finding.proven,
        refuted: ended.finding.refuted,
        estimate: ended.finding.estimate,
        resolution: asked.question.limits.resolution,
        confidence: asked.question.limits.confidence,
        time_name: asked.time_name(),
        folder: journal.folder().display().to_string(),
        counts_errors: asked.objectives.iter().any(Objective::counts_error_statuses),
        probes: journal.records().iter().map(line).chain(cut).collect(),
    }
}

fn objective(of: &ObjectiveRecord) -> ObjectiveLine {
    ObjectiveLine {
        slo: of.slo.clone(),
        answer: of.answer,
        counted: of.counted,
        bad: of.bad,
        allowed: of.allowed,
        value_ns: of.value_ns,
    }
}

fn line(record: &ProbeRecord) -> ProbeLine {
    ProbeLine {
        rate: record.probed.trial.rate,
        purpose: record.probed.trial.purpose,
        answer: record.probed.answer,
        seconds: record.length.as_secs_f64(),
        requests: record.requests,
        errors: record.errors,
        figures: ProbeFigures {
            value_ns: record.figures.value_ns,
            low_ns: record.figures.low_ns,
            high_ns: record.figures.high_ns,
        },
        objectives: record.objectives.iter().map(objective).collect(),
        run: record.run.clone(),
        cut_off: false,
        note: record.note.clone(),
    }
}
