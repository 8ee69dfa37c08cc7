//! Measures how often a search for capacity is right, and its cost.
//!
//!     cargo run --release -p truetail-study --example capacity_study -- [SEARCHES] [PERCENT] [SERVER] [FIRST SEED]
//!     cargo run --release -p truetail-study --example capacity_study -- truth
//!     cargo run --release -p truetail-study --example capacity_study -- bound [SEARCHES] [PERCENT]
//!     cargo run --release -p truetail-study --example capacity_study -- power [PROBES]
//!
//! The first form searches the capacity of simulated services, with this number of seeds (100) and this resolution
//! (10), and prints the tables of docs/capacity.md. `truth` measures the truth that theory does not give. `bound`
//! prints how often a search that knows the truth could succeed, and `power` how often a probe is right.

mod bound;
mod fixed;
mod power;
mod servers;

use std::env;
use std::ops::Range;

use servers::{FULL_LENGTH, Found, Queue, Server, seeded_search};
use truetail_analysis::capacity::SearchState;
use truetail_model::random::Random;

/// Number of requests for each rate whose share of bad requests is measured.
const TRUTH_REQUESTS: usize = 40_000_000;

/// Number of probes for each rate of a service whose share of bad requests depends on the loads before.
const PROBES_FROM_ABOVE: u64 = 1_000;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "truth") {
        println!("Hysteresis, from above: {:.1}/s", truth_from_above());
        Server::all().into_iter().for_each(|server| println!("{server:?}: {:.2}/s", truth_of(server)));
        return;
    }
    if arguments.first().is_some_and(|first| first == "power") {
        let probes = arguments.get(1).and_then(|text| text.parse().ok()).unwrap_or(200);
        Server::all().into_iter().for_each(|server| power::table(server, probes));
        return;
    }
    if arguments.first().is_some_and(|first| first == "bound") {
        let number =
            |at: usize, otherwise: u64| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(otherwise);
        let resolution = number(2, 10) as f64 / 100.0;
        println!("| service | both ends | the lower | the upper |\n|---|---|---|---|");
        Server::all().into_iter().for_each(|server| bound::line(server, number(1, 1_000), resolution));
        return;
    }
    let searches: u64 = arguments.first().and_then(|text| text.parse().ok()).unwrap_or(100);
    let resolution = arguments.get(1).and_then(|text| text.parse::<f64>().ok()).unwrap_or(10.0) / 100.0;
    let first_seed: u64 = arguments.get(3).and_then(|text| text.parse().ok()).unwrap_or(1);
    println!(
        "| service | truth | within | within, with ends that were not probed again | at most {:.0} % wide | median gap | requests, median | minutes, median | minutes, nine of ten |",
        resolution * 100.0
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for server in Server::all() {
        if arguments.get(2).is_none_or(|name| name == "all" || *name == format!("{server:?}")) {
            study(server, first_seed..first_seed + searches, resolution);
        }
    }
}

fn study(server: Server, seeds: Range<u64>, resolution: f64) {
    let searches = seeds.end - seeds.start;
    let found: Vec<Found> = seeds.clone().map(|seed| seeded_search(server, seed, resolution)).collect();
    let truth = server.truth();
    let share = |is: &dyn Fn(&Found) -> bool| found.iter().filter(|found| is(found)).count();
    let within = share(&|found| found.holds(server));
    let so_far = share(&|found| found.holds_so_far(server));
    let narrow = share(&|found| found.state == SearchState::Found);
    let requests = quantile(found.iter().map(|found| found.requests as f64).collect(), 0.5);
    let minutes = || found.iter().map(|found| found.seconds / 60.0).collect();
    println!(
        "| {server:?} | {truth:.1}/s | {within} of {searches} | {so_far} of {searches} | {narrow} of {searches} | {:.1} % | {:.0} | {:.1} | {:.1} |",
        quantile(found.iter().map(gap).collect(), 0.5) * 100.0,
        requests,
        quantile(minutes(), 0.5),
        quantile(minutes(), 0.9),
    );
    let error = 1.0 - within as f64 / searches as f64;
    println!("{}", fixed::compare(server, seeds, error.max(0.05), resolution, requests));
}

fn gap(found: &Found) -> f64 {
    match (found.proven, found.refuted) {
        (Some((proven, _)), Some((refuted, _))) => refuted / proven - 1.0,
        _ => f64::INFINITY,
    }
}

fn quantile(mut values: Vec<f64>, quantile: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() as f64 * quantile) as usize]
}

/// Finds the rate with the allowed share of bad requests, by bisection over long runs of the same seed.
fn truth_of(server: Server) -> f64 {
    let objective = server.objective();
    let limit = objective.limit_ns().expect("a time");
    let allowed = objective.allowed();
    let mut low = 50.0_f64;
    let mut high = 2_000.0_f64;
    while high / low > 1.0005 {
        let middle = (low * high).sqrt();
        if bad_share(server, middle, limit) <= allowed { low = middle } else { high = middle }
    }
    (low * high).sqrt()
}

fn bad_share(server: Server, rate: f64, limit: u64) -> f64 {
    let mut queue = Queue::new(server, 7);
    let mut random = Random::new(7, 1);
    let mut now = 0.0;
    let mut bad = 0_usize;
    for i in 0..TRUTH_REQUESTS {
        now += random.exponential() / rate;
        bad += usize::from(queue.serve(now) >= limit);
        // Far beyond the limit there is nothing more to learn.
        if i == TRUTH_REQUESTS / 100 && bad > i / 10 {
            return 1.0;
        }
    }
    bad as f64 / TRUTH_REQUESTS as f64
}

/// Finds the rate with 1 % of bad requests in a probe from above, on average over many probes of full length.
fn truth_from_above() -> f64 {
    let mut low = 250.0_f64;
    let mut high = 450.0_f64;
    while high / low > 1.002 {
        let middle = (low * high).sqrt();
        if bad_from_above(middle) <= 0.01 { low = middle } else { high = middle }
    }
    (low * high).sqrt()
}

fn bad_from_above(rate: f64) -> f64 {
    let server = Server::Hysteresis;
    let limit = server.objective().limit_ns().expect("a time");
    let mut bad = 0_u64;
    let mut requests = 0_u64;
    for seed in 0..PROBES_FROM_ABOVE {
        let mut queue = Queue::new(server, seed);
        let mut random = Random::new(seed, 2);
        let full = FULL_LENGTH.as_secs_f64();
        let mut now = 0.0;
        let from = full / 10.0;
        while now < from + full {
            now += random.exponential() / if now < from { rate / 0.8 } else { rate };
            let time = queue.serve(now);
            // As in a probe, the first tenth is left out.
            if now >= from + full / 10.0 {
                requests += 1;
                bad += u64::from(time >= limit);
            }
        }
    }
    bad as f64 / requests as f64
}
