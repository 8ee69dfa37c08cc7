//! The simulator against queueing theory. λ is the arrival rate, 1/μ = 1 ms the mean service time, ρ = λ/(cμ) the load.
//!
//! # Tolerance
//!
//! The mean wait over n successive requests of an M/M/1 queue has a variance near σ²/n with σ² = ρ(2 + 5ρ − 4ρ² +
//! ρ³)/(1 − ρ)⁴ · 1/μ² (Blomqvist 1967), because successive waits depend on each other. The mean response time adds the
//! mean of n services, with deviation 1/μ/√n. The tolerance is four deviations: (σ + 1/μ)·4/√n. M/M/c waits behave like
//! M/M/1 waits with a server that is c times as fast. In heavy traffic, M/D/1 has an eighth of the variance of M/M/1
//! (the cube of (c²ₐ + c²ₛ)/2 = 1/2); the tests allow twice that. The seeds are fixed.

use crate::common::*;
use truetail_model::record::{Metric, RequestRecord};
use truetail_model::scenario::Scenario;
use truetail_model::service::{Service, Variation};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, Workload};
use truetail_sim::{FaultClockStart, SimOptions, Simulation, Sink, simulate};

const SEED: u64 = 20_260_101;

/// μ of one server, per second.
const MU: f64 = 1_000.0;

fn queue(servers: u32, load: f64, variation: Variation, requests: u64) -> Scenario {
    let service = Service { concurrency: Some(servers), variation, seed: SEED + 1, ..Service::healthy(ms(1)) };
    let rate = load * MU * f64::from(servers);
    let measured = requests as f64 / rate;
    // A tenth of the run, thousands of relaxation times, so that the empty beginning is forgotten.
    let warmup = Nanos::from_secs_f64(measured / 10.0);
    let horizon =
        truetail_model::arrival::Horizon { duration: Some(Nanos::from_secs_f64(measured * 1.1)), requests: None };
    let offered = Workload { warmup, ..workload(poisson(rate, SEED, horizon), unlimited(Nanos::from_secs(3_600))) };
    scenario(service, offered)
}

/// Returns the mean wait in units of 1/μ, and the number of requests.
fn mean_wait(scenario: &Scenario) -> (f64, f64) {
    let run = simulate(scenario, SimOptions::LEAN).unwrap();
    run.snapshot.tally.check().unwrap();
    let times = run.snapshot.metric(Metric::ResponseTime);
    assert_eq!(times.count(), run.snapshot.tally.planned);
    (times.mean_ns().unwrap() * MU / 1e9 - 1.0, times.count() as f64)
}

/// Returns σ² of an M/M/1 queue with μ = 1.
fn variance_mm1(rho: f64) -> f64 {
    rho * (2.0 + 5.0 * rho - 4.0 * rho.powi(2) + rho.powi(3)) / (1.0 - rho).powi(4)
}

/// Returns Erlang's C: the probability of a wait with c servers and offered load a, by the recursion of Erlang's B.
fn erlang_c(servers: u32, a: f64) -> f64 {
    let b = (1..=servers).fold(1.0, |b, k| a * b / (f64::from(k) + a * b));
    let rho = a / f64::from(servers);
    b / (1.0 - rho * (1.0 - b))
}

fn assert_wait(name: &str, scenario: &Scenario, expected: f64, deviation: f64) {
    let (wait, n) = mean_wait(scenario);
    let tolerance = 4.0 * deviation / n.sqrt();
    assert!(
        (wait - expected).abs() < tolerance,
        "{name}: mean wait {wait:.4}/µ and not {expected:.4} ± {tolerance:.4} over {n} requests; seed {SEED}"
    );
}

/// Loads, and the number of requests that brings four deviations to about a tenth of the wait or less.
const RUNS: [(f64, u64); 3] = [(0.5, 200_000), (0.8, 800_000), (0.95, 2_000_000)];

#[test]
fn mm1_waits_as_the_textbook_says() {
    for (rho, n) in RUNS {
        let expected = rho / (1.0 - rho);
        let deviation = variance_mm1(rho).sqrt() + 1.0;
        assert_wait("M/M/1", &queue(1, rho, Variation::Exponential, n), expected, deviation);
    }
}

