//! Measures how often `ab` reports a difference between equal services, how often it finds a real difference, and the
//! cost: `cargo run --release -p truetail-study --example ab_study [PAIRS]`.

#[path = "../tests/ab/sides.rs"]
mod sides;

use sides::Sides;
use truetail_analysis::compare::Difference;
use truetail_run::GateState;
use truetail_study::ab::{AbPlan, Ending, run_rounds};

const REQUESTS: u32 = 20_000;
const Q: f64 = 0.99;

#[derive(Default)]
struct Found {
    different: u32,
    fails: u32,
    holds: u32,
    rounds: u32,
}

fn study(ending: Ending, ratio: f64, drift: f64, pairs: u64) -> Found {
    let plan = AbPlan { ending, gates: vec!["p99 worse than 5%".parse().expect("a condition")] };
    let mut found = Found::default();
    for seed in 0..pairs {
        let mut sides = Sides { drift, requests: REQUESTS, ..Sides::new(seed, ratio) };
        let result = run_rounds(&plan, &mut sides);
        let difference = result.comparison.as_ref().and_then(|compared| compared.at(Q)).map(|at| at.difference);
        found.different += u32::from(matches!(difference, Some(Difference::Slower | Difference::Faster)));
        found.fails += u32::from(result.gates[0].state == GateState::Fails);
        found.holds += u32::from(result.gates[0].state == GateState::Holds);
        found.rounds += result.rounds;
    }
    found
}

fn main() {
    let pairs = std::env::args().nth(1).map_or(500, |pairs| pairs.parse().expect("PAIRS is a whole number"));
    let share = |count: u32| format!("{:.1} %", f64::from(count) / pairs as f64 * 100.0);
    println!("{pairs} pairs, M/M/1 at 50 %, {REQUESTS} requests a run, p99\n");
    println!("| B | drift a run | rounds | called different | 'p99 worse than 5%' fails | holds | rounds used |");
    println!("|---|---|---|---|---|---|---|");
    for (name, ratio) in [("the same build", 1.0), ("service time 10 % longer", 1.1)] {
        for drift in [0.0, 0.01] {
            for (rounds, ending) in
                [("5", Ending::After(5)), ("until decided, at most 12", Ending::Decided { most: 12 })]
            {
                let found = study(ending, ratio, drift, pairs);
                println!(
                    "| {name} | {:.0} % | {rounds} | {} | {} | {} | {:.1} |",
                    drift * 100.0,
                    share(found.different),
                    share(found.fails),
                    share(found.holds),
                    f64::from(found.rounds) / pairs as f64
                );
            }
        }
    }
}
