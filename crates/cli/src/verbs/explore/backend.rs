//! What the page asks of simulator, server and engine.

use truetail_page::explore::backend::SimulatedLoops;
use truetail_page::explore::{Backend, Preset, RealPlan, RealState, Settings, SimulationPlan};
use truetail_sim::loops;

use super::presets::presets;
use super::real_runs::RealRuns;

/// The simulator for the curves, server and engine for runs on real sockets.
#[derive(Default)]
pub struct SimulatorAndEngine {
    runs: RealRuns,
}

impl SimulatorAndEngine {
    /// Ends a run on real sockets, and waits until it has ended.
    pub fn end(&self) {
        self.runs.end();
    }
}

impl Backend for SimulatorAndEngine {
    fn presets(&self) -> Vec<Preset> {
        presets()
    }

    fn simulate(&self, plan: &SimulationPlan) -> Result<SimulatedLoops, String> {
        let seen = loops(&plan.scenario, &plan.closed, plan.expected_interval).map_err(|error| error.to_string())?;
        let truetail_sim::Loops { open, closed, corrected, reconstructed } = seen;
        Ok(SimulatedLoops { open, closed, corrected, reconstructed })
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
