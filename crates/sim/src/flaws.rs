//! A late generator, so that the analysis of its run can be compared with the truth.

use truetail_model::random::Random;
use truetail_model::time::{Nanos, Timestamp};

/// Lateness of a generator: it wakes late when something falls due, and sometimes pauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GeneratorFlaws {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Mean lag of a wake-up; exponential.
    pub mean_lag: Nanos,
    /// Mean time between two pauses; exponential. Zero: no pauses.
    pub mean_between_pauses: Nanos,
    /// Length of a pause.
    pub pause: Nanos,
}

/// Purpose of the random numbers of the generator.
const PURPOSE: u64 = 0x666c_6177;

#[derive(Clone, Debug)]
pub(crate) struct FlawedGenerator {
    flaws: GeneratorFlaws,
    random: Random,
    pause_begins: Timestamp,
}

impl FlawedGenerator {
    pub(crate) fn new(flaws: GeneratorFlaws) -> FlawedGenerator {
        let mut generator =
            FlawedGenerator { flaws, random: Random::new(flaws.seed, PURPOSE), pause_begins: Timestamp::NEVER };
        generator.plan_pause(Timestamp::ZERO);
        generator
    }

    fn plan_pause(&mut self, after: Timestamp) {
        if !self.flaws.mean_between_pauses.is_zero() {
            self.pause_begins = after + self.draw(self.flaws.mean_between_pauses);
        }
    }

    fn draw(&mut self, mean: Nanos) -> Nanos {
        Nanos((self.random.exponential() * mean.0 as f64) as u64)
    }

    /// Returns when the generator wakes for `due`: never earlier. Calls must be in the order of time.
    pub(crate) fn wake_time(&mut self, due: Timestamp) -> Timestamp {
        let lag = self.draw(self.flaws.mean_lag);
        let mut wakes = due + lag;
        while self.pause_begins <= wakes {
            let pause_ends = self.pause_begins + self.flaws.pause;
            wakes = wakes.max(pause_ends);
            self.plan_pause(pause_ends);
        }
        wakes
    }
}
