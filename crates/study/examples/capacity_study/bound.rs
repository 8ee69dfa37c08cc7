//! The best possible result: a search that knows the limit beforehand, and spends all of its time on the two ends.

use truetail_model::random::Random;

use super::servers::{MAX_TIME, Queue, Server};

/// The one-sided error probability of each end, equal to that of a search.
const LEVEL: f64 = 0.025;
/// This part of each end's time is left out, as in a probe.
const LEAD_IN: f64 = 0.1;

/// Prints how often such a search proves both ends of a bracket that is `resolution` wide around the limit, with half
/// of the time for each. The search also knows how the share of bad requests varies at the limit. An end is proven if a
/// share like its own is seen at the limit in at most 2.5 % of the probes.
pub fn line(server: Server, searches: u64, resolution: f64) {
    let width = (1.0 + resolution).sqrt();
    let shares = |part: f64| -> Vec<f64> { (0..searches).map(|seed| share(server, part, seed)).collect() };
    let mut at_limit = shares(1.0);
    at_limit.sort_by(f64::total_cmp);
    let rank = (LEVEL * searches as f64) as usize;
    let few = at_limit[rank];
    let many = at_limit[at_limit.len() - 1 - rank];
    let below = shares(1.0 / width);
    let above = shares(width);
    let count = |is: &dyn Fn((&f64, &f64)) -> bool| below.iter().zip(&above).filter(|pair| is(*pair)).count();
    println!(
        "| {server:?} | {} of {searches} | {} | {} |",
        count(&|(below, above)| *below < few && *above > many),
        count(&|(below, _)| *below < few),
        count(&|(_, above)| *above > many),
    );
}

/// Returns the share of bad requests in half of a search's time at this part of the limit.
fn share(server: Server, part: f64, seed: u64) -> f64 {
    let stream = (part * 1e6) as u64;
    let mut queue = Queue::new(server, seed ^ (stream << 20));
    let mut random = Random::new(seed, stream);
    let end = MAX_TIME.as_secs_f64() / 2.0;
    let rate = server.truth() * part;
    let limit = server.objective().limit_ns().expect("a time");
    let mut now = 0.0;
    let mut requests = 0_u64;
    let mut bad = 0_u64;
    while now < end {
        now += random.exponential() / rate;
        let time = queue.serve(now);
        if now >= end * LEAD_IN {
            requests += 1;
            bad += u64::from(time >= limit);
        }
    }
    bad as f64 / requests as f64
}
