//! `truetail simulate every-nth --real-time`: the lab on the wall clock, through the harness for callables.

use std::thread;

use truetail_engine::Control;
use truetail_engine::callable::{CallPlan, bench};
use truetail_model::arrival::Horizon;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModel;
use truetail_report::labs::{LabReport, MeasuredLoops, measured_report};
use truetail_report::number;
use truetail_run::{Run, RunSource};
use truetail_sim::labs::every_nth::{self, EveryNthOptions, EveryNthResult, NAME, SERIES};

use super::spin::{SAMPLES, Spin};
use crate::error::{Result, runtime_error};
use crate::output;
use crate::progress::ProgressReporter;
use crate::resolve::lab::lab_error;
use crate::signals::stop_run_on_signal;

/// Both loops in real time, and the truth.
pub(super) struct Measured {
    closed: Run,
    open: Run,
    open_began: bool,
    truth: EveryNthResult,
    calibration: String,
}

impl Measured {
    pub(super) fn report(&self) -> LabReport<'_> {
        let loops = MeasuredLoops { closed: &self.closed, open: &self.open, open_began: self.open_began };
        measured_report(loops, &self.truth, self.calibration.clone())
    }
}

/// Measures the closed and then the open loop.
///
/// # Errors
/// If an option is out of range, or the books do not balance, which is a bug.
pub(super) fn measure(options: &EveryNthOptions, quiet: bool) -> Result<Measured> {
    let truth = every_nth::run(options).map_err(|error| lab_error(NAME, &error))?;
    let harness = Harness { options, spin: Spin::calibrated(options.work), quiet };
    let requests = truth.closed.count();
    if !quiet {
        output::note(&format!("{NAME}: takes about {:.0}s", options.real_time_seconds(requests)));
    }
    let [closed_name, open_name] = SERIES;
    let (closed, stopped) = harness.measure(closed_name, closed_loop(requests), false)?;
    let (open, _) = harness.measure(open_name, CallPlan::at_rate(options.rate, options.duration), stopped)?;
    Ok(Measured { closed, open, open_began: !stopped, truth, calibration: harness.calibration() })
}

/// Returns a plan with as many requests as the open loop plans, one after the other.
fn closed_loop(requests: u64) -> CallPlan {
    let horizon = Horizon { duration: None, requests: Some(requests) };
    CallPlan::new(LoadModel::Closed { users: 1.into(), think_time: Nanos::ZERO, horizon })
}

struct Harness<'a> {
    options: &'a EveryNthOptions,
    spin: Spin,
    quiet: bool,
}

impl Harness<'_> {
    /// Measures one series, and returns true if the user stopped it. If `stopped`, the series has only a tally.
    fn measure(&self, name: &'static str, plan: CallPlan, stopped: bool) -> Result<(Run, bool)> {
        let control = Control::new();
        if stopped {
            control.stop_now();
        }
        let signals = stop_run_on_signal(&control)?;
        let reporter = (!self.quiet).then(|| ProgressReporter::start(plan.workload.model.clone(), control.clone()));
        let measured = bench(&plan, &control, |_| self.service());
        drop(reporter);
        drop(signals);
        measured.snapshot.tally.check().map_err(runtime_error)?;
        let mut run = measured.into_run(RunSource::Callable, plan.offered());
        run.facts.offered.name = Some(format!("{NAME}/{name}"));
        run.facts.interrupted = control.was_stopped();
        run.facts.notes.push(self.calibration());
        Ok((run, control.was_stopped()))
    }

    /// Returns the service: a spin for most requests, a sleep for every n-th.
    fn service(&self) -> impl FnMut() -> u64 + use<> {
        let spin = self.spin;
        let every = self.options.pause_every;
        let pause = self.options.pause;
        let mut requests = 0_u64;
        move || {
            requests += 1;
            if requests.is_multiple_of(every) {
                thread::sleep(pause.into());
                return requests;
            }
            spin.work()
        }
    }

    fn calibration(&self) -> String {
        format!(
            "{} of work are {} rounds of arithmetic on this machine, calibrated beforehand (median of {SAMPLES} samples)",
            number::round_time(self.options.work.0),
            number::count(self.spin.rounds())
        )
    }
}
