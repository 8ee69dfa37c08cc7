//! Probability that silences like the ones found come up by chance.

use super::silence::{Precision, Silences};

/// Chance that a gap with some other cause looks like the silence of a waiting client. To look alike, the gap must end
/// within a tenth of its length.
const LOOKS_ALIKE: f64 = 0.1;
/// With fewer gaps than this, nothing is concluded from how they end.
const FEWEST_GAPS: u64 = 50;
/// A client waits for answers if at most this share of gaps ends with anything but an answer and a prompt request.
const FEW_OTHERS: f64 = 0.02;

pub(super) fn waits_for_answers(found: &Silences) -> bool {
    let all = found.followed + found.not_followed;
    all >= FEWEST_GAPS && found.not_followed as f64 <= FEW_OTHERS * all as f64
}

/// Returns the probability that a client on a schedule, however irregular, shows at least as many silences of this
/// length.
///
/// The model of the starts is a Poisson process with the rate around the silence, over-dispersed like the starts around
/// it. Among n starts, gaps with E expected starts then come up n·exp(−E/D) times, and a start follows the end of such
/// a gap at once with probability c. The product is the expected number of gaps that look like silences. A client that
/// pauses deliberately has other gaps too: each adds [`LOOKS_ALIKE`] to that number. For each of a few thresholds, the
/// number of longer silences is compared with the Poisson distribution of that mean. The smallest probability is
/// multiplied by the number of thresholds.
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

/// Probability that a Poisson variable with this mean is at least `k`. The result is an upper bound.
fn poisson_tail(k: usize, mean: f64) -> f64 {
    if mean >= k as f64 {
        return 1.0;
    }
    // From k on, each term is smaller than the one before by at least the factor mean / (k + 1).
    let first = libm::exp(k as f64 * libm::log(mean.max(1e-300)) - mean - libm::lgamma(k as f64 + 1.0));
    (first / (1.0 - mean / (k as f64 + 1.0))).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_of_a_poisson_variable() {
        // Expected values: 1 − e^−0.01, and 1 − e^−2 (1 + 2 + 2 + 4/3).
        assert!((poisson_tail(1, 0.01) - 0.00995).abs() < 1e-4);
        let tail = poisson_tail(4, 2.0);
        assert!((0.1428..0.1429 * 1.2).contains(&tail), "an upper bound near 0.1429: {tail}");
        assert_eq!(poisson_tail(1, 5.0), 1.0);
        assert!(poisson_tail(3, 0.0) < 1e-100);
    }
}
