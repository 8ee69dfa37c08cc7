//! Measures in the simulator how often a healthy run is called unsteady, and how often and when a change is found.
//! Prints the tables of `docs/steady-state.md`. RUNS is the number of seeds of each kind, by default 500.
//! `cargo run --release -p truetail-analysis --example steady [RUNS]`

use truetail_analysis::settling;
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::record::RequestRecord;
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::service::{Fault, Service, Variation};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::{Run, SettlingState};
use truetail_sim::{SimOptions, simulate};

struct Kind {
    name: &'static str,
    scenario: Box<dyn Fn(u64) -> Scenario>,
}

#[derive(Default)]
struct Found {
    runs: usize,
    /// Runs with a proposed cut.
    cuts: usize,
    /// Runs with a shift.
    shifts: usize,
    /// Times of the cuts and of the shifts, in seconds.
    cut_s: Vec<f64>,
    shift_s: Vec<f64>,
    /// Runs that MSER-5 would have cut by more than a second.
    mser_cuts: usize,
    mser_s: Vec<f64>,
}

fn main() {
    let runs = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(500);
    println!("{runs} seeds of each kind\n");
    println!("Healthy: every cut and every shift is a false alarm\n");
    println!("| service, arrivals | cut | shift | MSER-5 alone cuts > 1 s |\n|---|---|---|---|");
    for kind in healthy() {
        let found = look_at(&kind, runs);
        let share = |n: usize| format!("{:.1} %", 100.0 * n as f64 / found.runs as f64);
        println!("| {} | {} | {} | {} |", kind.name, share(found.cuts), share(found.shifts), share(found.mser_cuts));
    }
    println!("\nA warm-up that ends after 15 s\n");
    println!(
        "| service, arrivals | cut | where: median, 5 … 95 % | within 2 s | MSER-5 alone: median, 5 … 95 % |\n|---|---|---|---|---|"
    );
    for kind in warming_up() {
        let found = look_at(&kind, runs);
        let near = found.cut_s.iter().filter(|cut| (**cut - 15.0).abs() <= 2.0).count();
        let share = |n: usize| format!("{:.1} %", 100.0 * n as f64 / found.runs as f64);
        println!(
            "| {} | {} | {} | {} | {} |",
            kind.name,
            share(found.cuts),
            spread(&found.cut_s),
            share(near),
            spread(&found.mser_s)
        );
    }
    println!("\nA change in mid-run\n");
    println!("| service, arrivals | found | when it began: median, 5 … 95 % |\n|---|---|---|");
    for kind in changing() {
        let found = look_at(&kind, runs);
        println!(
            "| {} | {:.1} % | {} |",
            kind.name,
            100.0 * found.shifts as f64 / found.runs as f64,
            spread(&found.shift_s)
        );
    }
}

fn look_at(kind: &Kind, runs: u64) -> Found {
    let mut found = Found::default();
    for seed in 1..=runs {
        let run = simulate(&(kind.scenario)(seed), SimOptions::default()).expect("it has an end");
        let settling = settling(&run);
        assert_ne!(settling.state, SettlingState::NotJudged, "{}", settling.why);
        let mser_s = mser5_s(&run);
        found.runs += 1;
        found.cuts += usize::from(settling.cut_ns.is_some());
        found.shifts += usize::from(settling.shift.is_some());
        found.cut_s.extend(settling.cut_ns.map(|ns| ns as f64 / 1e9));
        found.shift_s.extend(settling.shift.map(|shift| shift.at_ns as f64 / 1e9));
        found.mser_cuts += usize::from(mser_s > 1.0);
        found.mser_s.push(mser_s);
    }
    found
}

fn spread(values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |q: f64| sorted.get((q * (sorted.len().max(1) - 1) as f64).round() as usize);
    match (at(0.05), at(0.5), at(0.95)) {
        (Some(low), Some(middle), Some(high)) => format!("{middle:.1} s, {low:.1} … {high:.1}"),
        _ => "–".to_owned(),
    }
}

