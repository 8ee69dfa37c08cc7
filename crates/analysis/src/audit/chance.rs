//! How likely chance is to show silences like those that were found.

use super::silence::{Precision, Silences};

/// A gap that has another reason looks like the silence of a waiting client in so many of all cases, by chance: its end must
/// fall within a tenth of its length.
const LOOKS_ALIKE: f64 = 0.1;
/// With fewer gaps, nothing is said of how they end.
const FEWEST_GAPS: u64 = 50;
/// If no more gaps than this share end otherwise than with an answer that a request follows, the client waits for answers.
const FEW_OTHERS: f64 = 0.02;

/// The client sends when an answer comes, and not on a schedule: nearly every gap shows it.
pub(super) fn waits_for_answers(found: &Silences) -> bool {
    let all = found.followed + found.not_followed;
    all >= FEWEST_GAPS && found.not_followed as f64 <= FEW_OTHERS * all as f64
}

/// The probability that a client which sends on a schedule, however irregular, shows so many silences as long as those.
///
/// Under a Poisson process of the rate around it, over-dispersed as the starts around it are, a gap with E expected starts
/// comes up n·exp(−E/D) times among n starts, and the next start follows its end at once with probability c. A client that
/// makes gaps of its own shows them elsewhere too: each of them counts as one that might have looked like this. The number
/// of silences beyond each of a few thresholds is held against the Poisson distribution with that mean, and the smallest
/// probability is multiplied by the number of thresholds.
pub(super) fn probability_by_chance(found: &Silences, starts: u64, precision: Precision) -> f64 {
    let mut silences: Vec<(f64, f64, f64)> = found
        .waiting
        .iter()
        .map(|one| (one.expected / one.dispersion, one.expected, one.chance_of_resuming(precision)))
        .collect();
    silences.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut thresholds = 0;
    let mut least: f64 = 1.0;
    let mut rank = 1;
    let mut chances = 0.0;
    let mut summed = 0;
    while rank <= silences.len() {
        while summed < rank {
            chances += silences[summed].2;
            summed += 1;
        }
        let (effective, expected, _) = silences[rank - 1];
        let others = found.innocent.len() - found.innocent.partition_point(|innocent| *innocent < expected / 2.0);
        let by_poisson = starts as f64 * libm::exp(-effective) * chances / rank as f64;
        let mean = by_poisson + LOOKS_ALIKE * others as f64;
        least = least.min(poisson_tail(rank, mean));
        thresholds += 1;
        rank *= 2;
    }
    (least * f64::from(thresholds)).min(1.0)
}

/// The probability that a Poisson variable with this mean is at least `k`.
fn poisson_tail(k: usize, mean: f64) -> f64 {
    if mean >= k as f64 {
        return 1.0;
    }
    // The terms from k on fall at least by the factor mean / (k + 1) each.
    let first = libm::exp(k as f64 * libm::log(mean.max(1e-300)) - mean - libm::lgamma(k as f64 + 1.0));
    (first / (1.0 - mean / (k as f64 + 1.0))).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_of_a_poisson_variable() {
        // 1 − e^−0.01, and 1 − e^−2 (1 + 2 + 2 + 4/3) from tables.
        assert!((poisson_tail(1, 0.01) - 0.00995).abs() < 1e-4);
        let tail = poisson_tail(4, 2.0);
        assert!((0.1428..0.1429 * 1.2).contains(&tail), "an upper bound near 0.1429: {tail}");
        assert_eq!(poisson_tail(1, 5.0), 1.0);
        assert!(poisson_tail(3, 0.0) < 1e-100);
    }
}
