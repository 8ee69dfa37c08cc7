//! The long-run variance of a dependent series, from its lowest frequencies.
//!
//! The series is projected onto the cosines cos(πj(i + ½)/k), j = 1, 2, … (type II, over k bins). For a stationary
//! series with a memory much shorter than its length, each of the first projections gives an estimate of the variance
//! of the sum: twice its square. The estimates are independent, with one degree of freedom each. Their mean over ν
//! cosines has ν degrees, so Student's t applies (Müller, "A theory of robust long-run variance estimation", *Journal
//! of Econometrics* 141, 2007; Lazarus, Lewis, Stock & Watson, "HAR inference: recommendations for practice", *Journal
//! of Business & Economic Statistics* 36, 2018). This is the spectral method of Heidelberger & Welch (*Communications
//! of the ACM* 24, 1981) with a flat fit, which cannot become negative and has an exact reference distribution.
//!
//! # Number of cosines
//!
//! More cosines make the estimate steadier, but at high frequencies the spectrum differs from that at zero. So the
//! first 30 are used as long as the spectrum is flat over them:
//!
//! - A series with memory has more energy in its slow half. While the slow half is larger than the fast one (an F test
//!   at the level of 10 %), the fast half is dropped, down to 4 cosines.
//! - A series that repeats has no energy in the slow part. For example, the energy of pauses every ten seconds in a
//!   minute is all in the twelfth cosine and its multiples; such pauses hardly vary the sum, because their number
//!   hardly varies. If the first ten cosines are smaller than the rest, at the 0.1 % level, only these ten are used.

use std::f64::consts::PI;

use crate::binomial::incomplete_beta;

pub(crate) const MAX_COSINES: usize = 30;
/// Minimum number of cosines. One more bin than this is needed for an estimate.
pub(crate) const FEWEST_COSINES: usize = 4;
/// Number of slow cosines that are compared with the rest to detect a series that repeats.
const SLOW_COSINES: usize = 10;
/// Level of the test for memory. One in ten series without memory loses half of its cosines, which costs little width.
const MEMORY_LEVEL: f64 = 0.10;
/// Level of the test for repetition. A mistake here makes the interval too narrow, so it must be rare.
const REPETITION_LEVEL: f64 = 0.001;

#[derive(Clone, Debug)]
pub(crate) struct CosineBasis {
    /// The values of each cosine, bin by bin, one cosine after another.
    table: Vec<f64>,
    bins: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LongRunVariance {
    pub(crate) variance: f64,
    pub(crate) cosines: usize,
}

impl CosineBasis {
    /// Computes the cosines over `bins` bins. Returns `None` if there are too few bins for any estimate.
    pub(crate) fn over(bins: usize) -> Option<CosineBasis> {
        let most = MAX_COSINES.min(bins.checked_sub(1)?);
        if most < FEWEST_COSINES {
            return None;
        }
        let wave = |j: usize| move |i: usize| libm::cos(PI * j as f64 * (i as f64 + 0.5) / bins as f64);
        let table = (1..=most).flat_map(|j| (0..bins).map(wave(j))).collect();
        Some(CosineBasis { table, bins })
    }

