//! Random gaps form a Poisson process: within leaves and across them, near the beginning and far from it.

use proptest::prelude::*;
use truetail_model::arrival::{Arrival, Horizon, Schedule, Spacing};
use truetail_model::time::{Nanos, Timestamp};

/// Number of points that are drawn together: see `arrival/renewal.rs`.
pub const IN_LEAF: usize = 64;
/// At this rate, an arrival in nanoseconds is its place on the unit axis times 10^6, to a millionth of a gap.
pub const RATE: &str = "1k";
pub const NANOS_PER_GAP: f64 = 1e6;

fn schedule(seed: u64, requests: Option<u64>) -> Schedule {
    let horizon = Horizon { duration: None, requests };
    Schedule { profile: RATE.parse().unwrap(), spacing: Spacing::Poisson, seed, horizon }
}

/// Returns gaps in units of their mean, the first from the origin.
fn gaps(seed: u64, n: u64) -> Vec<f64> {
    let mut before = Timestamp::ZERO;
    let gap = |arrival: Arrival| {
        let gap = (arrival.intended_start.0 - before.0) as f64 / NANOS_PER_GAP;
        before = arrival.intended_start;
        gap
    };
    schedule(seed, Some(n)).arrivals().map(gap).collect()
}

/// Returns the position of point `index`, without the points before it.
fn point(seed: u64, index: u64) -> f64 {
    let arrival = schedule(seed, None).stripe(index, u64::MAX).next().unwrap();
    assert_eq!(arrival.index, index);
    arrival.intended_start.0 as f64 / NANOS_PER_GAP
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

pub fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean_a = mean(a);
    let mean_b = mean(b);
    let together: f64 = a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum();
    together / (a.len() - 1) as f64 / (variance(a) * variance(b)).sqrt()
}

/// Asserts that an estimate is within five standard errors of the truth. The seeds are fixed.
pub fn within_five_errors(what: &str, estimate: f64, truth: f64, standard_error: f64) {
    let off = (estimate - truth) / standard_error;
    assert!(off.abs() < 5.0, "{what}: {estimate} for {truth}, {off:.2} standard errors");
}

const SEEDS: [u64; 3] = [1, 42, u64::MAX];
const MANY: usize = 256 * 1024;

/// An exponential distribution has variance 1, third central moment 2, and the variance of its variance is 8/n.
#[test]
fn gaps_have_the_mean_and_the_variance_of_exponential_ones() {
    for seed in SEEDS {
        let gaps = gaps(seed, MANY as u64);
        let n = gaps.len() as f64;
        within_five_errors("mean", mean(&gaps), 1.0, n.sqrt().recip());
        within_five_errors("variance", variance(&gaps), 1.0, (8.0 / n).sqrt());
        // Each place within a leaf has the same gaps, also the first and the last one.
        for place in 0..IN_LEAF {
            let here: Vec<f64> = gaps.iter().skip(place).step_by(IN_LEAF).copied().collect();
            let n = here.len() as f64;
            within_five_errors(&format!("mean of gap {place}"), mean(&here), 1.0, n.sqrt().recip());
            within_five_errors(&format!("variance of gap {place}"), variance(&here), 1.0, (8.0 / n).sqrt());
        }
    }
}

/// Chi-squared of gaps by exponential quantile: with 99 degrees of freedom it is above 161 once in 10,000.
#[test]
fn gaps_have_the_distribution_of_exponential_ones() {
    for seed in SEEDS {
        let mut counts = [0u32; 100];
        gaps(seed, MANY as u64).iter().for_each(|gap| counts[(100.0 * (1.0 - (-gap).exp())) as usize] += 1);
        let expected = MANY as f64 / 100.0;
        let chi_squared: f64 = counts.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        assert!(chi_squared < 161.0, "seed {seed}: {chi_squared}");
    }
}

#[test]
fn gaps_do_not_depend_on_those_before_them() {
    for seed in SEEDS {
        let gaps = gaps(seed, MANY as u64);
        for lag in [1, 2, 3, 7, IN_LEAF - 1, IN_LEAF, 2 * IN_LEAF, 16 * IN_LEAF] {
            let r = correlation(&gaps[..MANY - lag], &gaps[lag..]);
            within_five_errors(&format!("correlation at lag {lag}"), r, 0.0, ((MANY - lag) as f64).sqrt().recip());
        }
        // Correlation of the last gap of a leaf with the first gap of the next, and between whole leaves.
        let border =
            |offset: usize| -> Vec<f64> { (1..MANY / IN_LEAF).map(|leaf| gaps[leaf * IN_LEAF + offset - 1]).collect() };
        let leaves: Vec<f64> = gaps.chunks(IN_LEAF).map(|leaf| leaf.iter().sum()).collect();
        let last = leaves.len() - 1;
        let error = (last as f64).sqrt().recip();
        within_five_errors("across a border", correlation(&border(0), &border(1)), 0.0, error);
        within_five_errors("between leaves", correlation(&leaves[..last], &leaves[1..]), 0.0, error);
    }
}

