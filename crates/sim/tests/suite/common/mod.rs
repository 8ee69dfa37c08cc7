//! Scenarios and exact figures for the tests of the simulator.
#![allow(dead_code)] // Every test file is a separate crate and uses a part of this.

use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::record::RequestRecord;
use truetail_model::scenario::Scenario;
use truetail_model::service::{Fault, Gate, Service};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::users::Users;
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_sim::{Run, SimOptions, Sink, simulate};

pub const fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

pub const fn at_ms(n: u64) -> Timestamp {
    Timestamp(ms(n).0)
}

pub fn for_secs(seconds: u64) -> Horizon {
    Horizon { duration: Some(Nanos::from_secs(seconds)), requests: None }
}

pub fn for_requests(requests: u64) -> Horizon {
    Horizon { duration: None, requests: Some(requests) }
}

/// Returns limits without a cap and a timeout, and with this drain.
pub fn unlimited(drain: Nanos) -> Limits {
    Limits { connections: None, timeout: None, drain, ..Limits::default() }
}

pub fn schedule(per_second: f64, spacing: Spacing, seed: u64, horizon: Horizon) -> Schedule {
    Schedule { profile: Profile::constant(Rate::per_second(per_second).unwrap()), spacing, seed, horizon }
}

pub fn even(per_second: f64, horizon: Horizon) -> LoadModel {
    LoadModel::Open(schedule(per_second, Spacing::Even, 1, horizon))
}

pub fn poisson(per_second: f64, seed: u64, horizon: Horizon) -> LoadModel {
    LoadModel::Open(schedule(per_second, Spacing::Poisson, seed, horizon))
}

pub fn closed(users: impl Into<Users>, think_time: Nanos, horizon: Horizon) -> LoadModel {
    LoadModel::Closed { users: users.into(), think_time, horizon }
}

pub fn workload(model: LoadModel, limits: Limits) -> Workload {
    Workload { model, limits, warmup: Nanos::ZERO }
}

pub fn scenario(service: Service, workload: Workload) -> Scenario {
    Scenario { name: "test".into(), about: String::new(), service, workload, path: "/".into() }
}

/// Returns the shared profile of the five scenarios: 60 s, 1,000 requests/s, even spacing, baseline 10 ms.
pub fn shared(faults: Vec<Fault>) -> Scenario {
    let service = Service { faults, ..Service::healthy(ms(10)) };
    scenario(service, workload(even(1000.0, for_secs(60)), Limits::default()))
}

pub fn stall(at: u64, length: u64) -> Fault {
    Fault::Stall { at: at_ms(at), length: ms(length), gate: Gate::Answers }
}

/// Runs a scenario, and checks that the books balance and the generator is never late.
pub fn run(scenario: &Scenario) -> Run {
    let run = simulate(scenario, SimOptions::default()).unwrap();
    run.snapshot.tally.check().unwrap();
    run.snapshot.warmup.check().unwrap();
    let lag = run.snapshot.metric(truetail_model::record::Metric::GeneratorLag);
    assert_eq!(lag.max().unwrap_or_default(), Nanos::ZERO, "virtual time is never late");
    run
}

/// Returns the response times of all requests, ascending. Panics if a request is missing.
pub fn response_times(run: &Run) -> Vec<u64> {
    let samples = &run.snapshot.samples;
    assert!(samples.is_complete(), "not every request is there");
    let mut times: Vec<u64> = samples.even().iter().map(|record| record.response_time().0).collect();
    times.sort_unstable();
    times
}

/// Returns the value at rank ceil(q·n), with q in parts per 10,000 so that nothing is rounded.
pub fn quantile_ns(sorted: &[u64], per_10_000: usize) -> u64 {
    sorted[(per_10_000 * sorted.len()).div_ceil(10_000).max(1) - 1]
}

/// All records, as they came.
#[derive(Default)]
pub struct Journal(pub Vec<RequestRecord>);

impl Sink for Journal {
    fn planned(&mut self, _: Timestamp) {}

    fn ended(&mut self, record: &RequestRecord) {
        self.0.push(*record);
    }
}
