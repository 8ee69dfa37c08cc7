//! A run on real sockets, watched and interruptible.

use truetail_engine::{Control, Plan, RunOutput};
use truetail_model::record::Snapshot;
use truetail_model::time::Nanos;
use truetail_run::{GeneratorStats, OfferedLoad, Run, RunSource};

use crate::outcome::{Result, could_not};
use crate::progress::{self, ProgressReporter};
use crate::supervise::{Supervisor, Terms};
use crate::{output, signals};

/// What else is known of a run before it begins.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// The scenario's name, where it has one.
    pub scenario: Option<String>,
    /// Things to say that belong to no number.
    pub notes: Vec<String>,
    /// When it ends before its limit.
    pub terms: Terms,
    /// No progress.
    pub quiet: bool,
}

/// Offers the load of `plan`. Ctrl-C ends it early: the first stops sending, the second stops at once; what was
/// measured until then is the run.
///
/// # Errors
/// When the load could not be offered at all, or the books do not balance, which is a bug.
pub fn measure(plan: &Plan, mut circumstances: Circumstances) -> Result<Run> {
    let control = Control::new();
    let watch = stop_on_signal(&control)?;
    let reporter = (!circumstances.quiet).then(|| ProgressReporter::start(plan, control.clone()));
    let supervisor = Supervisor::start(plan, circumstances.terms, control.clone(), circumstances.quiet);
    let measured = truetail_engine::run(plan, &control);
    let supervised = supervisor.end();
    drop(reporter);
    drop(watch);
    let measured = measured.map_err(could_not)?;
    measured.snapshot.tally.check().map_err(could_not)?;
    circumstances.notes.extend(supervised.notes);
    Ok(run_of(plan, circumstances, measured, control.was_stopped()))
}

/// What was recorded of a run that goes on, as a run of its own.
pub fn run_so_far(plan: &Plan, snapshot: Snapshot, elapsed: Nanos) -> Run {
    let generator = GeneratorStats::default();
    let measured =
        RunOutput { snapshot, by_target: Vec::new(), generator, started_at_unix_ns: 0, elapsed, cut_short: true };
    run_of(plan, Circumstances::default(), measured, true)
}

/// Hands Ctrl-C to `control` until what is returned is dropped: the first stops sending, the second stops at once, the
/// third ends the process.
///
/// # Errors
/// When the system does not allow to catch signals.
pub fn stop_on_signal(control: &Control) -> Result<signals::Watch> {
    let control = control.clone();
    let on_signal = move |number: u32| {
        progress::make_room();
        match number {
            1 => {
                output::note("stopping: nothing more is sent, waiting for answers; once more to stop at once");
                control.stop();
            }
            2 => {
                output::note("stopping at once");
                control.stop_now();
            }
            _ => return false,
        }
        true
    };
    signals::Watch::start(on_signal).map_err(|error| could_not(format!("cannot watch for Ctrl-C: {error}")))
}

fn run_of(plan: &Plan, circumstances: Circumstances, measured: RunOutput, interrupted: bool) -> Run {
    let offered = OfferedLoad { name: circumstances.scenario, ..plan.offered() };
    let mut run = measured.into_run(RunSource::Sockets, offered);
    run.facts.interrupted = interrupted;
    run.facts.notes.extend(circumstances.notes);
    run
}