/// The number of arrivals in a window varies like a Poisson number at every scale: its variance is its mean.
#[test]
fn counts_in_windows_are_poisson_numbers() {
    for seed in SEEDS {
        let mut at = 0.0;
        let points: Vec<f64> = gaps(seed, MANY as u64)
            .iter()
            .map(|gap| {
                at += gap;
                at
            })
            .collect();
        for width in [0.25, 1.0, 8.0, 63.7, 64.0, 100.0, 1_000.0] {
            let mut counts = vec![0.0; (MANY as f64 * 0.98 / width) as usize];
            points.iter().map(|point| (point / width) as usize).for_each(|window| {
                if let Some(count) = counts.get_mut(window) {
                    *count += 1.0;
                }
            });
            let n = counts.len() as f64;
            within_five_errors(&format!("counts in {width}"), mean(&counts), width, (width / n).sqrt());
            let error = ((2.0 + 1.0 / width) / n).sqrt();
            within_five_errors(&format!("dispersion in {width}"), variance(&counts) / mean(&counts), 1.0, error);
        }
    }
}

/// The sum of k gaps is Gamma(k) anywhere, and independent of the next k gaps. Many seeds test the halvings.
#[test]
fn sums_of_many_gaps_over_many_seeds_are_gamma() {
    const OF: u64 = 2_000;
    for k in [1, 63, 64, 65, 1_000, 1 << 16, 1_000_000_000, 1 << 40] {
        let standard = |from: u64| {
            move |seed: u64| {
                let start = if from == 0 { 0.0 } else { point(seed, from - 1) };
                (point(seed, from + k - 1) - start - k as f64) / (k as f64).sqrt()
            }
        };
        let first: Vec<f64> = (0..OF).map(standard(0)).collect();
        let second: Vec<f64> = (0..OF).map(standard(k)).collect();
        let error = (OF as f64).sqrt().recip();
        for (name, sums) in [("first", &first), ("second", &second)] {
            within_five_errors(&format!("mean of the {name} {k}"), mean(sums), 0.0, error);
            let of_variance = ((2.0 + 6.0 / k as f64) / OF as f64).sqrt();
            within_five_errors(&format!("variance of the {name} {k}"), variance(sums), 1.0, of_variance);
        }
        within_five_errors(&format!("correlation of {k} and {k}"), correlation(&first, &second), 0.0, error);
    }
}

/// Replaying a published seed must give the published arrivals: these numbers may never change.
#[test]
fn the_arrivals_of_a_seed_never_change() {
    let of_seed_1 = |index| schedule(1, None).stripe(index, u64::MAX).next().unwrap().intended_start.0;
    for (index, at) in [
        (0, 681_702),
        (1, 2_355_836),
        (63, 61_284_642),
        (64, 62_728_820),
        (1_000, 1_019_125_824),
        (999_999, 999_195_943_871),
        (1_000_000_000, 1_000_008_597_487_825),
        (1_000_000_000_000, 999_999_364_493_632_512),
    ] {
        assert_eq!(of_seed_1(index), at, "arrival {index}");
    }
}

/// A walk of the schedule would take years.
#[test]
fn the_end_of_a_schedule_is_found_without_a_walk() {
    let most = 1 << 60;
    let of = |duration, requests| {
        let horizon = Horizon { duration, requests };
        Schedule { profile: "1e9".parse().unwrap(), ..Schedule { horizon, ..schedule(5, None) } }
    };
    let year = Nanos::from_secs(365 * 86_400);
    let by_time = of(Some(year), None);
    let by_count = of(None, Some(most));
    let count = by_time.count().unwrap();
    let expected = year.0 as f64;
    assert!((count as f64 - expected).abs() < 5.0 * expected.sqrt(), "{count}");
    let last = by_time.last_arrival().unwrap();
    assert_eq!(last.index, count - 1);
    assert!(last.intended_start.0 < year.0);
    let after = by_count.stripe(count, u64::MAX).next().unwrap();
    assert!(after.intended_start.0 >= year.0, "{after:?}");
    assert_eq!((by_count.count(), by_count.last_arrival().unwrap().index), (Some(most), most - 1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// For any number of machines and any profile.
    #[test]
    fn stripes_of_random_gaps_are_the_whole(
        profile in crate::any::profile(),
        spacing in crate::any::random_spacing(),
        seed in any::<u64>(),
        requests in 0u64..3_000,
        n in prop_oneof![1u64..=8, 60u64..=70, 1u64..=1_000],
    ) {
        let horizon = Horizon { duration: None, requests: Some(requests) };
        let schedule = Schedule { profile, spacing, seed, horizon };
        let all: Vec<Arrival> = schedule.arrivals().collect();
        prop_assert!(all.windows(2).all(|pair| pair[0].intended_start <= pair[1].intended_start));
        let mut dealt: Vec<Option<Arrival>> = vec![None; all.len()];
        for arrival in (0..n).flat_map(|i| schedule.stripe(i, n)) {
            prop_assert!(dealt[arrival.index as usize].replace(arrival).is_none(), "arrival {} twice", arrival.index);
        }
        prop_assert_eq!(dealt.into_iter().flatten().collect::<Vec<_>>(), all);
    }

    /// A jump and a walk find the same arrivals, also far from the beginning.
    #[test]
    fn a_jump_finds_what_a_walk_finds(
        spacing in crate::any::random_spacing(),
        seed in any::<u64>(),
        first in 0u64..1 << 62,
        stride in 1u64..5_000,
    ) {
        let schedule = Schedule { profile: "1e12".parse().unwrap(), spacing, ..schedule(seed, None) };
        let walk = schedule.stripe(first % stride, stride).take(3).chain(schedule.stripe(first, u64::MAX).take(1));
        for arrival in walk {
            let alone = schedule.stripe(arrival.index, u64::MAX).next();
            prop_assert_eq!(alone, Some(arrival));
        }
    }
}
