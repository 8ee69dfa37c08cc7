//! Measures how often a comparison calls equal sides different, and how often it finds a real difference. Prints the
//! tables of `docs/compare.md`: `cargo run --release -p truetail-analysis --example compare_study [PAIRS]`.

#[allow(dead_code, reason = "shared with the other study")]
#[path = "coverage/processes.rs"]
mod processes;

use processes::{Case, Process};
use truetail_analysis::compare::{Difference, Interval, RunEstimate, compare, compare_estimates};
use truetail_analysis::findings;
use truetail_model::random::Random;
use truetail_model::record::rank_of;

const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
const REQUESTS: usize = 60_000;
/// Standard deviation of the run effect, as a share of the response time.
const RUN_EFFECTS: [f64; 2] = [0.0, 0.05];
/// True ratio of B to A that a comparison should find.
const SHIFT: f64 = 1.10;

/// Number of runs that show the variance of p99 from run to run.
const VARIANCE_RUNS: u64 = 2_000;

#[derive(Clone, Copy, PartialEq)]
enum Service {
    Queue(f64),
    /// A pause of 0.2 s every 10 s on average, at random, with 1 000 requests per second of 10 ms each.
    Pauses,
    /// Independent times, log-normal with σ = 0.5.
    LogNormal,
}

const SERVICES: [Service; 4] = [Service::Queue(0.5), Service::Queue(0.8), Service::Pauses, Service::LogNormal];

impl Service {
    fn name(self) -> String {
        match self {
            Service::Queue(load) => format!("M/M/1 at {:.0} %", load * 100.0),
            Service::Pauses => "pauses at random".to_owned(),
            Service::LogNormal => "log-normal".to_owned(),
        }
    }

    /// Response times of a run, in units of the mean service time.
    fn run(self, random: &mut Random) -> Vec<f64> {
        match self {
            Service::Queue(load) => queue(random, load),
            Service::Pauses => pauses(random),
            Service::LogNormal => (0..REQUESTS).map(|_| (0.5 * normal(random)).exp()).collect(),
        }
    }
}

/// Lindley's recursion, starting in the steady state.
fn queue(random: &mut Random, load: f64) -> Vec<f64> {
    let idle = random.uniform() >= load;
    let mut wait = if idle { 0.0 } else { random.exponential() / (1.0 - load) };
    let mut next = || {
        let response = wait + random.exponential();
        wait = (response - random.exponential() / load).max(0.0);
        response
    };
    (0..REQUESTS).map(|_| next()).collect()
}

fn pauses(random: &mut Random) -> Vec<f64> {
    let every = 0.001;
    let length = 0.2;
    let mut begins = random.exponential() * 9.8;
    let mut next = |k: usize| {
        let at = k as f64 * every;
        while at >= begins + length {
            begins += length + random.exponential() * 9.8;
        }
        1.0 + if at >= begins { (begins + length - at) / 0.01 } else { 0.0 }
    };
    (0..REQUESTS).map(&mut next).collect()
}

/// A normal variable by the Box–Muller method.
fn normal(random: &mut Random) -> f64 {
    (2.0 * random.exponential()).sqrt() * (std::f64::consts::TAU * random.uniform()).cos()
}

/// Quantiles of a run with all times multiplied by `factor`.
fn estimates(service: Service, random: &mut Random, factor: f64) -> Vec<Option<RunEstimate>> {
    let mut times = service.run(random);
    times.sort_unstable_by(f64::total_cmp);
    let of = |q: &f64| {
        let value = (times[rank_of(*q, REQUESTS as u64) as usize - 1] * factor).ln();
        Some(RunEstimate {
            value,
            without_generator: value,
            highest: value,
            interval: Interval::default(),
            at_least: false,
        })
    };
    QUANTILES.iter().map(of).collect()
}

/// Counts the pairs called slower or faster, by quantile. B is `shift` times as slow.
fn called_different(service: Service, runs: usize, effect: f64, shift: f64, pairs: u64) -> [u64; QUANTILES.len()] {
    let mut different = [0; QUANTILES.len()];
    for pair in 0..pairs {
        let mut random = Random::new(pair, 0x636f_6d70);
        let mut side = |shift: f64| -> Vec<Vec<Option<RunEstimate>>> {
            let mut run = || {
                let factor = (effect * normal(&mut random)).exp() * shift;
                estimates(service, &mut random, factor)
            };
            (0..runs).map(|_| run()).collect()
        };
        let a = side(1.0);
        let b = side(shift);
        for (at, q) in QUANTILES.iter().enumerate() {
            let of = |side: &[Vec<Option<RunEstimate>>]| side.iter().map(|run| run[at]).collect::<Vec<_>>();
            let found = compare_estimates(*q, &of(&a), &of(&b)).difference;
            different[at] += u64::from(matches!(found, Difference::Slower | Difference::Faster));
        }
    }
    different
}

