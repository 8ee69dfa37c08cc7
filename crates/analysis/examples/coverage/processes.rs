//! Services and workloads with exactly known quantiles.

use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::random::Random;
use truetail_model::record::SamplesOptions;
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::service::{Fault, Gate, Service, Variation};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_sim::{Run, SimOptions, simulate};

pub const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// A slow service with Poisson arrivals.
#[derive(Clone, Copy)]
pub enum Process {
    /// M/M/1 that starts empty, at this load. Its response time is exponential with rate μ − λ (Kleinrock, *Queueing
    /// Systems* I, section 3.2).
    Queue(f64),
    /// Exponential times without a queue, so values are independent.
    Independent,
    /// `04-gc-pauses`: a pause of 200 ms every 10 s, for the 60 s of the scenario.
    Pauses,
    /// Pauses of that length with exponential times between them, one every 10 s on average.
    RandomPauses,
}

/// A process with a request rate and a length.
#[derive(Clone, Copy)]
pub struct Case {
    pub process: Process,
    pub per_second: f64,
    pub seconds: f64,
    /// True to keep single requests, false to compute intervals from the rows of the seconds.
    pub samples: bool,
}

/// Length of a pause, and mean time from one pause to the next.
const PAUSE_S: f64 = 0.2;
const PERIOD_S: f64 = 10.0;
const BASELINE: Nanos = Nanos::from_millis(10);

impl Case {
    pub const fn new(process: Process, per_second: f64, seconds: f64) -> Case {
        Case { process, per_second, seconds, samples: true }
    }

    pub const fn by_second(self) -> Case {
        Case { samples: false, ..self }
    }

    pub fn name(&self) -> String {
        let process = match self.process {
            Process::Queue(load) => format!("M/M/1 at {:.0} %", load * 100.0),
            Process::Independent => "independent".to_owned(),
            Process::Pauses => "gc-pauses".to_owned(),
            Process::RandomPauses => "pauses at random".to_owned(),
        };
        let by = if self.samples { "" } else { ", by second" };
        format!("{process}, {}/s, {} s{by}", self.per_second, self.seconds)
    }

    pub fn truth(&self, q: f64) -> f64 {
        let exponential = |per_second: f64| -(1.0 - q).ln() / per_second * 1e9;
        match self.process {
            Process::Queue(load) => exponential(self.per_second / load - self.per_second),
            Process::Independent => exponential(1.0 / BASELINE.as_secs_f64()),
            Process::Pauses | Process::RandomPauses => paused_quantile(q),
        }
    }

    pub fn run(&self, seed: u64) -> Run {
        let options = if self.samples {
            SimOptions::default()
        } else {
            SimOptions { samples: SamplesOptions::NONE, ..SimOptions::default() }
        };
        simulate(&self.scenario(seed), options).expect("the schedule has an end")
    }

    fn scenario(&self, seed: u64) -> Scenario {
        let schedule = Schedule {
            profile: Profile::constant(Rate::per_second(self.per_second).expect("above zero")),
            spacing: Spacing::Poisson,
            seed,
            horizon: Horizon { duration: Some(Nanos::from_secs_f64(self.seconds)), requests: None },
        };
        let limits = Limits { timeout: None, drain: Nanos::from_secs(3_600), ..Limits::default() };
        let workload = Workload { model: LoadModel::Open(schedule), limits, warmup: Nanos::ZERO };
        Scenario {
            name: "coverage".into(),
            about: String::new(),
            service: self.service(seed),
            workload,
            path: "/".into(),
        }
    }

    fn service(&self, seed: u64) -> Service {
        let exponential = |work| Service { variation: Variation::Exponential, seed, ..Service::healthy(work) };
        match self.process {
            Process::Queue(load) => {
                Service { concurrency: Some(1), ..exponential(Nanos::from_secs_f64(load / self.per_second)) }
            }
            Process::Independent => exponential(BASELINE),
            Process::Pauses => {
                assert_eq!(self.seconds, 60.0, "after six pauses there are no more");
                builtin::find("04-gc-pauses").expect("it comes with truetail").service
            }
            Process::RandomPauses => Service { faults: self.random_pauses(seed), ..Service::healthy(BASELINE) },
        }
    }

    fn random_pauses(&self, seed: u64) -> Vec<Fault> {
        let mut random = Random::new(seed, 0x7061_7573);
        let mut next = || random.exponential() * (PERIOD_S - PAUSE_S);
        let mut faults = Vec::new();
        let mut at = next();
        while at < self.seconds + 1.0 {
            let length = Nanos::from_secs_f64(PAUSE_S);
            let gate = Gate::Answers;
            faults.push(Fault::Stall { at: Timestamp(Nanos::from_secs_f64(at).0), length, gate });
            at += PAUSE_S + next();
        }
        faults
    }
}

/// True quantile with pauses. The work of an arrival ends in a pause with probability 0.2/10. The answer then waits for
/// the rest of the pause, which is uniform: P(X > 10 ms + t) = (0.2 s − t) / 10 s.
fn paused_quantile(q: f64) -> f64 {
    let beyond_s = (1.0 - q) * PERIOD_S;
    BASELINE.0 as f64 + (PAUSE_S - beyond_s).max(0.0) * 1e9
}
