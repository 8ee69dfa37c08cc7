//! Runs on real sockets for the page: one at a time, on a thread beside the page, against a server in this process.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use truetail_engine::{Control, Method, Plan, Target};
use truetail_model::scenario::Scenario;
use truetail_model::workload::Workload;
use truetail_page::explore::{MeasuredLoop, MeasuredRun, RealPlan, RealProgress, RealState, Settings};
use truetail_run::Run;
use truetail_server::{Server, ServerOptions};

/// The run in progress, or the last one.
#[derive(Default)]
pub(super) struct RealRuns {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    Idle,
    Running(Running),
    /// Cancelled, but still running.
    Ending,
    Done(Box<Settings>, Arc<Vec<MeasuredRun>>),
    Cancelled,
    Failed(String),
}

/// The loop that is being measured.
struct Running {
    measured: MeasuredLoop,
    control: Control,
    began: Instant,
    sends_for_s: Option<f64>,
}

impl Running {
    fn new(measured: MeasuredLoop, workload: &Workload) -> Running {
        let sends_for_s = workload.model.horizon().duration.map(|duration| duration.as_secs_f64());
        Running { measured, control: Control::new(), began: Instant::now(), sends_for_s }
    }

    fn progress(&self) -> RealProgress {
        let seen = self.control.progress();
        RealProgress {
            measured: self.measured,
            elapsed_s: self.began.elapsed().as_secs_f64(),
            sends_for_s: self.sends_for_s,
            sent: seen.issued,
            answered: seen.responses,
        }
    }
}

impl RealRuns {
    /// Starts a run and returns at once.
    ///
    /// # Errors
    /// If a run is in progress, or the system has no thread left.
    pub(super) fn start(&self, settings: Settings, plan: RealPlan) -> Result<(), String> {
        let mut state = self.shared.state();
        if matches!(*state, State::Running(_) | State::Ending) {
            return Err("a run is going on; wait for its end or cancel it".to_owned());
        }
        // In every other state, the previous thread has nothing left to do.
        *state = State::Running(Running::new(MeasuredLoop::Open, &plan.scenario.workload));
        drop(state);
        let shared = Arc::clone(&self.shared);
        let measure = move || shared.measure(settings, &plan);
        let spawned = thread::Builder::new().name("truetail-real-run".to_owned()).spawn(measure);
        match spawned {
            Ok(thread) => {
                *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
                Ok(())
            }
            Err(error) => {
                *self.shared.state() = State::Idle;
                Err(format!("cannot start a thread for the run: {error}"))
            }
        }
    }

    /// Returns the state of the current or last run.
    pub(super) fn state(&self) -> RealState {
        match &*self.shared.state() {
            State::Idle => RealState::Idle,
            State::Running(running) => RealState::Running(running.progress()),
            State::Ending | State::Cancelled => RealState::Cancelled,
            State::Done(settings, loops) => RealState::Done(settings.clone(), Arc::clone(loops)),
            State::Failed(message) => RealState::Failed(message.clone()),
        }
    }

    /// Returns true while a run is in progress.
    pub(super) fn is_running(&self) -> bool {
        matches!(*self.shared.state(), State::Running(_))
    }

    /// Cancels the run in progress, if any.
    pub(super) fn cancel(&self) {
        let mut state = self.shared.state();
        if let State::Running(running) = &*state {
            running.control.stop_now();
            *state = State::Ending;
        }
    }

    /// Cancels the run in progress, if any, and waits for its end.
    pub(super) fn end(&self) {
        self.cancel();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Measures the loops of `plan` and stores the result.
    fn measure(&self, settings: Settings, plan: &RealPlan) {
        let ended = self.measure_all(plan);
        let mut state = self.state();
        *state = match (mem::take(&mut *state), ended) {
            (State::Running(_), Ok(loops)) => State::Done(Box::new(settings), Arc::new(loops)),
            (State::Running(_), Err(message)) => State::Failed(message),
            (State::Ending, _) => State::Cancelled,
            (other @ (State::Idle | State::Done(..) | State::Cancelled | State::Failed(_)), _) => other,
        };
    }

    /// Measures the loops of `plan` in turn. A cancelled run returns the loops that were complete.
    fn measure_all(&self, plan: &RealPlan) -> Result<Vec<MeasuredRun>, String> {
        let open = (MeasuredLoop::Open, &plan.scenario.workload);
        let closed = plan.closed.as_ref().map(|workload| (MeasuredLoop::Closed, workload));
        let mut measured_runs = Vec::new();
        for (measured, workload) in [open].into_iter().chain(closed) {
            let Some(control) = self.begin(measured, workload) else { break };
            let run = offer(&plan.scenario, workload, &control)?;
            if control.was_stopped() {
                break;
            }
            let findings = truetail_analysis::findings(&run);
            measured_runs.push(MeasuredRun { measured, run, findings });
        }
        Ok(measured_runs)
    }

    /// Marks this loop as the one being measured; returns `None` if the run was cancelled.
    fn begin(&self, measured: MeasuredLoop, workload: &Workload) -> Option<Control> {
        let mut state = self.state();
        let State::Running(running) = &mut *state else { return None };
        *running = Running::new(measured, workload);
        Some(running.control.clone())
    }
}

/// Offers `workload` to a new server that behaves like `scenario`.
fn offer(scenario: &Scenario, workload: &Workload, control: &Control) -> Result<Run, String> {
    let options =
        ServerOptions { keep_truth: false, ..ServerOptions::new(scenario.service.clone(), ServerOptions::ANY_PORT) };
    let server = Server::start(options).map_err(|error| error.to_string())?;
    let url = format!("http://{}{}", server.addr(), scenario.path);
    let target = Target::resolve(Method::Get, &url, &[], Vec::new()).map_err(|error| error.to_string())?;
    let plan = Plan::new(workload.clone(), target);
    let measured = truetail_engine::run(&plan, control).map_err(|error| error.to_string())?;
    drop(server);
    let mut run = measured.into_checked_run(&plan, control).map_err(|error| error.to_string())?;
    run.facts.offered.name = Some(scenario.name.clone());
    Ok(run)
}