    /// Estimates the variance of the sum of series like `deviations`, which has one value per bin and adds up to zero.
    pub(crate) fn long_run(&self, deviations: &[f64]) -> LongRunVariance {
        let energies: Vec<f64> = self.table.chunks_exact(self.bins).map(|wave| energy(wave, deviations)).collect();
        let cosines = flat_part(&energies);
        LongRunVariance { variance: mean(&energies[..cosines]), cosines }
    }
}

/// Returns one cosine's estimate of the variance of the sum.
fn energy(wave: &[f64], deviations: &[f64]) -> f64 {
    let projection: f64 = wave.iter().zip(deviations).map(|(wave, deviation)| wave * deviation).sum();
    2.0 * projection * projection
}

fn mean(energies: &[f64]) -> f64 {
    energies.iter().sum::<f64>() / energies.len() as f64
}

/// Returns the number of energies, from the first, over which the spectrum is flat. See the module documentation.
fn flat_part(energies: &[f64]) -> usize {
    if energies.len() > SLOW_COSINES && repeats(energies) {
        return SLOW_COSINES;
    }
    let mut cosines = energies.len();
    while cosines > FEWEST_COSINES {
        let slow = (cosines / 2).max(FEWEST_COSINES);
        if at_least_as_large(&energies[..slow], &energies[slow..cosines]) > MEMORY_LEVEL {
            break;
        }
        cosines = slow;
    }
    cosines
}

fn repeats(energies: &[f64]) -> bool {
    let (slow, fast) = energies.split_at(SLOW_COSINES);
    1.0 - at_least_as_large(slow, fast) < REPETITION_LEVEL
}

/// Returns the probability that the mean of `slow` is at least this many times that of `fast` if both have the same
/// expectation. This is the upper tail of Fisher's F with as many degrees of freedom as there are energies, by the
/// incomplete beta function (Abramowitz & Stegun 26.6.2). Returns 1 if all energies are zero.
fn at_least_as_large(slow: &[f64], fast: &[f64]) -> f64 {
    let a = slow.iter().sum::<f64>();
    let b = fast.iter().sum::<f64>();
    if a + b > 0.0 { incomplete_beta(fast.len() as f64 / 2.0, slow.len() as f64 / 2.0, b / (a + b)) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use truetail_model::random::Random;

    /// A series of `bins` normal values (sums of uniform ones). Each is `memory` times the last plus something new.
    fn series(seed: u64, bins: usize, memory: f64) -> Vec<f64> {
        let mut random = Random::new(seed, 3);
        let mut last = 0.0;
        let mut next = || {
            let new: f64 = (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0;
            last = memory * last + new;
            last
        };
        for _ in 0..20 {
            next();
        }
        let values: Vec<f64> = (0..bins).map(|_| next()).collect();
        let mean = mean(&values);
        values.iter().map(|value| value - mean).collect()
    }

    fn mean_variance(bins: usize, memory: f64) -> f64 {
        let cosines = CosineBasis::over(bins).unwrap();
        (0..400).map(|seed| cosines.long_run(&series(seed, bins, memory)).variance).sum::<f64>() / 400.0
    }

    #[test]
    fn without_memory_variances_add_up() {
        // The mean of 400 estimates with some 25 degrees of freedom each has a deviation of 1.5 %. Dropping the fast
        // half if the slow one happens to be larger adds about 4 %.
        let ratio = mean_variance(120, 0.0) / 120.0;
        assert!((0.95..1.12).contains(&ratio), "{ratio}");
    }

    #[test]
    fn with_memory_the_sum_varies_as_theory_says() {
        // Theory: 1 / (1 − memory)² times as much. The fast cosines see less: with all 30, the ratio would be 0.75 and
        // 0.35. The rest of the difference is a weakness of the method.
        for (memory, within) in [(0.5, 0.8..1.1), (0.8, 0.65..1.0)] {
            let ratio = mean_variance(120, memory) / 120.0 * (1.0 - memory).powi(2);
            assert!(within.contains(&ratio), "{memory}: {ratio}");
        }
    }

    #[test]
    fn a_series_that_repeats_itself_hardly_varies() {
        let bins = 120;
        let bursts: Vec<f64> = (0..bins).map(|i| if i % 20 == 10 { 19.0 } else { -1.0 }).collect();
        let long_run = CosineBasis::over(bins).unwrap().long_run(&bursts);
        assert_eq!(long_run.cosines, SLOW_COSINES);
        let unrelated: f64 = bursts.iter().map(|burst| burst * burst).sum();
        assert!(long_run.variance < unrelated / 100.0, "{} of {unrelated}", long_run.variance);
    }

    #[test]
    fn too_few_bins_say_nothing() {
        assert!(CosineBasis::over(0).is_none() && CosineBasis::over(4).is_none());
        let cosines = CosineBasis::over(5).unwrap();
        assert_eq!(cosines.long_run(&[0.0; 5]), LongRunVariance { variance: 0.0, cosines: 4 });
    }

    #[test]
    fn the_f_test_is_that_of_the_tables() {
        // Upper 10 % points of F: F(15, 15) = 1.972, F(7, 8) = 2.624, F(4, 3) = 5.343.
        for (slow, fast, point) in [(15, 15, 1.972), (7, 8, 2.624), (4, 3, 5.343)] {
            let p = at_least_as_large(&vec![point; slow], &vec![1.0; fast]);
            assert!((p - 0.1).abs() < 2e-4, "F({slow}, {fast}): {p}");
        }
    }

    proptest! {
        #[test]
        fn a_larger_series_varies_by_its_square(values in proptest::collection::vec(-9.0..9.0, 5..200), by in 0.1..9.0_f64) {
            let cosines = CosineBasis::over(values.len()).unwrap();
            let scaled: Vec<f64> = values.iter().map(|value| value * by).collect();
            let one = cosines.long_run(&values);
            let other = cosines.long_run(&scaled);
            prop_assert_eq!(one.cosines, other.cosines);
            prop_assert!((one.variance * by * by - other.variance).abs() <= 1e-9 * other.variance + 1e-12);
        }

        #[test]
        fn all_cosines_together_are_the_sample_variance(values in proptest::collection::vec(-9.0..9.0, 5..31)) {
            let k = values.len() as f64;
            let mean = mean(&values);
            let deviations: Vec<f64> = values.iter().map(|value| value - mean).collect();
            let cosines = CosineBasis::over(values.len()).unwrap();
            let energies: f64 = cosines.table.chunks_exact(cosines.bins).map(|wave| energy(wave, &deviations)).sum();
            let sample = deviations.iter().map(|deviation| deviation * deviation).sum::<f64>() / (k - 1.0);
            prop_assert!((energies / (k - 1.0) - k * sample).abs() <= 1e-9 * k * sample + 1e-12);
        }
    }
}
