//! Runs of scenarios in virtual time.

use std::collections::BTreeMap;

use truetail_model::driver::Stripe;
use truetail_model::record::{Recorder, RecorderOptions, SamplesOptions};
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::Workload;
use truetail_run::{Facts, OfferedLoad, Run, RunSource, StripeFacts};

use crate::{FaultClockStart, GeneratorFlaws, Sessions, SimError, Simulation, SimulationEnd, StreamBooks};

/// Maximum number of seconds that are allocated before a run: a day.
const MAX_ALLOCATED_SECONDS: u64 = 86_400;

/// Options of a simulated run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimOptions {
    /// If true, the distributions of each second are kept too.
    pub per_second: bool,
    /// Number of single requests to keep.
    pub samples: SamplesOptions,
    /// Start of the fault clock.
    pub fault_clock: FaultClockStart,
    /// Flaws of the generator; `None`: it is never late.
    pub flaws: Option<GeneratorFlaws>,
}

impl Default for SimOptions {
    /// The defaults of a real run.
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
    /// The fastest options: only distributions of the whole run and counts of each second.
    pub const LEAN: SimOptions = SimOptions {
        per_second: false,
        samples: SamplesOptions::NONE,
        fault_clock: FaultClockStart::FirstRequest,
        flaws: None,
    };

    /// Creates a recorder with these options for a run of `workload`.
    pub fn recorder(&self, workload: &Workload) -> Recorder {
        let horizon = workload.model.horizon().duration.unwrap_or(Nanos::ZERO);
        let seconds = (Timestamp::ZERO + horizon + workload.limits.drain).second() as u64 + 1;
        Recorder::new(RecorderOptions {
            measure_from: Timestamp(workload.warmup.0),
            expected_seconds: seconds.min(MAX_ALLOCATED_SECONDS) as usize,
            per_second: self.per_second,
            samples: self.samples,
        })
    }
}

/// Runs `scenario` in virtual time and returns what an ideal client measures: without a network, and with a generator
/// that is late only by [`SimOptions::flaws`]. The same scenario always gives the same run.
///
/// Answers have no size in virtual time, so `bytes_in` is 0. No connection is opened, so there is no connect time.
///
/// # Errors
/// [`SimError`] if the scenario has no end, or virtual time cannot advance.
pub fn simulate(scenario: &Scenario, options: SimOptions) -> Result<Run, SimError> {
    let Scenario { service, workload, path, .. } = scenario;
    let mut sinks = (options.recorder(workload), books(scenario));
    let mut simulation = Simulation::new(service, workload, options.fault_clock)?.at_path(path);
    if let Some(flaws) = options.flaws {
        simulation = simulation.with_flaws(flaws);
    }
    let end = simulation.run(&mut sinks)?;
    let (recorder, books) = sinks;
    let snapshot = recorder.finish(end.schedule_hash);
    let stream = books.map(|books| books.finish(&snapshot.samples));
    let facts = Facts { stream, ..facts(&scenario.name, workload, end) };
    Ok(Run { facts, snapshot })
}

/// Runs a partly open load like [`simulate`], and fails like it. `sessions` decides about the sessions and the routes
/// of their requests, instead of the path of the scenario.
pub fn simulate_sessions(
    scenario: &Scenario,
    options: SimOptions,
    sessions: &mut impl Sessions,
) -> Result<Run, SimError> {
    let Scenario { service, workload, .. } = scenario;
    let mut recorder = options.recorder(workload);
    let end = Simulation::new(service, workload, options.fault_clock)?.run_sessions(&mut recorder, sessions)?;
    Ok(Run { facts: facts(&scenario.name, workload, end), snapshot: recorder.finish(end.schedule_hash) })
}

/// Returns books for the streams of `scenario`; `None` if its service does not stream.
fn books(scenario: &Scenario) -> Option<StreamBooks> {
    let measure_from = Timestamp(scenario.workload.warmup.0);
    scenario.service.stream.map(|_| StreamBooks::new(&scenario.path, measure_from))
}

/// Deals the load of `scenario` out over `machines` (at least one) in front of one service. Returns the run of each
/// machine. The runs merge into the run of [`simulate`], unless a cap on connections, or a number of requests in the
/// closed model, is dealt out too.
///
/// # Errors
/// Those of [`simulate`].
pub fn simulate_on(machines: u32, scenario: &Scenario, options: SimOptions) -> Result<Vec<Run>, SimError> {
    let Scenario { service, workload, path, .. } = scenario;
    let mut sinks: Vec<StripeSinks> = (0..machines).map(|_| (options.recorder(workload), books(scenario))).collect();
    let simulation = Simulation::with_machines(service, workload, options.fault_clock, machines)?.at_path(path);
    let ends = simulation.run_apart(&mut sinks)?;
    let parts = Stripe::all(machines).zip(sinks).zip(ends);
    Ok(parts.map(|((stripe, kept), end)| stripe_run(stripe, kept, end, scenario)).collect())
}

/// Returns the run of the machine that has `stripe`, like [`simulate_on`], without keeping the other machines'
/// requests.
pub fn simulate_stripe(stripe: Stripe, scenario: &Scenario, options: SimOptions) -> Result<Run, SimError> {
    let Scenario { service, workload, path, .. } = scenario;
    let sink = |each| (each == stripe).then(|| (options.recorder(workload), books(scenario)));
    let mut sinks: Vec<Option<StripeSinks>> = Stripe::all(stripe.count()).map(sink).collect();
    let simulation = Simulation::with_machines(service, workload, options.fault_clock, stripe.count())?.at_path(path);
    let ends = simulation.run_apart(&mut sinks)?;
    let own = stripe.index() as usize;
    let kept = sinks[own].take().expect("made above");
    Ok(stripe_run(stripe, kept, ends[own], scenario))
}

/// Sinks of one of several machines: its requests, and its streams if the service streams.
type StripeSinks = (Recorder, Option<StreamBooks>);

fn stripe_run(stripe: Stripe, (recorder, books): StripeSinks, end: SimulationEnd, scenario: &Scenario) -> Run {
    let stripe = Some(StripeFacts::new(stripe, &scenario.workload));
    let snapshot = recorder.finish(end.schedule_hash);
    let stream = books.map(|books| books.finish(&snapshot.samples));
    let facts = Facts { stripe, stream, ..facts(&scenario.name, &scenario.workload, end) };
    Run { facts, snapshot }
}

pub(crate) fn facts(name: &str, workload: &Workload, end: SimulationEnd) -> Facts {
    Facts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        source: RunSource::Simulator,
        started_at_unix_ns: None,
        elapsed_ns: end.at.0,
        offered: OfferedLoad { name: Some(name.to_owned()), ..OfferedLoad::from_workload(workload) },
        host: None,
        generator: None,
        interrupted: false,
        cut_short: Some(false),
        checkpoint: None,
        bytes_in: 0,
        notes: stuck_note(end).into_iter().collect(),
        command: None,
        tags: BTreeMap::new(),
        claims: None,
        stripe: None,
        start: None,
        shards: None,
        trace: None,
        server_timing: None,
        kept_headers: None,
        scrapes: Vec::new(),
        marks: Vec::new(),
        by_target: Vec::new(),
        checks: Vec::new(),
        failed_answers: Vec::new(),
        stream: None,
        sessions: None,
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
