//! A run on real sockets, watched and interruptible.

use truetail_engine::{Control, Measured, Plan};
use truetail_run::{Offered, Run, Source};

use crate::outcome::{Result, could_not};
use crate::progress::{self, Teller};
use crate::{output, signals};

/// What else is known of a run before it begins.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// The scenario's name, where it has one.
    pub scenario: Option<String>,
    /// Things to say that belong to no number.
    pub notes: Vec<String>,
    /// No progress.
    pub quiet: bool,
}

/// Offers the load of `plan`. Ctrl-C ends it early: the first stops sending, the second stops at once; what was
/// measured until then is the run.
///
/// # Errors
/// When the load could not be offered at all, or the books do not balance, which is a bug.
pub fn measure(plan: &Plan, circumstances: Circumstances) -> Result<Run> {
    let control = Control::new();
    let watch = stop_on_signal(&control)?;
    let teller = (!circumstances.quiet).then(|| Teller::start(plan, control.clone()));
    let measured = truetail_engine::run(plan, &control);
    drop(teller);
    drop(watch);
    let measured = measured.map_err(could_not)?;
    measured.snapshot.tally.check().map_err(could_not)?;
    Ok(run_of(plan, circumstances, measured, control.was_stopped()))
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

fn run_of(plan: &Plan, circumstances: Circumstances, measured: Measured, interrupted: bool) -> Run {
    let offered = Offered {
        name: circumstances.scenario,
        url: Some(plan.target.url().to_string()),
        method: Some(plan.target.method().as_str().to_owned()),
        connections: Some(plan.effective_cap().connections),
        ..Offered::of(&plan.workload)
    };
    let mut run = measured.into_run(Source::Sockets, offered);
    run.facts.interrupted = interrupted;
    run.facts.notes.extend(circumstances.notes);
    run
}
