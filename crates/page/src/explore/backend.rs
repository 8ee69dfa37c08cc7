//! The interface of the page to the simulator, the server and the engine.

use std::sync::Arc;

use truetail_run::{Findings, Run};

use super::settings::{RealPlan, Settings, SimulationPlan};

/// Settings with a name.
#[derive(Clone, PartialEq, Debug)]
pub struct Preset {
    /// Name, such as `02-single-hiccup` or the name of a lab.
    pub name: String,
    /// Description in one sentence.
    pub about: String,
    /// The settings.
    pub settings: Settings,
}

/// Results of each loop in virtual time.
#[derive(Clone, Debug)]
pub struct SimulatedLoops {
    /// The open loop, on a schedule.
    pub open: Run,
    /// The closed loop, of users that wait for their answers.
    pub closed: Run,
    /// The closed loop with HdrHistogram's correction.
    pub corrected: Run,
    /// Number of reconstructed requests in `corrected`.
    pub reconstructed: u64,
}

/// The loop that a run on real sockets measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeasuredLoop {
    /// The open loop, on a schedule.
    Open,
    /// The closed loop, of users that wait for their answers.
    Closed,
}

/// A completed run on real sockets.
#[derive(Clone, Debug)]
pub struct MeasuredRun {
    /// The measured loop.
    pub measured: MeasuredLoop,
    /// The recorded run.
    pub run: Run,
    /// Findings of the run.
    pub findings: Findings,
}

/// Progress of a run on real sockets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RealProgress {
    /// The loop that is being measured.
    pub measured: MeasuredLoop,
    /// Seconds since this loop began.
    pub elapsed_s: f64,
    /// Seconds of sending; `None` if a number of requests ends it.
    pub sends_for_s: Option<f64>,
    /// Requests sent until now.
    pub sent: u64,
    /// Requests answered until now.
    pub answered: u64,
}

/// State of the runs on real sockets. At most one is in progress.
#[derive(Clone, Debug)]
pub enum RealState {
    /// No run was started.
    Idle,
    /// A run is in progress.
    Running(RealProgress),
    /// The last run is complete. Holds its settings, and its loops in the order of their measurement.
    Done(Box<Settings>, Arc<Vec<MeasuredRun>>),
    /// The last run was cancelled.
    Cancelled,
    /// The last run failed, for this reason in one sentence.
    Failed(String),
}

/// Simulator, server and engine.
pub trait Backend: Send + Sync {
    /// Returns the named settings of the page, at least one. The page starts with the first one.
    fn presets(&self) -> Vec<Preset>;

    /// Simulates each loop.
    ///
    /// # Errors
    /// The reason that the simulation is impossible, in one sentence.
    fn simulate(&self, plan: &SimulationPlan) -> Result<SimulatedLoops, String>;

    /// Simulates only the open loop, with all data for a verdict.
    ///
    /// # Errors
    /// The reason that the simulation is impossible, in one sentence.
    fn open_loop(&self, plan: &SimulationPlan) -> Result<Run, String>;

    /// Starts a run of `plan`, made from `settings`, on the loopback interface of this machine, and returns at once.
    ///
    /// # Errors
    /// The reason that the run is impossible, in one sentence, such as another run in progress.
    fn start_real(&self, settings: Settings, plan: RealPlan) -> Result<(), String>;

    /// Returns the state of the runs.
    fn real(&self) -> RealState;

    /// Ends the run in progress, if any.
    fn cancel_real(&self);
}