#[test]
fn md1_waits_half_as_long() {
    for (rho, n) in RUNS {
        let expected = rho / (2.0 * (1.0 - rho));
        let deviation = (variance_mm1(rho) / 4.0).sqrt();
        assert_wait("M/D/1", &queue(1, rho, Variation::Constant, n), expected, deviation);
    }
}

#[test]
fn mmc_waits_as_erlang_says() {
    for (servers, rho, n) in [(4, 0.5, 200_000), (4, 0.8, 400_000), (16, 0.95, 1_000_000)] {
        let c = f64::from(servers);
        let expected = erlang_c(servers, rho * c) / (c * (1.0 - rho));
        let deviation = variance_mm1(rho).sqrt() / c + 1.0;
        assert_wait(&format!("M/M/{servers}"), &queue(servers, rho, Variation::Exponential, n), expected, deviation);
    }
}

#[test]
fn erlang_c_is_that_of_the_tables() {
    assert!((erlang_c(1, 0.8) - 0.8).abs() < 1e-12, "one server waits with probability ρ");
    assert!((erlang_c(2, 1.0) - 1.0 / 3.0).abs() < 1e-12);
    assert!((erlang_c(10, 8.0) - 0.409_18).abs() < 1e-5);
}

/// A queue before c connections and a queue before c servers give the same times, request by request.
#[test]
fn a_queue_in_the_client_equals_a_queue_in_the_server() {
    for servers in [1, 3] {
        let behind = queue(servers, 0.9, Variation::Exponential, 20_000);
        let mut before = behind.clone();
        before.service.concurrency = None;
        before.workload.limits = Limits { connections: Some(servers), ..behind.workload.limits };
        assert_eq!(response_times(&run(&before)), response_times(&run(&behind)), "{servers} servers, seed {SEED}");
    }
}

/// Area under the number of requests in the system, from their starts and ends.
#[derive(Default)]
struct InSystem {
    since: u64,
    now: i64,
    area: i128,
    events: Vec<(u64, i64)>,
    response_times: u128,
}

impl Sink for InSystem {
    fn planned(&mut self, _: Timestamp) {}

    fn ended(&mut self, record: &RequestRecord) {
        self.events.push((record.intended_start.0, 1));
        self.events.push((record.end.0, -1));
        self.response_times += u128::from(record.response_time().0);
    }
}

impl InSystem {
    fn sweep(&mut self) {
        self.events.sort_unstable();
        for (at, change) in &self.events {
            self.area += i128::from(self.now) * i128::from(at - self.since);
            self.since = *at;
            self.now += change;
        }
    }
}

/// Little's law holds exactly, because the run ends empty: the mean number in the system, times the length of the run,
/// is the sum of the times spent in the system. And L = λ·W with the textbook's L = ρ/(1 − ρ).
#[test]
fn littles_law() {
    let rho = 0.8;
    let Scenario { service, workload, .. } = queue(1, rho, Variation::Exponential, 300_000);
    let mut in_system = InSystem::default();
    let closing = Simulation::new(&service, &workload, FaultClockStart::Origin).unwrap().run(&mut in_system).unwrap();
    in_system.sweep();
    assert_eq!(in_system.now, 0, "the run ends empty");
    assert_eq!(in_system.area as u128, in_system.response_times);
    let n = in_system.events.len() as f64 / 2.0;
    let mean_in_system = in_system.area as f64 / closing.at.0 as f64;
    let tolerance = 4.0 * (variance_mm1(rho).sqrt() + 1.0) / n.sqrt() * rho;
    let expected = rho / (1.0 - rho);
    assert!((mean_in_system - expected).abs() < tolerance, "L = {mean_in_system} and not {expected} ± {tolerance}");
}

/// N users are all either waiting or thinking: N = X·(R + Z).
#[test]
fn closed_users_are_all_somewhere() {
    let users = 20;
    let think = ms(30);
    let service = Service { concurrency: Some(1), variation: Variation::Exponential, ..Service::healthy(ms(1)) };
    let run = run(&scenario(service, workload(closed(users, think, for_secs(100)), Limits::default())));
    let times = run.snapshot.metric(Metric::ResponseTime);
    let throughput = times.count() as f64 / 100.0;
    let cycle = times.mean_ns().unwrap() / 1e9 + think.as_secs_f64();
    // The end of the run cuts off at most one cycle of each user, out of some 3,000.
    let error = throughput * cycle / f64::from(users) - 1.0;
    assert!(error.abs() < 1e-3, "{error}");
}
