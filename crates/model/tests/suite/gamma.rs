//! Gamma gaps: their mean, variance and distribution, within leaves and across them, and what is made of them.

use truetail_model::arrival::{GammaShape, Horizon, Schedule, Spacing};
use truetail_model::time::{Nanos, Timestamp};

use super::poisson::{IN_LEAF, NANOS_PER_GAP, RATE, correlation, mean, variance, within_five_errors};

const SHAPES: [f64; 6] = [0.05, 0.5, 1.0, 2.5, 20.0, 100.0];
const MANY: usize = 128 * 1024;

fn schedule(shape: f64, seed: u64, requests: Option<u64>) -> Schedule {
    let spacing = Spacing::Gamma(GammaShape::new(shape).expect("a shape"));
    let horizon = Horizon { duration: None, requests };
    Schedule { profile: RATE.parse().expect("a rate"), spacing, seed, horizon }
}

/// Returns gaps in units of their mean, the first from the origin.
fn gaps(shape: f64, seed: u64) -> Vec<f64> {
    let arrivals = schedule(shape, seed, Some(MANY as u64)).arrivals();
    let starts: Vec<Timestamp> =
        std::iter::once(Timestamp::ZERO).chain(arrivals.map(|arrival| arrival.intended_start)).collect();
    starts.windows(2).map(|pair| pair[1].since(pair[0]).0 as f64 / NANOS_PER_GAP).collect()
}

/// The variance of gaps with shape k is 1/k, and the variance of the variance of n gaps is (2 + 6/k)/(k²n).
#[test]
fn gaps_have_the_mean_and_the_variance_of_their_shape() {
    for shape in SHAPES {
        let gaps = gaps(shape, 7);
        let check = |what: &str, values: &[f64]| {
            let n = values.len() as f64;
            let what = format!("{what} with shape {shape}");
            within_five_errors(&format!("mean {what}"), mean(values), 1.0, (shape * n).sqrt().recip());
            let error = ((2.0 + 6.0 / shape) / n).sqrt() / shape;
            // A sample of few skewed values has a variance that is skewed itself.
            if values.len() as f64 * shape > 5_000.0 {
                within_five_errors(&format!("variance {what}"), variance(values), 1.0 / shape, error);
            }
        };
        check("of all", &gaps);
        for place in [0, 1, IN_LEAF / 2, IN_LEAF - 1] {
            check(&format!("at place {place}"), &gaps.iter().skip(place).step_by(IN_LEAF).copied().collect::<Vec<_>>());
        }
        // Sums of gaps have the variance of as many independent gaps, within a leaf and above.
        for many in [2, IN_LEAF, 8 * IN_LEAF] {
            let sums: Vec<f64> = gaps.chunks_exact(many).map(|gaps| gaps.iter().sum::<f64>() / many as f64).collect();
            let shape = shape * many as f64;
            let error = ((2.0 + 6.0 / shape) / sums.len() as f64).sqrt() / shape;
            within_five_errors(&format!("variance of sums of {many}, {shape}"), variance(&sums), 1.0 / shape, error);
        }
    }
}

/// Chi-squared of gaps by quantile, where the distribution has a closed form: erf √(x/2) with shape 1/2, and 1 − (1 +
/// 2x) e^(−2x) with shape 2. With 99 degrees of freedom it is above 161 once in 10,000.
#[test]
fn gaps_have_the_distribution_of_their_shape() {
    let half = |gap: f64| libm::erf((gap / 2.0).sqrt());
    let one = |gap: f64| 1.0 - (-gap).exp();
    let two = |gap: f64| 1.0 - (1.0 + 2.0 * gap) * (-2.0 * gap).exp();
    let distributions: [(f64, &dyn Fn(f64) -> f64); 3] = [(0.5, &half), (1.0, &one), (2.0, &two)];
    for (shape, below) in distributions {
        let mut counts = [0u32; 100];
        gaps(shape, 3).iter().for_each(|gap| counts[(100.0 * below(*gap)).min(99.0) as usize] += 1);
        let expected = MANY as f64 / 100.0;
        let chi_squared: f64 = counts.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        assert!(chi_squared < 161.0, "shape {shape}: {chi_squared}");
    }
}

#[test]
fn gaps_do_not_depend_on_those_before_them() {
    for shape in SHAPES {
        let gaps = gaps(shape, 42);
        for lag in [1, 2, IN_LEAF - 1, IN_LEAF, 16 * IN_LEAF] {
            let r = correlation(&gaps[..MANY - lag], &gaps[lag..]);
            within_five_errors(&format!("lag {lag}, shape {shape}"), r, 0.0, ((MANY - lag) as f64).sqrt().recip());
        }
        let leaves: Vec<f64> = gaps.chunks(IN_LEAF).map(|leaf| leaf.iter().sum()).collect();
        let last = leaves.len() - 1;
        let r = correlation(&leaves[..last], &leaves[1..]);
        within_five_errors(&format!("between leaves, shape {shape}"), r, 0.0, (last as f64).sqrt().recip());
    }
}

/// Far from the beginning too, the arrivals keep the rate: the last of n arrivals is at n, with variance n/k.
#[test]
fn the_rate_is_kept() {
    for shape in SHAPES {
        for index in [999u64, 999_999, 999_999_999] {
            let places: Vec<f64> = (0..200)
                .map(|seed| schedule(shape, seed, None).stripe(index, u64::MAX).next().expect("endless"))
                .map(|arrival| arrival.intended_start.0 as f64 / NANOS_PER_GAP)
                .collect();
            let n = (index + 1) as f64;
            within_five_errors(&format!("{n}, {shape}"), mean(&places), n, (n / shape / 200.0).sqrt());
        }
    }
}

/// Replaying a published seed must give the published arrivals: these numbers may never change.
#[test]
fn the_arrivals_of_a_seed_never_change() {
    let of = |shape, index| schedule(shape, 1, None).stripe(index, u64::MAX).next().expect("endless").intended_start.0;
    let found = [0.5, 2.0].map(|shape| [0, 1, 64, 1_000_000].map(|index| of(shape, index)));
    let known =
        [[1_827_646, 1_855_269, 60_330_102, 998_863_111_918], [1_457_961, 2_012_967, 63_139_663, 999_432_875_199]];
    assert_eq!(found, known);
}

/// The bound on the number of arrivals holds, and the end is found without a walk.
#[test]
fn a_duration_has_as_many_arrivals_as_its_rate_says() {
    for shape in SHAPES {
        let horizon = Horizon { duration: Some(Nanos::from_secs(1_000)), requests: None };
        let schedule = Schedule { horizon, ..schedule(shape, 9, None) };
        let count = schedule.count().expect("limited");
        within_five_errors(&format!("arrivals with shape {shape}"), count as f64, 1e6, (1e6 / shape).sqrt());
        assert_eq!(schedule.arrivals().count() as u64, count);
    }
}
