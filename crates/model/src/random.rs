//! Seeded random numbers that are the same on every machine and in every version: xoshiro256++ seeded through
//! SplitMix64, and logarithms from `libm` rather than from the platform.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A reproducible stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Creates the stream of `seed`. Streams of different `purpose`, such as arrivals and service, are independent.
    pub fn new(seed: u64, purpose: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(mix64(seed ^ mix64(purpose))))
    }

    /// Returns the next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number that is uniform in [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns an exponential number with mean 1, by inversion: `-ln(1 - u)`. Finite and not negative.
    pub fn exponential(&mut self) -> f64 {
        -libm::log1p(-self.uniform())
    }
}

/// Random numbers read by their place, in any order: outputs of SplitMix64, whose state is a counter.
#[derive(Clone, Copy, Debug)]
pub struct Numbered(u64);

impl Numbered {
    /// Growth of the state of SplitMix64 from one output to the next: 2^64 divided by the golden ratio.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Creates the numbers of `seed` for this `purpose`, which are independent of those for another purpose.
    pub const fn new(seed: u64, purpose: u64) -> Numbered {
        Numbered(mix64(seed ^ mix64(purpose)))
    }

    /// Returns number `place`, uniform in (0, 1): 52 random bits plus half of the last bit, so it is neither 0 nor 1.
    #[inline]
    pub fn uniform(self, place: u64) -> f64 {
        let bits = mix64(self.0.wrapping_add(place.wrapping_mul(Numbered::STEP)));
        ((bits >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }
}

/// A 64-bit finaliser: every input bit affects every output bit (David Stafford's variant 13, as in SplitMix64).
pub const fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the inverse of [`mix64`]. The factors are the inverses of its factors modulo 2^64.
pub const fn unmix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 31) ^ (z >> 62)).wrapping_mul(0x3196_42b2_d24d_8ec3);
    z = (z ^ (z >> 27) ^ (z >> 54)).wrapping_mul(0x96de_1b17_3f11_9089);
    z ^ (z >> 30) ^ (z >> 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixing_can_be_undone() {
        let mut random = Random::new(3, 0);
        let some = (0..1_000).map(|_| random.next_u64()).chain([0, 1, u64::MAX]);
        some.for_each(|z| assert_eq!((unmix64(mix64(z)), mix64(unmix64(z))), (z, z)));
    }

    /// Replaying a published seed must give the published arrivals: these numbers may never change.
    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut random = Random::new(1, 0);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(first, [17730607322089975729, 4464893370519901181, 15413697039359713850]);
    }

    #[test]
    fn numbered_values_never_change_and_lie_within_0_and_1() {
        let numbered = Numbered::new(1, 0);
        let bits = [0, 1, u64::MAX].map(|place| numbered.uniform(place).to_bits());
        assert_eq!(bits, [4602306099801214350, 4604928351346079835, 4600514322343698802]);
        assert!((0..100_000).map(|place| numbered.uniform(place)).all(|number| number > 0.0 && number < 1.0));
    }

    #[test]
    fn purposes_are_independent() {
        assert_ne!(Random::new(1, 0).next_u64(), Random::new(1, 1).next_u64());
        assert_ne!(Random::new(1, 0).next_u64(), Random::new(2, 0).next_u64());
    }
}
