//! Simulated clients, and audits of the files that they would have written.

use truetail_analysis::audit::{Audit, Auditor};
use truetail_model::arrival::{Horizon, Profile, Schedule, Sine, Spacing, Stage, Stages};
use truetail_model::random::Random;
use truetail_model::record::{Outcome, RequestRecord};
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::service::{Fault, Gate, Service, Variation};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::{
    Claims, ForeignClock, ForeignLoad, ForeignRequest, ForeignRun, ForeignStarts, ForeignView, LatencyFrom, UnusedRows,
};
use truetail_sim::{FaultClockStart, Simulation, Sink};

pub fn file(resolution_ns: u64) -> ForeignRun {
    ForeignRun {
        format: "simulated",
        tool: None,
        version: None,
        claims: Claims::silent(LatencyFrom::Send),
        histogram: None,
        requests: 0,
        clock: ForeignClock {
            starts: ForeignStarts::Run,
            start_resolution_ns: resolution_ns,
            duration_resolution_ns: resolution_ns.min(1_000_000),
        },
        load: ForeignLoad::default(),
        view: ForeignView::Client,
        damage: UnusedRows::default(),
        notes: Vec::new(),
        habits: &[],
    }
}

/// Writes each request into files of several resolutions, in nanoseconds.
struct Rows<'a> {
    files: Vec<(Auditor, &'a u64)>,
}

impl Sink for Rows<'_> {
    fn planned(&mut self, _: Timestamp) {}

    fn ended(&mut self, record: &RequestRecord) {
        if record.outcome == Outcome::NeverIssued {
            return;
        }
        let duration = record.end.since(record.actual_start).0;
        for (auditor, resolution) in &mut self.files {
            let resolution = **resolution;
            let fine = resolution.min(1_000_000);
            auditor.request(&ForeignRequest::new(
                Some(EPOCH + record.actual_start.0 / resolution * resolution),
                Nanos(duration / fine * fine),
                record.outcome,
            ));
        }
    }
}

const EPOCH: u64 = 1_700_000_000_000_000_000;

/// A service under a load.
#[derive(Clone, Debug)]
pub struct Case {
    pub service: Service,
    pub workload: Workload,
}

impl Case {
    pub fn audit(&self, resolution: u64) -> Audit {
        self.audits(&[resolution]).remove(0)
    }

    /// Audits files of this load with starts of these resolutions, in nanoseconds.
    pub fn audits(&self, resolutions: &[u64]) -> Vec<Audit> {
        let mut rows = Rows { files: resolutions.iter().map(|resolution| (Auditor::new(), resolution)).collect() };
        let simulation = Simulation::new(&self.service, &self.workload, FaultClockStart::FirstRequest);
        simulation.and_then(|simulation| simulation.run(&mut rows)).expect("a load with an end");
        rows.files.into_iter().map(|(auditor, resolution)| auditor.finish(&file(*resolution), None, None)).collect()
    }
}

pub fn closed(users: u32, think: Nanos, duration: Nanos) -> Workload {
    let horizon = Horizon { duration: Some(duration), requests: None };
    let model = LoadModel::Closed { users: users.into(), think_time: think, horizon };
    Workload { model, limits: Limits::default(), warmup: Nanos::ZERO }
}

pub fn open(profile: Profile, spacing: Spacing, seed: u64, duration: Nanos) -> Workload {
    let horizon = Horizon { duration: Some(duration), requests: None };
    let schedule = Schedule { profile, spacing, seed, horizon };
    Workload { model: LoadModel::Open(schedule), limits: Limits::default(), warmup: Nanos::ZERO }
}

pub fn constant(per_second: f64) -> Profile {
    Profile::constant(Rate::per_second(per_second).expect("a rate"))
}

/// A stall: no answer leaves from `at` on, for `length`.
pub fn stall(at: Nanos, length: Nanos) -> Fault {
    Fault::Stall { at: Timestamp(at.0), length, gate: Gate::Answers }
}

pub fn service(variation: Variation, seed: u64, faults: Vec<Fault>) -> Service {
    Service { variation, seed, faults, ..Service::healthy(Nanos::from_millis(10)) }
}

/// A scenario of the laboratory, with `users` in place of its schedule if given.
pub fn scenario(name: &str, users: Option<u32>) -> Case {
    let Scenario { service, workload, .. } = builtin::find(name).expect("a scenario");
    let length = workload.model.horizon().duration.expect("a length");
    let workload = users.map_or(workload, |users| closed(users, Nanos::ZERO, length));
    Case { service, workload }
}

/// Loads on a schedule that must raise no alarm.
pub const OPEN_LOADS: [&str; 14] = [
    "M/M/1 at 50 %",
    "M/M/1 at 80 %",
    "M/M/1 at 95 %",
    "a stall of 1 s, Poisson",
    "a stall of 1 s, 20 requests/s",
    "pauses of 0.2 s, Poisson",
    "every 100th request 0.2 s, one at a time",
    "a climbing rate and a stall",
    "a swinging rate and stalls",
    "spikes into saturation",
    "planned pauses and stalls",
    "saturation",
    "a limit of 2000 connections that does not bind, and a stall",
    "2 requests/s, each 20th of 3 s",
];