/// MSER-5 (White, Cobb & Spratt 2000) on the response times in the order of the intended starts. Cuts the means of five
/// so that the variance of the rest over the square of its number is smallest, within the first half. Seconds from the
/// origin.
fn mser5_s(run: &Run) -> f64 {
    let mut records = run.snapshot.samples.even().to_vec();
    records.sort_unstable_by_key(|record| record.intended_start);
    let mean =
        |five: &[RequestRecord]| five.iter().map(|record| record.response_time().as_secs_f64()).sum::<f64>() / 5.0;
    let batches: Vec<f64> = records.chunks_exact(5).map(mean).collect();
    let mut sum = 0.0;
    let mut squares = 0.0;
    let mut best = (f64::INFINITY, 0);
    for cut in (0..batches.len()).rev() {
        sum += batches[cut];
        squares += batches[cut] * batches[cut];
        let rest = (batches.len() - cut) as f64;
        let statistic = (squares - sum * sum / rest) / (rest * rest);
        // In the second half, MSER-5 would follow the smallest variance of a few values.
        if cut <= batches.len() / 2 && statistic <= best.0 {
            best = (statistic, cut);
        }
    }
    records[best.1 * 5].intended_start.as_secs_f64()
}

fn scenario(service: Service, per_second: f64, spacing: Spacing, seconds: u64, seed: u64) -> Scenario {
    let schedule = Schedule {
        profile: Profile::constant(Rate::per_second(per_second).expect("above zero")),
        spacing,
        seed,
        horizon: Horizon { duration: Some(Nanos::from_secs(seconds)), requests: None },
    };
    let workload = Workload { model: LoadModel::Open(schedule), limits: Limits::default(), warmup: Nanos::ZERO };
    let service = Service { seed, ..service };
    Scenario { name: "steady".into(), about: String::new(), service, workload, path: "/".into() }
}

/// One server with exponential work of this mean, and Poisson arrivals.
fn queue(load: f64, work_ms: u64, seconds: u64, faults: Vec<Fault>) -> Box<dyn Fn(u64) -> Scenario> {
    Box::new(move |seed| {
        let service = Service {
            variation: Variation::Exponential,
            concurrency: Some(1),
            faults: faults.clone(),
            ..Service::healthy(Nanos::from_millis(work_ms))
        };
        scenario(service, load * 1e3 / work_ms as f64, Spacing::Poisson, seconds, seed)
    })
}

/// Exponential or constant work with a mean of 10 ms, without a queue, and Poisson arrivals.
fn plain(variation: Variation, per_second: f64, seconds: u64, faults: Vec<Fault>) -> Box<dyn Fn(u64) -> Scenario> {
    Box::new(move |seed| {
        let service = Service { variation, faults: faults.clone(), ..Service::healthy(Nanos::from_millis(10)) };
        scenario(service, per_second, Spacing::Poisson, seconds, seed)
    })
}

/// A scenario of the laboratory, with Poisson arrivals so that seeds differ.
fn lab(name: &'static str) -> Box<dyn Fn(u64) -> Scenario> {
    Box::new(move |seed| {
        let mut scenario = builtin::find(name).expect("a scenario of the laboratory");
        if let LoadModel::Open(schedule) = &mut scenario.workload.model {
            schedule.spacing = Spacing::Poisson;
            schedule.seed = seed;
        }
        scenario
    })
}

/// Starts at ten times the baseline of the scenario and falls to the baseline until `ends_s`.
fn warm(ends_s: u64, scenario: Box<dyn Fn(u64) -> Scenario>) -> Box<dyn Fn(u64) -> Scenario> {
    Box::new(move |seed| {
        let mut scenario = scenario(seed);
        let target = scenario.service.baseline;
        scenario.service.baseline = Nanos(target.0 * 10);
        scenario.service.faults.push(ramp(0, ends_s, target));
        scenario
    })
}

fn ramp(from_s: u64, to_s: u64, target: Nanos) -> Fault {
    Fault::Ramp { from: Timestamp(from_s * 1_000_000_000), to: Timestamp(to_s * 1_000_000_000), target }
}

