//! Simulator, server and engine behind the page.

use truetail_engine::host;
use truetail_page::explore::backend::SimulatedLoops;
use truetail_page::explore::{Backend, Preset, RealPlan, RealState, Settings, SimulationPlan};
use truetail_run::Run;
use truetail_sim::{Loops, SimOptions, simulate, simulate_loops};

use super::presets::presets;
use super::real_runs::RealRuns;

/// The simulator computes the curves; server and engine make runs on real sockets.
#[derive(Default)]
pub(super) struct SimulatorAndEngine {
    runs: RealRuns,
}

impl SimulatorAndEngine {
    /// Lowers the priority of this thread during a run on real sockets, which must not wait for a slider.
    fn give_way(&self) {
        if self.runs.is_running() {
            host::lower_thread_priority();
        }
    }

    /// Cancels the run on real sockets, if any, and waits for its end.
    pub(super) fn end(&self) {
        self.runs.end();
    }
}

impl Backend for SimulatorAndEngine {
    fn presets(&self) -> Vec<Preset> {
        presets()
    }

    fn simulate(&self, plan: &SimulationPlan) -> Result<SimulatedLoops, String> {
        self.give_way();
        let seen = simulate_loops(&plan.scenario, &plan.closed, plan.expected_interval, quick());
        let Loops { open, closed, corrected, reconstructed } = seen.map_err(|error| error.to_string())?;
        Ok(SimulatedLoops { open, closed, corrected, reconstructed })
    }

    fn open_loop(&self, plan: &SimulationPlan) -> Result<Run, String> {
        self.give_way();
        simulate(&plan.scenario, SimOptions::default()).map_err(|error| error.to_string())
    }

    fn start_real(&self, settings: Settings, plan: RealPlan) -> Result<(), String> {
        self.runs.start(settings, plan)
    }

    fn real(&self) -> RealState {
        self.runs.state()
    }

    fn cancel_real(&self) {
        self.runs.cancel();
    }
}

/// Options for the curves, which need every request but no distributions per second.
fn quick() -> SimOptions {
    SimOptions { per_second: false, ..SimOptions::default() }
}
