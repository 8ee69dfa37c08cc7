//! From a scenario to a run.

use truetail_model::driver::Stripe;
use truetail_model::record::{Recorder, RecorderOptions, SamplesOptions};
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::Workload;
use truetail_run::{Facts, OfferedLoad, Run, RunSource, StripeFacts};

use crate::{FaultClockStart, GeneratorFlaws, SimError, Simulation, SimulationEnd};

/// The most seconds that are allocated before a run: a day.
const MOST_SECONDS_ALLOCATED: u64 = 86_400;

/// What a simulated run keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimOptions {
    /// Keep the distributions of each second in addition to those of the whole run.
    pub per_second: bool,
    /// How many single requests to keep.
    pub samples: SamplesOptions,
    /// When the fault clock starts.
    pub fault_clock: FaultClockStart,
    /// How late the generator is; `None`: never.
    pub flaws: Option<GeneratorFlaws>,
}

impl Default for SimOptions {
    /// The same as a real run.
    fn default() -> SimOptions {
        let recorder = RecorderOptions::default();
        SimOptions {
            per_second: recorder.per_second,
            samples: recorder.samples,
            fault_clock: FaultClockStart::FirstRequest,
            flaws: None,
        }
    }
}

impl SimOptions {
    /// The fastest: distributions of the whole run and counts of each second, nothing else.
    pub const LEAN: SimOptions = SimOptions {
        per_second: false,
        samples: SamplesOptions::NONE,
        fault_clock: FaultClockStart::FirstRequest,
        flaws: None,
    };

    /// A recorder with these options for a run of `workload`.
    pub fn recorder(&self, workload: &Workload) -> Recorder {
        let horizon = workload.model.horizon().duration.unwrap_or(Nanos::ZERO);
        let seconds = (Timestamp::ZERO + horizon + workload.limits.drain).second() as u64 + 1;
        Recorder::new(RecorderOptions {
            measure_from: Timestamp(workload.warmup.0),
            expected_seconds: seconds.min(MOST_SECONDS_ALLOCATED) as usize,
            per_second: self.per_second,
            samples: self.samples,
        })
    }
}

/// Runs `scenario` in virtual time: what an ideal client measures, without a network and, unless
/// [`SimOptions::flaws`] say otherwise, with a generator that is never late. The same scenario always gives the same run.
///
/// Answers have no size in virtual time, so `bytes_in` is 0. No connection is opened, so there is no connect time.
///
/// # Errors
/// [`SimError`] if the scenario has no end, or virtual time cannot advance.
pub fn simulate(scenario: &Scenario, options: SimOptions) -> Result<Run, SimError> {
    let Scenario { service, workload, .. } = scenario;
    let mut recorder = options.recorder(workload);
    let mut simulation = Simulation::new(service, workload, options.fault_clock)?;
    if let Some(flaws) = options.flaws {
        simulation = simulation.with_flaws(flaws);
    }
    let end = simulation.run(&mut recorder)?;
    let facts = facts(&scenario.name, workload, end);
    Ok(Run { facts, snapshot: recorder.finish(end.schedule_hash) })
}

/// Deals the load of `scenario` out over `machines`, at least one, whose requests meet one service, and returns the run of
/// each. Where there is no cap on connections, and no number of requests in the closed model, the runs merge into what
/// [`simulate`] returns: a cap and such a number are dealt out too.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_on(machines: u32, scenario: &Scenario, options: SimOptions) -> Result<Vec<Run>, SimError> {
    let Scenario { service, workload, .. } = scenario;
    let mut recorders: Vec<Recorder> = (0..machines).map(|_| options.recorder(workload)).collect();
    let simulation = Simulation::of_machines(service, workload, options.fault_clock, machines)?;
    let ends = simulation.run_apart(&mut recorders)?;
    let parts = Stripe::all(machines).zip(recorders).zip(ends);
    Ok(parts.map(|((stripe, recorder), end)| run_of(stripe, recorder, end, scenario)).collect())
}

/// The run of the machine that has `stripe`, as [`simulate_on`] returns it for as many machines as there are stripes. Only its
/// own requests are kept.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_stripe(stripe: Stripe, scenario: &Scenario, options: SimOptions) -> Result<Run, SimError> {
    let Scenario { service, workload, .. } = scenario;
    let recorder = |each| (each == stripe).then(|| options.recorder(workload));
    let mut recorders: Vec<Option<Recorder>> = Stripe::all(stripe.of()).map(recorder).collect();
    let simulation = Simulation::of_machines(service, workload, options.fault_clock, stripe.of())?;
    let ends = simulation.run_apart(&mut recorders)?;
    let own = stripe.index() as usize;
    let recorder = recorders[own].take().expect("made above");
    Ok(run_of(stripe, recorder, ends[own], scenario))
}

/// The run of one of several machines.
fn run_of(stripe: Stripe, recorder: Recorder, end: SimulationEnd, scenario: &Scenario) -> Run {
    let stripe = Some(StripeFacts::of(stripe, &scenario.workload));
    let facts = Facts { stripe, ..facts(&scenario.name, &scenario.workload, end) };
    Run { facts, snapshot: recorder.finish(end.schedule_hash) }
}

/// The facts of a run in virtual time.
pub(crate) fn facts(name: &str, workload: &Workload, end: SimulationEnd) -> Facts {
    Facts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        source: RunSource::Simulator,
        started_at_unix_ns: None,
        elapsed_ns: end.at.0,
        offered: OfferedLoad { name: Some(name.to_owned()), ..OfferedLoad::of(workload) },
        host: None,
        generator: None,
        interrupted: false,
        cut_short: Some(false),
        bytes_in: 0,
        notes: stuck_note(end).into_iter().collect(),
        command: None,
        claims: None,
        stripe: None,
        start: None,
        shards: None,
        by_target: Vec::new(),
        checks: Vec::new(),
        failed_answers: Vec::new(),
        stream: None,
    }
}

fn stuck_note(end: SimulationEnd) -> Option<String> {
    end.stuck.then(|| {
        format!(
            "nothing more could happen from {:.3} s on: requests in flight never end, and there is neither a timeout nor \
             a drain limit; a real run would have waited forever",
            end.at.as_secs_f64()
        )
    })
}
