//! Estimates how late timed sleeps end, so that a worker can wake up that much earlier.

use truetail_model::time::Nanos;

/// Estimator of a quantile of how late sleeps end, in constant memory. A sleep that ends later than the estimate raises
/// it, and any other sleep lowers it. The ratio of the steps makes the estimate rest at the quantile (stochastic
/// approximation, Robbins & Monro, *Annals of Mathematical Statistics* 22, 1951).
#[derive(Clone, Copy, Debug)]
pub(super) struct OversleepEstimator {
    estimate_ns: u64,
    least_ns: u64,
    up_ns: u64,
    down_ns: u64,
    /// Factor for the first steps, which shrinks with each step.
    haste: u64,
}

/// Upper limit, in nanoseconds. Only a paused machine is later, and no worker should spin for longer.
const MAX_NS: u64 = 100_000;
const FIRST_STEPS: u64 = 32;

impl OversleepEstimator {
    /// Estimates the lower quartile, so that the worker is usually awake when a request is due, and seldom earlier.
    pub(super) const fn typical() -> OversleepEstimator {
        OversleepEstimator { estimate_ns: 0, least_ns: 0, up_ns: 100, down_ns: 300, haste: FIRST_STEPS }
    }

    /// Estimates the 99th percentile, and at least `least`, so that only about one sleep in a hundred ends too late.
    pub(super) const fn rare(least: Nanos) -> OversleepEstimator {
        OversleepEstimator { estimate_ns: least.0, least_ns: least.0, up_ns: 3_960, down_ns: 40, haste: 1 }
    }

    pub(super) fn estimate(&self) -> Nanos {
        Nanos(self.estimate_ns)
    }

    pub(super) fn note(&mut self, late: Nanos) {
        self.estimate_ns = if late.0 > self.estimate_ns {
            self.estimate_ns + self.up_ns * self.haste
        } else {
            self.estimate_ns.saturating_sub(self.down_ns * self.haste)
        };
        self.estimate_ns = self.estimate_ns.clamp(self.least_ns, MAX_NS);
        self.haste = (self.haste - 1).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truetail_model::random::Random;

    /// Yields sleeps that end 20 to 30 µs late, one in fifty 30 to 60 µs, and one in a thousand 5 ms.
    fn sleeps(seed: u64) -> impl Iterator<Item = Nanos> {
        let mut random = Random::new(seed, 0);
        std::iter::repeat_with(move || {
            let kind = random.uniform();
            let within = random.uniform();
            Nanos(match kind {
                kind if kind < 0.001 => 5_000_000,
                kind if kind < 0.02 => 30_000 + (within * 30_000.0) as u64,
                _ => 20_000 + (within * 10_000.0) as u64,
            })
        })
    }

    #[test]
    fn the_typical_one_is_exceeded_by_three_of_four() {
        for seed in 0..50 {
            let mut typical = OversleepEstimator::typical();
            sleeps(seed).take(2_000).for_each(|late| typical.note(late));
            assert!((20_000..25_000).contains(&typical.estimate().0), "seed {seed}: {}", typical.estimate());
        }
    }

    #[test]
    fn the_rare_estimate_is_exceeded_by_one_in_a_hundred() {
        for seed in 0..50 {
            let mut rare = OversleepEstimator::rare(Nanos::from_micros(30));
            let mut exceeded = 0;
            let n = 20_000;
            for late in sleeps(seed).take(n) {
                exceeded += usize::from(late > rare.estimate());
                rare.note(late);
                assert!((30_000..=MAX_NS).contains(&rare.estimate().0));
            }
            assert!(exceeded * 66 < n, "seed {seed}: {exceeded} of {n}");
        }
    }

    #[test]
    fn a_paused_machine_moves_the_estimate_no_further_than_a_late_sleep() {
        let mut typical = OversleepEstimator::typical();
        (0..1_000).for_each(|_| typical.note(Nanos::from_micros(20)));
        let before = typical.estimate();
        typical.note(Nanos::from_secs(3));
        assert!(typical.estimate() <= before + Nanos(100));
        (0..10_000).for_each(|_| typical.note(Nanos::from_secs(3)));
        assert_eq!(typical.estimate(), Nanos(MAX_NS));
    }

    #[test]
    fn the_first_sleeps_are_learnt_from_quickly() {
        let mut typical = OversleepEstimator::typical();
        (0..16).for_each(|_| typical.note(Nanos::from_micros(24)));
        assert!((15_000..=27_000).contains(&typical.estimate().0), "{}", typical.estimate());
    }
}
