//! Measures how often the 95 % intervals hold the truth, and how wide they are. Prints the tables of
//! `docs/confidence.md`: `cargo run --release -p truetail-analysis --example coverage [RUNS]`.

mod processes;
mod sequential;
mod tally;

use processes::{Case, Process, QUANTILES};
use sequential::{Stopped, stopped};
use tally::{Tally, tally};

/// The promised cases first, then further ones that guard against a method tuned to the promise.
const CASES: [Case; 14] = [
    Case::new(Process::Queue(0.8), 1_000.0, 60.0),
    Case::new(Process::Pauses, 1_000.0, 60.0),
    Case::new(Process::Queue(0.8), 1_000.0, 60.0).by_second(),
    Case::new(Process::Pauses, 1_000.0, 60.0).by_second(),
    Case::new(Process::Queue(0.8), 800.0, 60.0),
    Case::new(Process::Queue(0.8), 3_000.0, 60.0),
    Case::new(Process::Queue(0.8), 300.0, 60.0),
    Case::new(Process::Queue(0.8), 100.0, 60.0),
    Case::new(Process::Queue(0.5), 1_000.0, 60.0),
    Case::new(Process::Queue(0.95), 1_000.0, 60.0),
    Case::new(Process::RandomPauses, 1_000.0, 60.0),
    Case::new(Process::RandomPauses, 300.0, 300.0),
    Case::new(Process::Independent, 200.0, 10.0),
    Case::new(Process::Independent, 7.1, 10.0),
];

/// Stopping rules for an M/M/1 queue at 80 % with 1 000 requests per second.
const UNTIL: [&str; 4] = ["p50 ±10%", "p50 ±5%", "p90 ±10%", "p99 ±20%"];

fn main() {
    let runs = std::env::args().nth(1).map_or(500, |runs| runs.parse().expect("RUNS is a whole number"));
    whole_runs(runs);
    println!();
    until_narrow(runs);
}

fn until_narrow(runs: u64) {
    println!("| M/M/1 at 80 %, 1000/s, {runs} runs each | reached within 900 s | mean length | coverage |");
    println!("|---|---|---|---|");
    let case = Case::new(Process::Queue(0.8), 1_000.0, 0.0);
    for text in UNTIL {
        let Stopped { runs, reached, held, seconds } = stopped(case, text.parse().expect("it says how narrow"), runs);
        let share = |part: u64, of: u64| part as f64 / of as f64 * 100.0;
        println!(
            "| until {text} | {:.1} % | {:.0} s | {:.1} % |",
            share(reached, runs),
            seconds / reached as f64,
            share(held, reached)
        );
    }
}

fn whole_runs(runs: u64) {
    println!(
        "| scenario, {runs} runs each | quantile | coverage | too high | too low | mean width | effective n | refused |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for case in CASES {
        for (q, tally) in QUANTILES.iter().zip(tally(case, runs)) {
            println!("{}", row(&case.name(), *q, &tally));
        }
    }
}

fn row(name: &str, q: f64, tally: &Tally) -> String {
    let refused = format!("{:.1} %", tally.refused as f64 / tally.runs as f64 * 100.0);
    if tally.judged() == 0 {
        return format!("| {name} | p{:.0} | – | – | – | – | – | {refused} |", q * 100.0);
    }
    let share = |count: u64| format!("{:.1} %", count as f64 / tally.judged() as f64 * 100.0);
    format!(
        "| {name} | p{:.0} | {:.1} % | {} | {} | {:.1} % | {:.0} | {refused} |",
        q * 100.0,
        tally.coverage() * 100.0,
        share(tally.above),
        share(tally.below()),
        tally.width() * 100.0,
        tally.effective_n(),
    )
}
