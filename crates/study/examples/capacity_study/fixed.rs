//! The usual method: bisection with probes of a fixed length, each believed at once.

use std::ops::Range;

use truetail_model::random::Random;

use super::servers::{Queue, Server, first_rate};

/// Finds the shortest fixed length, doubling from 5 000 requests, that misses the truth in at most `error` of the
/// searches. Compares its cost with `requests`, the cost of a sequential search.
pub fn compare(server: Server, seeds: Range<u64>, error: f64, resolution: f64, requests: f64) -> String {
    let searches = seeds.end - seeds.start;
    let mut said = Vec::new();
    for length in (0..).map(|doubling| 5_000_usize << doubling) {
        let results: Vec<(bool, usize)> = seeds.clone().map(|seed| bisect(server, seed, length, resolution)).collect();
        let wrong = results.iter().filter(|(right, _)| !right).count() as f64 / searches as f64;
        let cost = results.iter().map(|(_, cost)| *cost).sum::<usize>() as f64 / searches as f64;
        said.push(format!("{length} requests: {:.0} % wrong, {cost:.0} in all", wrong * 100.0));
        if wrong <= error || length >= 1_000_000 {
            break;
        }
        if cost > requests * 8.0 {
            said.push(format!("longer ones cost more than {:.0} times as much", cost / requests));
            break;
        }
    }
    format!("<!-- {server:?}: probes of a fixed length, each of {} -->", said.join("; "))
}

/// Returns whether the truth is within the result, and the number of requests.
fn bisect(server: Server, seed: u64, length: usize, resolution: f64) -> (bool, usize) {
    let mut cost = 0;
    let mut meets = |rate: f64| {
        cost += length;
        let mut random = Random::new(seed, 90_000 + cost as u64);
        let mut queue = Queue::new(server, seed.wrapping_mul(1_000).wrapping_add(cost as u64));
        share_of_bad(server, &mut queue, &mut random, rate, length) <= server.objective().allowed()
    };
    let mut low = 1.0;
    let mut high = first_rate(seed);
    while meets(high) {
        low = high;
        high *= 2.0;
    }
    while high / low > 1.0 + resolution {
        let middle = (low * high).sqrt();
        if meets(middle) { low = middle } else { high = middle }
    }
    let truth = server.truth();
    (low <= truth && truth <= high, cost)
}

fn share_of_bad(server: Server, queue: &mut Queue, random: &mut Random, rate: f64, length: usize) -> f64 {
    let limit = server.objective().limit_ns().expect("a time");
    let mut now = 0.0;
    let mut bad = 0;
    for _ in 0..length {
        now += random.exponential() / rate;
        bad += usize::from(queue.serve(now) >= limit);
    }
    bad as f64 / length as f64
}