/// Counts the pairs that the best possible method would find from the p99 of each run. That method knows the variance
/// from run to run beforehand, and calls a difference beyond 1.96 standard errors real.
fn at_most_found(service: Service, runs: usize, effect: f64, shift: f64, pairs: u64) -> u64 {
    let p99s = |count: u64, seed: u64| -> Vec<f64> {
        let mut random = Random::new(seed, 0x626f_756e);
        let mut run = || {
            let factor = (effect * normal(&mut random)).exp();
            estimates(service, &mut random, factor)[2].expect("every run has p99").value
        };
        (0..count).map(|_| run()).collect()
    };
    let known = p99s(VARIANCE_RUNS, u64::MAX);
    let center = mean(&known);
    let variance = mean(&known.iter().map(|value| (value - center).powi(2)).collect::<Vec<_>>());
    let error = (2.0 * variance / runs as f64).sqrt();
    let is_found = |pair: &u64| {
        let values = p99s(2 * runs as u64, *pair);
        let (a, b) = values.split_at(runs);
        (mean(b) + shift.ln() - mean(a)).abs() > 1.96 * error
    };
    (0..pairs).filter(is_found).count() as u64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Counts the pairs called different with one run a side, whose intervals come from within the runs.
fn single_runs(process: Process, shift: f64, pairs: u64) -> u64 {
    let case = Case::new(process, 1_000.0, 60.0);
    let slow = Case::new(process, 1_000.0 / shift, 60.0 * shift);
    let is_different = |pair: &u64| {
        let a = findings(&case.run(2 * pair + 1));
        let b = findings(&slow.run(2 * pair + 2));
        let compared = compare(&[&a], &[&b]);
        let found = compared.at(0.99).expect("every table has p99").difference;
        matches!(found, Difference::Slower | Difference::Faster)
    };
    (0..pairs).filter(is_different).count() as u64
}

fn percent(count: u64, pairs: u64) -> String {
    format!("{:.1} %", count as f64 / pairs as f64 * 100.0)
}

fn main() {
    let pairs = std::env::args().nth(1).map_or(500, |pairs| pairs.parse().expect("PAIRS is a whole number"));
    println!("No difference, 5 runs of {REQUESTS} requests a side, {pairs} pairs: called slower or faster\n");
    println!("| service | run effect | p50 | p90 | p99 | p99.9 |\n|---|---|---|---|---|---|");
    for service in SERVICES {
        for effect in RUN_EFFECTS {
            let found = called_different(service, 5, effect, 1.0, pairs).map(|count| percent(count, pairs));
            println!("| {} | {:.0} % | {} |", service.name(), effect * 100.0, found.join(" | "));
        }
    }
    println!("\np99 of B is 10 % higher, {pairs} pairs: found\n");
    println!("| service | run effect | 3 runs a side | 5 | 10 | 5, at most |\n|---|---|---|---|---|---|");
    for service in SERVICES {
        for effect in RUN_EFFECTS {
            let found = [3, 5, 10].map(|runs| percent(called_different(service, runs, effect, SHIFT, pairs)[2], pairs));
            let most = percent(at_most_found(service, 5, effect, SHIFT, pairs), pairs);
            println!("| {} | {:.0} % | {} | {most} |", service.name(), effect * 100.0, found.join(" | "));
        }
    }
    println!("\nOne run a side, {pairs} pairs, p99: called slower or faster\n");
    println!("| service | no difference | 10 % higher |\n|---|---|---|");
    for (name, process) in [
        ("M/M/1 at 50 %", Process::Queue(0.5)),
        ("M/M/1 at 80 %", Process::Queue(0.8)),
        ("pauses at random", Process::RandomPauses),
        ("independent exponential", Process::Independent),
    ] {
        let same = percent(single_runs(process, 1.0, pairs), pairs);
        // A queue at 1/1.1 of the rate with 1.1 times the service time has the same load, and times 1.1 times as long.
        let slower = match process {
            Process::Queue(_) => percent(single_runs(process, SHIFT, pairs), pairs),
            Process::Independent | Process::Pauses | Process::RandomPauses => "–".to_owned(),
        };
        println!("| {name} | {same} | {slower} |");
    }
}
