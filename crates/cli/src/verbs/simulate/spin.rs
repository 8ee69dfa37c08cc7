//! Work of a known length, done as rounds of arithmetic. Unlike a sleep, it uses the processor as real work does.

use std::hint::black_box;
use std::time::Instant;

use truetail_model::time::Nanos;

/// Number of samples. Their median is the calibration.
pub(super) const SAMPLES: usize = 50;
/// Longest sample. It limits a calibration to a fraction of a second, however long the work is.
const LONGEST_SAMPLE: Nanos = Nanos::from_millis(2);
/// Shortest sample. A shorter one would measure the clock.
const SHORTEST_SAMPLE: Nanos = Nanos::from_micros(200);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spin {
    rounds: u64,
}

impl Spin {
    /// Measures how many rounds take `length` on this machine now.
    pub(super) fn calibrated(length: Nanos) -> Spin {
        let sample = length.clamp(SHORTEST_SAMPLE, LONGEST_SAMPLE);
        let rounds = scaled(rounds_of_at_least(sample), sample);
        let mut times = [Nanos::ZERO; SAMPLES];
        times.fill_with(|| timed(rounds));
        times.sort_unstable();
        Spin { rounds: scaled((rounds, times[SAMPLES / 2]), length) }
    }

    pub(super) fn work(self) -> u64 {
        spin(self.rounds)
    }

    pub(super) fn rounds(self) -> u64 {
        self.rounds
    }
}

/// Returns a number of rounds and their time, which is at least half of `sample`. This also warms up the processor.
fn rounds_of_at_least(sample: Nanos) -> (u64, Nanos) {
    let mut rounds = 1_000;
    loop {
        let time = timed(rounds);
        if time.0 * 2 >= sample.0 {
            return (rounds, time);
        }
        rounds *= 2;
    }
}

/// Returns the rounds that take `length`, if `rounds` take `time`.
fn scaled((rounds, time): (u64, Nanos), length: Nanos) -> u64 {
    (u128::from(rounds) * u128::from(length.0) / u128::from(time.0.max(1))).max(1) as u64
}

fn timed(rounds: u64) -> Nanos {
    let begin = Instant::now();
    black_box(spin(rounds));
    begin.elapsed().into()
}

/// Does rounds that depend on each other, so that no processor can overlap them.
fn spin(rounds: u64) -> u64 {
    let mut state = black_box(1_u64);
    for _ in 0..rounds {
        state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Real durations depend on the load of the machine; only the arithmetic is exact.
    #[test]
    fn rounds_grow_with_the_time_they_are_for() {
        assert_eq!(scaled((1_000, Nanos(500)), Nanos(1_000)), 2_000);
        assert_eq!(scaled((1_000, Nanos(0)), Nanos(3)), 3_000);
        assert_eq!(scaled((1, Nanos(1_000)), Nanos(1)), 1);
        let short = Spin::calibrated(Nanos::from_micros(10));
        let long = Spin::calibrated(Nanos::from_millis(100));
        assert!(short.rounds() * 100 < long.rounds(), "{short:?} {long:?}");
    }
}
