//! What the page needs of simulator, server and engine, none of which it knows.

use std::sync::Arc;

use truetail_run::{Findings, Run};

use super::settings::{RealPlan, Settings, SimulationPlan};

/// Settings with a name.
#[derive(Clone, PartialEq, Debug)]
pub struct Preset {
    /// Such as `02-single-hiccup`, or the name of a lab.
    pub name: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// The settings themselves.
    pub settings: Settings,
}

/// What each loop saw in virtual time.
#[derive(Clone, Debug)]
pub struct SimulatedLoops {
    /// On the schedule.
    pub open: Run,
    /// Users who wait for their answers.
    pub closed: Run,
    /// The closed loop with HdrHistogram's correction.
    pub corrected: Run,
    /// How many requests of `corrected` are reconstructed.
    pub reconstructed: u64,
}

/// Which loop a run on real sockets measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeasuredLoop {
    /// On the schedule.
    Open,
    /// Users who wait for their answers.
    Closed,
}

/// A run on real sockets, done.
#[derive(Clone, Debug)]
pub struct MeasuredRun {
    /// What it measured.
    pub measured: MeasuredLoop,
    /// What was recorded.
    pub run: Run,
    /// What follows from it.
    pub findings: Findings,
}

/// How far a run on real sockets is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RealProgress {
    /// What it measures now.
    pub measured: MeasuredLoop,
    /// Seconds since this loop began.
    pub elapsed_s: f64,
    /// Seconds for which it sends; `None` where a number of requests ends it.
    pub sends_for_s: Option<f64>,
    /// Requests sent so far.
    pub sent: u64,
    /// Requests answered so far.
    pub answered: u64,
}

/// Where the runs on real sockets stand. There is one at a time.
#[derive(Clone, Debug)]
pub enum RealState {
    /// None was started yet.
    Idle,
    /// One is going on.
    Running(RealProgress),
    /// The last one is done. Its settings, and its loops in the order in which they were measured.
    Done(Box<Settings>, Arc<Vec<MeasuredRun>>),
    /// The last one was cancelled.
    Cancelled,
    /// The last one failed: why, in a sentence.
    Failed(String),
}

/// Simulator, server and engine.
pub trait Backend: Send + Sync {
    /// The settings that the page offers by name, the first of which it begins with; at least one.
    fn presets(&self) -> Vec<Preset>;

    /// Simulates each loop.
    ///
    /// # Errors
    /// Why it is impossible, in a sentence.
    fn simulate(&self, plan: &SimulationPlan) -> Result<SimulatedLoops, String>;

    /// The run of the open loop alone, with all that a verdict looks at.
    ///
    /// # Errors
    /// As [`Backend::simulate`].
    fn open_loop(&self, plan: &SimulationPlan) -> Result<Run, String>;

    /// Starts a run of `plan`, which follows from `settings`, on real sockets of this machine's loopback interface, and
    /// returns at once.
    ///
    /// # Errors
    /// Why it is impossible, in a sentence: for example because another one is going on.
    fn start_real(&self, settings: Settings, plan: RealPlan) -> Result<(), String>;

    /// Where the runs stand.
    fn real(&self) -> RealState;

    /// Ends the run that goes on, if there is one.
    fn cancel_real(&self);
}
