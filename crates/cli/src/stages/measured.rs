//! Run on real sockets, with progress, conditions that stop it early, views, checkpoints, and Ctrl-C.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use truetail_analysis::stopping_rule::StoppingRule;
use truetail_engine::{Control, Plan};
use truetail_run::Run;

use super::prepared::{Prepared, name_of};
use crate::baseline::Baseline;
use crate::error::{Result, runtime_error};
use crate::events::RunningEvents;
use crate::judging::Judge;
use crate::labels::RunLabels;
use crate::live::{Checkpoints, FeedSource, LiveStates, RunningView, Watch};
use crate::output_folder::OutputFolder;
use crate::progress::{Figures, ProgressReporter};
use crate::receiving::SpanListener;
use crate::resolve::run::{Printed, ResolvedRun};
use crate::script::Script;
use crate::signals::{self, CurrentRun, SignalHandler};
use crate::start::{self, Told};
use crate::supervisor::{StopConditions, Supervisor};

/// Load that was offered, and the rules for its result.
pub(crate) struct Measured {
    pub(super) run: Run,
    /// First signal that asked it to end, if any.
    pub(super) signal: Option<i32>,
    pub(super) judge: Judge,
    pub(super) until: Option<StoppingRule>,
    pub(super) baseline: Option<Baseline>,
    pub(super) folder: Option<OutputFolder>,
    pub(super) views: RunningView,
}

impl Measured {
    /// Calls `done` of the script, if there is one. Its text is printed by [`Script::print_held`].
    pub(crate) fn finish_script(&self) -> Option<(Script, Result<()>)> {
        self.judge.observed.script.as_ref().map(|script| (script.clone(), script.done(&self.run)))
    }
}

/// State that consecutive runs share: signals stop the one in progress.
pub(crate) struct Turns {
    signals: SignalHandler,
    current: CurrentRun,
}

impl Turns {
    /// Starts to watch for signals.
    pub(crate) fn start() -> Result<Turns> {
        let current = CurrentRun::default();
        Ok(Turns { signals: signals::stop_runs_on_signal(&current)?, current })
    }

    /// Returns the first signal, if any came.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.signals.first_signal()
    }
}

impl Prepared {
    /// Waits for the start, claims the folder, and offers the load: alone, or as one of several. Breaks with a signal
    /// that came before the load.
    ///
    /// # Errors
    /// If the folder or a view cannot be had, or the load cannot be offered.
    pub(crate) fn measure(self, turns: Option<&Turns>) -> Result<ControlFlow<i32, Measured>> {
        let Prepared { resolved, baseline, views, spans, scrapers, tried } = self;
        let ResolvedRun { mut plan, notes, save_to, printing, start_file, stop_conditions, .. } = resolved;
        let for_machines = printing.result == Printed::Packed;
        if let Some(file) = &start_file {
            match start::told(file, for_machines)? {
                Told::At(instant) => plan.start_at_unix_ns = Some(instant),
                Told::ToStop(signal) => return Ok(ControlFlow::Break(signal)),
            }
        }
        start::wait_for(plan.start_at_unix_ns, printing.quiet);
        let folder = OutputFolder::prepare(&save_to, &name_of(&plan.target))?;
        let until = stop_conditions.until;
        let cut_warmup = stop_conditions.cut_warmup;
        let judge = Judge { gating: resolved.gating, observed: resolved.observed, cut_warmup };
        let control = Control::new();
        let script = judge.observed.script.clone();
        if let Some(script) = &script {
            script.begin(&control);
        }
        let labels = resolved.labels;
        let source = FeedSource { plan, control: control.clone(), judge, labels: labels.clone() };
        let checkpoints = folder.as_ref().map(|folder| Checkpoints::start(folder.path(), source.clone()));
        let views = views.start(source.clone())?;
        let FeedSource { plan, judge, .. } = source;
        let context = RunContext {
            notes: tried.into_iter().chain(notes).collect(),
            stop_conditions,
            quiet: printing.quiet,
            labels,
            control,
            watched: views.watched(),
            for_machines,
        };
        let spans = spans.map(SpanListener::start).transpose()?;
        let events = RunningEvents::start(resolved.beside.events, &context.control);
        let scrapers = scrapers.start(&context.control, plan.workload.warmup);
        let measured = match turns {
            None => measure(&plan, context),
            Some(turns) => {
                turns.current.set(context.control.clone());
                // A signal that came before the run was set as current did not stop it.
                if let Some(signal) = turns.signal() {
                    return Ok(ControlFlow::Break(signal));
                }
                measure_under(&turns.signals, &plan, context)
            }
        };
        drop(checkpoints);
        if let Some(script) = &script {
            script.check()?;
        }
        let (mut run, signal) = measured?;
        // A signal from now on, also a second one, ends only the wait for spans.
        let is_alone = spans.is_some() && turns.is_none();
        let own = is_alone.then(|| signals::tell_of_signals(|_| ())).transpose()?;
        let signals = turns.map(|turns| &turns.signals).or(own.as_ref()).map(SignalHandler::count);
        let count = || signals.as_ref().map_or(0, |count| count.load(Ordering::SeqCst));
        let before = count();
        scrapers.end(&mut run);
        events.end(&mut run);
        if let Some(spans) = spans {
            spans.end(&mut run, printing.quiet, &|| count() > before);
        }
        run.facts.notes.extend(script.as_ref().and_then(Script::note));
        Ok(ControlFlow::Continue(Measured { run, signal, judge, until, baseline, folder, views }))
    }
}

/// Settings of a run besides its plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunContext {
    pub labels: RunLabels,
    /// Notes for the run.
    pub notes: Vec<String>,
    pub stop_conditions: StopConditions,
    /// Show no progress.
    pub quiet: bool,
    /// Control of the run, for observers.
    pub control: Control,
    /// States of the run, if `--watch` shows them.
    pub watched: Option<LiveStates>,
    /// Show progress to programs, as lines of JSON.
    pub for_machines: bool,
}

/// Offers the load of `plan`. The first Ctrl-C stops sending, the second stops at once. Returns what was measured, and
/// the first signal.
///
/// # Errors
/// If the load could not be offered at all, or the books do not balance, which is a bug.
pub(crate) fn measure(plan: &Plan, context: RunContext) -> Result<(Run, Option<i32>)> {
    let signals = signals::stop_run_on_signal(&context.control)?;
    measure_under(&signals, plan, context)
}

fn measure_under(signals: &SignalHandler, plan: &Plan, context: RunContext) -> Result<(Run, Option<i32>)> {
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
    let mut run = measured.map_err(runtime_error)?.into_checked_run(plan, &control).map_err(runtime_error)?;
    context.labels.add_to(&mut run.facts);
    let stopped = signal.filter(|_| run.facts.cut_short == Some(true));
    let stopped = stopped.map(|signal| {
        truetail_report::stopped_early(&run, if by_key { Watch::STOP_KEY } else { signals::name_of(signal) })
    });
    run.facts.notes.extend(stopped.into_iter().chain(context.notes).chain(supervisor_notes));
    Ok((run, signal))
}