/// One of the [`OPEN_LOADS`], 60 s long.
pub fn open_load(kind: usize, seed: u64) -> Case {
    let mut random = Random::new(seed, 0x6175_6469);
    let whole = Nanos::from_secs(60);
    let mut within = |low: f64, high: f64| low + (high - low) * random.uniform();
    let at = Nanos::from_secs_f64(within(5.0, 55.0));
    let even_or_not = if seed.is_multiple_of(2) { Spacing::Even } else { Spacing::Poisson };
    let exponential = |faults| service(Variation::Exponential, seed, faults);
    let queue = |baseline_us: u64, faults| Service {
        baseline: Nanos::from_micros(baseline_us),
        concurrency: Some(1),
        ..exponential(faults)
    };
    let one_second = vec![stall(at, Nanos::from_secs(1))];
    let poisson = |rate: f64| open(constant(rate), Spacing::Poisson, seed, whole);
    let (service, workload) = match kind {
        0 => (queue(2_000, Vec::new()), poisson(250.0)),
        1 => (queue(2_000, Vec::new()), poisson(400.0)),
        2 => (queue(2_000, Vec::new()), poisson(475.0)),
        3 => (exponential(one_second), poisson(1_000.0)),
        4 => (exponential(one_second), poisson(20.0)),
        5 => (exponential(recurring(0.2, 10.0)), poisson(within(100.0, 1_500.0))),
        6 => {
            let pause = Fault::EveryNth { every: 100, pause: Nanos::from_millis(200) };
            (Service { baseline: Nanos::from_millis(1), ..queue(1_000, vec![pause]) }, poisson(within(50.0, 250.0)))
        }
        7 => {
            let climb =
                Stage { from_per_second: within(1.0, 500.0), to_per_second: within(1.0, 2_000.0), length: whole };
            let climb = Profile::Stages(Stages::new(vec![climb]));
            (exponential(one_second), open(climb, even_or_not, seed, whole))
        }
        8 => {
            let swing = Sine {
                low_per_second: within(1.0, 100.0),
                high_per_second: within(200.0, 1_500.0),
                period: Nanos::from_secs_f64(within(3.0, 30.0)),
            };
            (exponential(recurring(within(0.1, 1.0), 7.0)), open(Profile::Sine(swing), even_or_not, seed, whole))
        }
        9 => {
            let spikes = steps(&[(200.0, within(1.0, 8.0)), (1_200.0, within(0.5, 3.0))], whole);
            (queue(2_000, Vec::new()), open(spikes, even_or_not, seed, whole))
        }
        10 => {
            let pauses = steps(&[(within(50.0, 1_000.0), within(1.0, 6.0)), (0.0, within(0.2, 2.0))], whole);
            (exponential(recurring(within(0.1, 1.5), within(2.0, 9.0))), open(pauses, even_or_not, seed, whole))
        }
        11 => (queue(2_000, Vec::new()), open(constant(within(450.0, 900.0)), even_or_not, seed, whole)),
        12 => {
            let mut load = poisson(1_000.0);
            load.limits.connections = Some(2_000);
            (exponential(one_second), load)
        }
        13 => {
            let slow = Fault::EveryNth { every: 20, pause: Nanos::from_secs(3) };
            (service(Variation::Exponential, seed, vec![slow]), poisson(2.0))
        }
        _ => panic!("there is no such load"),
    };
    Case { service, workload }
}

fn recurring(length: f64, every: f64) -> Vec<Fault> {
    vec![Fault::RecurringStall {
        first: Timestamp(3_300_000_000),
        every: Nanos::from_secs_f64(every),
        length: Nanos::from_secs_f64(length),
        times: None,
        gate: Gate::Answers,
    }]
}

/// Repeats these pairs of rate and seconds.
fn steps(parts: &[(f64, f64)], whole: Nanos) -> Profile {
    let step = |(rate, seconds): &(f64, f64)| Stage::constant(*rate, Nanos::from_secs_f64(*seconds));
    let round: f64 = parts.iter().map(|(_, seconds)| seconds).sum();
    let rounds = (whole.as_secs_f64() / round).ceil() as usize;
    Profile::Stages(Stages::new(parts.iter().map(step).collect::<Vec<_>>().repeat(rounds)))
}

/// A closed loop for measuring power: a service of 10 ms that stalls once for `share` of the run.
pub fn stalled_loop(users: u32, think: Nanos, variation: Variation, duration: Nanos, share: f64, seed: u64) -> Case {
    let mut random = Random::new(seed, 0x706f_7765);
    let seconds = duration.as_secs_f64();
    let at = Nanos::from_secs_f64(seconds * (0.1 + 0.8 * random.uniform()));
    let fault = stall(at, Nanos::from_secs_f64(seconds * share));
    Case { service: service(variation, seed, vec![fault]), workload: closed(users, think, duration) }
}
