//! Tests how often the 95 % intervals of simulated runs contain the truth: a shortened form of `examples/coverage`. The
//! seeds are fixed, so these tests always see the same runs.

#[path = "../examples/coverage/processes.rs"]
mod processes;
#[path = "../examples/coverage/tally.rs"]
mod tally;

use processes::{Case, Process, QUANTILES};
use tally::tally;

/// The promised coverage, and the probability below which a shortfall is not chance.
const PROMISED: f64 = 0.92;
const SURE: f64 = 0.001;

/// Returns the minimum number of `n` runs that must contain the truth: the smallest k with P(B ≤ k) ≥ 0.1 % for B
/// binomial. With fewer, it is clear that fewer than [`PROMISED`] do.
fn fewest(n: u64) -> u64 {
    let mut term = (1.0 - PROMISED).powi(n as i32);
    let mut sum = term;
    let mut k = 0;
    while sum < SURE {
        term *= (n - k) as f64 / (k + 1) as f64 * PROMISED / (1.0 - PROMISED);
        sum += term;
        k += 1;
    }
    k
}

fn assert_covered(case: Case, runs: u64, widest: [f64; 3]) {
    for ((q, tally), widest) in QUANTILES.iter().zip(tally(case, runs)).zip(widest) {
        let what = format!("{}, p{}, seeds 1 to {runs}: {tally:?}", case.name(), q * 100.0);
        assert!(tally.refused * 10 < runs, "refused: {what}");
        assert!(tally.held >= fewest(tally.judged()), "not held: {what}");
        assert!(tally.above + tally.below() == tally.judged() - tally.held, "miscounted: {what}");
        assert!(tally.width() <= widest, "too wide, {:.3}: {what}", tally.width());
        assert!(tally.effective_n() >= 1.0 && tally.coverage() > 0.0, "{what}");
    }
}

#[test]
fn the_fewest_are_those_of_the_binomial() {
    // P(B ≤ 30 of 40) = 0.09 % and P(B ≤ 31 of 40) = 0.36 % at 92 %.
    assert_eq!(fewest(40), 31);
}

#[test]
fn a_queue_is_covered() {
    let case = Case::new(Process::Queue(0.5), 1_000.0, 10.0);
    assert_covered(case, 40, [0.14, 0.20, 0.45]);
    assert_covered(case.by_second(), 30, [0.25, 0.30, 0.60]);
}

#[test]
fn pauses_that_come_back_are_covered_and_not_taken_for_six_accidents() {
    let case = Case::new(Process::Pauses, 300.0, 60.0);
    assert_covered(case, 20, [0.01, 0.01, 0.60]);
    assert_covered(case.by_second(), 8, [0.01, 0.01, 0.60]);
}

/// The same pauses at random times: now their number varies, which the interval must show.
#[test]
fn pauses_at_random_are_accidents() {
    let of = |process| tally(Case::new(process, 300.0, 60.0), 10)[2];
    let regular = of(Process::Pauses);
    let random = of(Process::RandomPauses);
    assert!(random.held + random.refused >= fewest(10), "{random:?}");
    assert!(random.judged() > 0, "{random:?}");
    assert!(random.width() > 2.0 * regular.width(), "{} and {}", random.width(), regular.width());
}

#[test]
fn few_independent_arrivals_are_covered() {
    assert_covered(Case::new(Process::Independent, 200.0, 10.0), 40, [0.20, 0.20, 0.40]);
}

/// n = 71: p50 has an interval, p99 does not.
#[test]
fn what_a_sample_cannot_carry_is_refused() {
    let [p50, _, p99] = tally(Case::new(Process::Independent, 7.1, 10.0), 10);
    assert_eq!((p50.refused, p99.refused), (0, 10));
    assert!(p50.held >= fewest(10), "{p50:?}");
}

/// A hundred arrivals per second for a minute are a dozen bursts beyond p99, which cannot bound it from above.
#[test]
fn a_queue_with_few_bursts_beyond_p99_is_refused() {
    let [p50, _, p99] = tally(Case::new(Process::Queue(0.8), 100.0, 60.0), 20);
    assert_eq!(p50.refused, 0);
    assert!(p99.refused >= 18, "{p99:?}");
}