/// A ramp so steep that it is a step.
fn step(at_s: u64, target_ms: f64) -> Vec<Fault> {
    let at = Timestamp(at_s * 1_000_000_000);
    vec![Fault::Ramp { from: at, to: Timestamp(at.0 + 1), target: Nanos::from_secs_f64(target_ms / 1e3) }]
}

fn healthy() -> Vec<Kind> {
    let kind = |name, scenario| Kind { name, scenario };
    vec![
        kind("constant 10 ms, 1 000/s, 60 s", plain(Variation::Constant, 1000.0, 60, vec![])),
        kind("exponential 10 ms, 1 000/s, 60 s", plain(Variation::Exponential, 1000.0, 60, vec![])),
        kind("exponential 10 ms, 1 000/s, 10 s", plain(Variation::Exponential, 1000.0, 10, vec![])),
        kind("exponential 10 ms, 10/s, 60 s", plain(Variation::Exponential, 10.0, 60, vec![])),
        kind("M/M/1 at 50 %, work 1 ms, 60 s", queue(0.5, 1, 60, vec![])),
        kind("M/M/1 at 80 %, work 1 ms, 60 s", queue(0.8, 1, 60, vec![])),
        kind("M/M/1 at 50 %, work 5 ms, 60 s", queue(0.5, 5, 60, vec![])),
        kind("M/M/1 at 80 %, work 5 ms, 60 s", queue(0.8, 5, 60, vec![])),
        kind("M/M/1 at 90 %, work 5 ms, 60 s", queue(0.9, 5, 60, vec![])),
        kind("M/M/1 at 80 %, work 50 ms, 60 s", queue(0.8, 50, 60, vec![])),
        kind("M/M/1 at 80 %, work 5 ms, 20 s", queue(0.8, 5, 20, vec![])),
        kind("M/M/1 at 80 %, work 5 ms, 10 min", queue(0.8, 5, 600, vec![])),
        kind("02-single-hiccup, Poisson", lab("02")),
        kind("04-gc-pauses, Poisson", lab("04")),
    ]
}

fn warming_up() -> Vec<Kind> {
    let kind = |name, scenario| Kind { name, scenario };
    vec![
        kind("100 → 10 ms, constant, 1 000/s, 60 s", warm(15, plain(Variation::Constant, 1000.0, 60, vec![]))),
        kind("100 → 10 ms, constant, 1 000/s, 30 s", warm(15, plain(Variation::Constant, 1000.0, 30, vec![]))),
        kind("100 → 10 ms, exponential, 1 000/s, 60 s", warm(15, plain(Variation::Exponential, 1000.0, 60, vec![]))),
        kind("100 → 10 ms, exponential, 100/s, 60 s", warm(15, plain(Variation::Exponential, 100.0, 60, vec![]))),
        kind("50 → 5 ms, one server with a queue, 18/s, 60 s", warm(15, queue(0.09, 5, 60, vec![]))),
    ]
}

fn changing() -> Vec<Kind> {
    let kind = |name, scenario| Kind { name, scenario };
    vec![
        kind("03-sustained-slowdown, Poisson: from 20 s to 50 s", lab("03")),
        kind("10 → 15 ms at 40 s, constant, 60 s", plain(Variation::Constant, 1000.0, 60, step(40, 15.0))),
        kind(
            "10 → 13 ms at 40 s, exponential, 1 000/s, 60 s",
            plain(Variation::Exponential, 1000.0, 60, step(40, 13.0)),
        ),
        kind(
            "10 → 15 ms from 0 to 60 s, exponential, 1 000/s",
            plain(Variation::Exponential, 1000.0, 60, vec![ramp(0, 60, Nanos::from_millis(15))]),
        ),
        kind("M/M/1, 30 % → 45 % at 30 s, 60 s", queue(0.3, 5, 60, step(30, 7.5))),
        kind("M/M/1, 30 % → 60 % at 30 s, 60 s", queue(0.3, 5, 60, step(30, 10.0))),
        kind("M/M/1, 60 % → 90 % at 30 s, 60 s", queue(0.6, 5, 60, step(30, 7.5))),
    ]
}
