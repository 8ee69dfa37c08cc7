//! Two services in the simulator that run in turns.

use truetail_analysis::findings;
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::scenario::Scenario;
use truetail_model::service::{Service, Variation};
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::GateFinding;
use truetail_sim::{SimOptions, simulate};
use truetail_study::ab::{RunSide, Side, SideFigures, SideOutcome};

/// The mean service time of A.
const SERVICE_TIME: Nanos = Nanos::from_millis(1);
const LOAD: f64 = 0.5;

/// A queue with one server, exponential work and Poisson arrivals. B is `ratio` times as slow as A.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    /// Different seeds give different runs.
    pub seed: u64,
    /// B's service time divided by A's.
    pub ratio: f64,
    /// Drift of the machine: each run's service time exceeds that of the run before by this share of the first.
    pub drift: f64,
    /// Approximate number of requests in a run.
    pub requests: u32,
    /// Number of runs.
    pub runs: u32,
}

impl Sides {
    pub fn new(seed: u64, ratio: f64) -> Sides {
        Sides { seed, ratio, drift: 0.0, requests: 4_000, runs: 0 }
    }

    fn scenario(&self, side: Side, round: u32) -> Scenario {
        let ratio = if side == Side::A { 1.0 } else { self.ratio };
        let baseline = Nanos((SERVICE_TIME.0 as f64 * ratio * (1.0 + self.drift * f64::from(self.runs))) as u64);
        let rate = LOAD / SERVICE_TIME.as_secs_f64();
        let duration = Nanos((f64::from(self.requests) / rate * 1e9) as u64);
        // Each run has a server with its own work. Both sides of a round share their arrivals.
        let server = self.seed * 1_000 + u64::from(self.runs);
        let arrivals = self.seed * 1_000 + 500 + u64::from(round);
        let schedule = Schedule {
            profile: Profile::constant(Rate::per_second(rate).expect("a rate")),
            spacing: Spacing::Poisson,
            seed: arrivals,
            horizon: Horizon { duration: Some(duration), requests: None },
        };
        Scenario {
            name: "queue".to_owned(),
            about: String::new(),
            service: Service {
                variation: Variation::Exponential,
                concurrency: Some(1),
                seed: server,
                ..Service::healthy(baseline)
            },
            workload: Workload { model: LoadModel::Open(schedule), limits: Limits::default(), warmup: Nanos::ZERO },
            path: "/".to_owned(),
        }
    }
}

impl RunSide for Sides {
    type Error = String;

    fn run(&mut self, side: Side, round: u32) -> Result<SideOutcome, String> {
        let scenario = self.scenario(side, round);
        self.runs += 1;
        let run = simulate(&scenario, SimOptions::LEAN).map_err(|error| error.to_string())?;
        Ok(SideOutcome::Done(Box::new(SideFigures::of_run(&run, findings(&run)))))
    }

    fn report_look(&mut self, _rounds: u32, _gates: &[GateFinding]) {}
}
