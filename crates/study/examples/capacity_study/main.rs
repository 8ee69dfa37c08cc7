//! How often a search for capacity is right, and what it costs.
//!
//!     cargo run --release -p truetail-study --example capacity_study -- [SEARCHES] [PERCENT] [SERVER]
//!     cargo run --release -p truetail-study --example capacity_study -- truth
//!
//! The first one searches the capacity of simulated services, with as many seeds as asked for (100) and this
//! resolution (10), and prints the tables of
//! docs/capacity.md. The second one prints the truth of those services that have none in theory.

mod fixed;
mod servers;

use std::env;

use servers::{Found, Queue, Server, seeded_search};
use truetail_analysis::capacity::SearchState;
use truetail_model::random::Random;

/// Requests for each rate whose share of bad ones is measured.
const TRUTH_REQUESTS: usize = 40_000_000;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "truth") {
        Server::all().into_iter().for_each(|server| println!("{server:?}: {:.2}/s", truth_of(server)));
        return;
    }
    let searches: u64 = arguments.first().and_then(|text| text.parse().ok()).unwrap_or(100);
    let resolution = arguments.get(1).and_then(|text| text.parse::<f64>().ok()).unwrap_or(10.0) / 100.0;
    println!(
        "| service | truth | within | within, with ends that were not probed again | at most {:.0} % wide | median gap | requests, median | minutes, median |",
        resolution * 100.0
    );
    println!("|---|---|---|---|---|---|---|---|");
    for server in Server::all() {
        if arguments.get(2).is_none_or(|name| *name == format!("{server:?}")) {
            study(server, searches, resolution);
        }
    }
}

fn study(server: Server, searches: u64, resolution: f64) {
    let found: Vec<Found> = (1..=searches).map(|seed| seeded_search(server, seed, resolution)).collect();
    let truth = server.truth();
    let share = |is: &dyn Fn(&Found) -> bool| found.iter().filter(|found| is(found)).count();
    let within = share(&|found| found.holds(truth));
    let so_far = share(&|found| found.holds_so_far(truth));
    let narrow = share(&|found| found.state == SearchState::Found);
    let requests = median(found.iter().map(|found| found.requests as f64).collect());
    println!(
        "| {server:?} | {truth:.1}/s | {within} of {searches} | {so_far} of {searches} | {narrow} of {searches} | {:.1} % | {:.0} | {:.1} |",
        median(found.iter().map(gap).collect()) * 100.0,
        requests,
        median(found.iter().map(|found| found.seconds / 60.0).collect()),
    );
    let error = 1.0 - within as f64 / searches as f64;
    println!("{}", fixed::compare(server, searches, error.max(0.05), resolution, requests));
}

fn gap(found: &Found) -> f64 {
    match (found.proven, found.refuted) {
        (Some((proven, _)), Some((refuted, _))) => refuted / proven - 1.0,
        _ => f64::INFINITY,
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The rate at which exactly as many requests are bad as are allowed, by bisection over long runs of the same seed.
fn truth_of(server: Server) -> f64 {
    let objective = server.objective();
    let (limit, allowed) = (objective.limit_ns().expect("a time"), objective.allowed());
    let (mut low, mut high) = (50.0_f64, 2_000.0_f64);
    while high / low > 1.0005 {
        let middle = (low * high).sqrt();
        if bad_share(server, middle, limit) <= allowed { low = middle } else { high = middle }
    }
    (low * high).sqrt()
}

fn bad_share(server: Server, rate: f64, limit: u64) -> f64 {
    let mut queue = Queue::new(server, 7);
    let mut random = Random::new(7, 1);
    let (mut now, mut bad) = (0.0, 0_usize);
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
