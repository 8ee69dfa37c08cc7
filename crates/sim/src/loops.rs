//! One service measured by an open loop, a closed loop, and the closed loop with HdrHistogram's correction.

use std::thread;

use truetail_model::scenario::Scenario;
use truetail_model::time::Nanos;
use truetail_model::workload::Workload;
use truetail_run::Run;

use crate::labs::CorrectedRecorder;
use crate::run::facts;
use crate::{SimError, SimOptions, Simulation, simulate};

/// Runs of the three loops.
#[derive(Clone, Debug)]
pub struct Loops {
    /// Run on the schedule of the scenario.
    pub open: Run,
    /// Run of users who wait for their answers.
    pub closed: Run,
    /// Run of the closed loop with HdrHistogram's correction.
    pub corrected: Run,
    /// Number of requests in `corrected` that are reconstructed.
    pub reconstructed: u64,
}

/// Simulates `scenario` with its own workload and with `closed`, at the same time. The correction assumes
/// `expected_interval` between two requests of a user. The fault clock starts at the first request of each loop.
///
/// # Errors
/// [`SimError`] if a workload has no end, or virtual time cannot advance.
pub fn simulate_loops(
    scenario: &Scenario,
    closed: &Workload,
    expected_interval: Nanos,
    options: SimOptions,
) -> Result<Loops, SimError> {
    let open = || simulate(scenario, options);
    let (open, ClosedLoops { closed, corrected, reconstructed }) = thread::scope(|scope| {
        let open = scope.spawn(open);
        let closed = closed_loops(scenario, closed, expected_interval, options)?;
        let open = open.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok((open, closed))
    })?;
    Ok(Loops { open, closed, corrected, reconstructed })
}

struct ClosedLoops {
    closed: Run,
    corrected: Run,
    reconstructed: u64,
}

fn closed_loops(
    scenario: &Scenario,
    workload: &Workload,
    expected_interval: Nanos,
    options: SimOptions,
) -> Result<ClosedLoops, SimError> {
    let correction = CorrectedRecorder::new(options.recorder(workload), expected_interval);
    let mut sinks = (options.recorder(workload), correction);
    let end =
        Simulation::new(&scenario.service, workload, options.fault_clock)?.at_path(&scenario.path).run(&mut sinks)?;
    let (recorder, correction) = sinks;
    let reconstructed = correction.reconstructed();
    let facts = facts(&scenario.name, workload, end);
    Ok(ClosedLoops {
        closed: Run { facts: facts.clone(), snapshot: recorder.finish(end.schedule_hash) },
        corrected: Run { facts, snapshot: correction.finish() },
        reconstructed,
    })
}
