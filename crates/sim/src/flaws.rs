//! A generator that is late, so that what analysis makes of it can be compared with the truth.

use truetail_model::random::Random;
use truetail_model::time::{Nanos, Timestamp};

/// How late a generator is: each time that something falls due it wakes late, and now and then it stands still.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GeneratorFlaws {
    /// All of it is drawn from this seed.
    pub seed: u64,
    /// How late it wakes, on average. Exponential.
    pub mean_lag: Nanos,
    /// How long it runs between two standstills, on average. Exponential; zero: it never stands still.
    pub mean_between_pauses: Nanos,
    /// How long a standstill is.
    pub pause: Nanos,
}

/// The randomness of the generator is nobody else's.
const PURPOSE: u64 = 0x666c_6177;

/// A generator with these flaws, in virtual time.
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

    /// When it wakes that was to wake at `due`. Never earlier; calls are in order of time.
    pub(crate) fn wakes(&mut self, due: Timestamp) -> Timestamp {
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
