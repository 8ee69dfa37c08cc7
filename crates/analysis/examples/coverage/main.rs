//! How often the 95 % intervals hold the truth, and how wide they are: `cargo run --release -p truetail-analysis
//! --example coverage [RUNS]`. Prints the tables of `docs/confidence.md`.

mod processes;
mod tally;

use processes::{Case, Process, QUANTILES};
use tally::{Tally, tally};

/// What is promised, and then what else was tried, so that the method is not made for the promise.
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

fn main() {
    let runs = std::env::args().nth(1).map_or(500, |runs| runs.parse().expect("RUNS is a whole number"));
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
