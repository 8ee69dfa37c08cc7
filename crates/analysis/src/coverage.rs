//! How often the 95 % intervals hold the truth, for processes whose quantiles are known. The seeds are fixed, so these
//! tests always see the same runs.

use truetail_model::random::Random;

use crate::population::Population;

const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// The share of `runs` simulated runs in which the interval of each of [`QUANTILES`] holds the truth, that of an
/// exponential distribution with this rate; an end that is missing is open.
fn coverage(runs: u64, rate: f64, run: impl Fn(&mut Random) -> Vec<f64>) -> [f64; 3] {
    let mut held = [0; 3];
    for seed in 0..runs {
        let values = run(&mut Random::new(seed, 7)).iter().map(|value| (value * 1e9) as u64).collect();
        let population = Population::of_known(values);
        for (held, q) in held.iter_mut().zip(QUANTILES) {
            let (low, high) = population.interval(q);
            let truth = (exponential_quantile(q, rate) * 1e9) as u64;
            *held += u64::from(low.is_none_or(|low| low <= truth) && high.is_none_or(|high| truth <= high));
        }
    }
    held.map(|held| held as f64 / runs as f64)
}

fn independent(random: &mut Random, n: usize) -> Vec<f64> {
    (0..n).map(|_| random.exponential()).collect()
}

/// Time in an M/M/1 queue with service rate 1 and this load, by Lindley's recursion, from its steady state on:
/// exponential with rate 1 − load.
fn queue(random: &mut Random, load: f64, n: usize) -> Vec<f64> {
    let idle = random.uniform() >= load;
    let mut wait = if idle { 0.0 } else { random.exponential() / (1.0 - load) };
    let mut next = || {
        let response = wait + random.exponential();
        wait = (response - random.exponential() / load).max(0.0);
        response
    };
    (0..n).map(|_| next()).collect()
}

fn exponential_quantile(q: f64, rate: f64) -> f64 {
    -(1.0 - q).ln() / rate
}

#[test]
fn independent_values_are_covered() {
    let shares = coverage(300, 1.0, |random| independent(random, 2_000));
    assert!(shares.iter().all(|share| *share >= 0.94), "{shares:?}");
}

#[test]
fn a_queue_is_covered_nearly_as_well() {
    for (load, n) in [(0.5, 6_000), (0.8, 20_000)] {
        let shares = coverage(100, 1.0 - load, |random| queue(random, load, n));
        assert!(shares.iter().all(|share| *share >= 0.90), "load {load}: {shares:?}");
    }
}

/// What the method is for: the interval that ignores dependence fails on the same queue.
#[test]
fn intervals_that_ignore_dependence_would_not_do() {
    let (q, load) = (0.9, 0.8);
    let truth = (exponential_quantile(q, 1.0 - load) * 1e9) as u64;
    let naive = |seed: &u64| {
        let mut values: Vec<u64> =
            queue(&mut Random::new(*seed, 7), load, 20_000).iter().map(|value| (value * 1e9) as u64).collect();
        values.sort_unstable();
        let (low, high) = crate::interval::ranks(q, 20_000, 18_000, |_| Some(20_000.0)).unwrap();
        (values[low.unwrap() as usize - 1]..=values[high.unwrap() as usize - 1]).contains(&truth)
    };
    let share = (0..100).filter(naive).count() as f64 / 100.0;
    assert!(share < 0.5, "{share}");
}
