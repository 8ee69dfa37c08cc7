//! Run on real sockets, with progress, conditions that stop it early, and Ctrl-C.

use truetail_engine::{Control, Plan};
use truetail_run::{OfferedLoad, Run, RunSource};

use crate::error::{Result, runtime_error};
use crate::live::{LiveStates, Watch};
use crate::progress::{Figures, ProgressReporter};
use crate::signals::{self, SignalHandler};
use crate::supervisor::{StopConditions, Supervisor};

/// Settings of a run besides its plan.
#[derive(Clone, Debug, Default)]
pub struct RunContext {
    /// Name of the scenario, if any.
    pub scenario: Option<String>,
    /// Notes for the run.
    pub notes: Vec<String>,
    pub stop_conditions: StopConditions,
    /// Show no progress.
    pub quiet: bool,
    /// Command line, without secrets.
    pub command: Option<String>,
    /// Control of the run, for observers.
    pub control: Control,
    /// States of the run, if `--watch` shows them.
    pub watched: Option<LiveStates>,
    /// Show progress to programs, as lines of JSON.
    pub for_machines: bool,
}

/// A run and its end.
#[derive(Clone, Debug)]
pub struct MeasuredRun {
    pub run: Run,
    /// First signal that asked it to end, if any.
    pub signal: Option<i32>,
}

/// Offers the load of `plan`. The first Ctrl-C stops sending, the second stops at once. Keeps what was measured.
///
/// # Errors
/// If the load could not be offered at all, or the books do not balance, which is a bug.
pub fn measure(plan: &Plan, context: RunContext) -> Result<MeasuredRun> {
    let signals = signals::stop_run_on_signal(&context.control)?;
    measure_under(&signals, plan, context)
}

/// Offers the load of `plan`, as one of several runs that share `signals`.
///
/// # Errors
/// If the load could not be offered at all, or the books do not balance, which is a bug.
pub fn measure_under(signals: &SignalHandler, plan: &Plan, context: RunContext) -> Result<MeasuredRun> {
    let control = context.control;
    let figures = || Figures::new(plan.workload.model.clone(), control.clone()).for_stripe(plan.stripe);
    let watch = context.watched.map(|states| Watch::start(figures(), &control, states, signals.count())).transpose()?;
    let reporter = match (context.for_machines, context.quiet || watch.is_some()) {
        (true, _) => Some(ProgressReporter::for_machines(figures())),
        (false, true) => None,
        (false, false) => Some(ProgressReporter::showing(figures())),
    };
    let supervisor = Supervisor::start(plan, context.stop_conditions, control.clone(), context.quiet);
    let measured = truetail_engine::run(plan, &control);
    let supervisor_notes = supervisor.end();
    drop(reporter);
    let signal = signals.first_signal();
    let by_key = watch.as_ref().is_some_and(Watch::stopped_by_key);
    drop(watch);
    let measured = measured.map_err(runtime_error)?;
    measured.snapshot.tally.check().map_err(runtime_error)?;
    let offered = OfferedLoad { name: context.scenario, ..plan.offered() };
    let mut run = measured.into_run(RunSource::Sockets, offered);
    run.facts.stripe = plan.stripe_facts();
    run.facts.interrupted = control.was_stopped();
    run.facts.command = context.command;
    let stopped = signal.filter(|_| run.facts.cut_short == Some(true));
    let stopped = stopped.map(|signal| {
        truetail_report::stopped_early(&run, if by_key { Watch::STOP_KEY } else { signals::name_of(signal) })
    });
    run.facts.notes.extend(stopped.into_iter().chain(context.notes).chain(supervisor_notes));
    Ok(MeasuredRun { run, signal })
}
