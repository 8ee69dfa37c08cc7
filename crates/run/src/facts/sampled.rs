//! Samples of a large population, kept in full: the slowest items, and random ones.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// Number of slowest items to keep.
pub(super) const SLOWEST: usize = 4;
/// Number of random items to keep.
pub(super) const RANDOM: usize = 20;

/// An item that can be sampled. Its order breaks ties between items of equal length or equal chance.
pub trait Sampleable: Clone + Ord {
    /// Returns its duration.
    fn length_ns(&self) -> u64;

    /// Returns the instants that determine its chance: intended start, actual start, and end. All three are needed,
    /// because the items of a burst share their intended start.
    fn instants_ns(&self) -> [u64; 3];
}

/// The slowest of all offered items, and some random ones. How a run is divided into parts makes no difference.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampled<T> {
    /// The slowest items, slowest first.
    pub slowest: Vec<T>,
    /// Random items, which may include some of the slowest.
    pub random: Vec<T>,
}

impl<T> Default for Sampled<T> {
    fn default() -> Sampled<T> {
        Sampled { slowest: Vec::new(), random: Vec::new() }
    }
}

impl<T: Sampleable> Sampled<T> {
    /// Offers the item of this length and these instants. `make` is called only if the item may be kept.
    pub fn offer_with(&mut self, length_ns: u64, instants_ns: [u64; 3], make: impl FnOnce() -> T) {
        let chance = chance(instants_ns);
        let may_be_slow =
            self.slowest.len() < SLOWEST || self.slowest.last().is_some_and(|last| last.length_ns() <= length_ns);
        let may_be_chosen =
            self.random.len() < RANDOM || self.random.last().is_some_and(|last| chance <= chance_of(last));
        if may_be_slow || may_be_chosen {
            let one = make();
            insert(&mut self.slowest, one.clone(), SLOWEST, by_length);
            insert(&mut self.random, one, RANDOM, by_chance);
        }
    }

    /// Adds the items of another part of the run.
    pub fn merge(&mut self, other: &Sampled<T>) {
        let slowest = other.slowest.iter().cloned();
        let random = other.random.iter().cloned();
        slowest.for_each(|one| insert(&mut self.slowest, one, SLOWEST, by_length));
        random.for_each(|one| insert(&mut self.random, one, RANDOM, by_chance));
    }

    /// Returns all kept items, some of them twice.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.slowest.iter().chain(&self.random)
    }

    pub(super) fn is_in_order(&self) -> bool {
        self.slowest.is_sorted_by(|one, next| by_length(one, next).is_le())
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.slowest.len() > SLOWEST || self.random.len() > RANDOM
    }
}

/// Orders by length, slowest first. Ties are broken too, so the division into parts does not matter.
fn by_length<T: Sampleable>(one: &T, other: &T) -> Ordering {
    other.length_ns().cmp(&one.length_ns()).then_with(|| one.cmp(other))
}

fn by_chance<T: Sampleable>(one: &T, other: &T) -> Ordering {
    chance_of(one).cmp(&chance_of(other)).then_with(|| one.cmp(other))
}

fn chance_of<T: Sampleable>(one: &T) -> u64 {
    chance(one.instants_ns())
}

/// Chance as a function of the instants, so that the division of a run into parts does not matter: the finalizer of
/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn chance(instants_ns: [u64; 3]) -> u64 {
    instants_ns.into_iter().fold(0, |hash: u64, at_ns| {
        let mut z = (hash ^ at_ns).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// Inserts `one` at its place if it is among the first `most`.
fn insert<T>(all: &mut Vec<T>, one: T, most: usize, order: fn(&T, &T) -> Ordering) {
    let place = all.partition_point(|known| order(known, &one).is_lt());
    if place < most {
        all.insert(place, one);
        all.truncate(most);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Intended start, sending time, length, and a number that no instant reveals.
    type One = (u64, u64, u64, u64);

    impl Sampleable for One {
        fn length_ns(&self) -> u64 {
            self.2
        }

        fn instants_ns(&self) -> [u64; 3] {
            [self.0, self.0 + self.1, self.0 + self.2]
        }
    }

    fn sample(all: impl Iterator<Item = One>) -> Sampled<One> {
        let mut sampled = Sampled::default();
        all.for_each(|one| sampled.offer_with(one.length_ns(), one.instants_ns(), || one));
        sampled
    }

    proptest! {
        /// Includes items of equal length, and items whose instants are all equal.
        #[test]
        fn it_does_not_matter_who_offered_which(
            all in prop::collection::vec((0u64..4, 0u64..4, 0u64..4, 1u64..4), 0..300),
            parts in 1usize..4,
        ) {
            let all: Vec<One> =
                all.into_iter().map(|(start, sent, length, more)| (start * 1_000, sent, length * 1_000, more)).collect();
            let whole = sample(all.iter().copied());
            let mut sum = Sampled::default();
            for part in (0..parts).rev() {
                sum.merge(&sample(all.iter().copied().skip(part).step_by(parts)));
            }
            prop_assert_eq!(&sum, &whole);
            prop_assert_eq!(whole.slowest.len(), all.len().min(SLOWEST));
            prop_assert_eq!(whole.random.len(), all.len().min(RANDOM));
            prop_assert_eq!(whole.slowest.first().map(One::length_ns), all.iter().map(One::length_ns).max());
            prop_assert!(!whole.is_too_large());
        }
    }

    /// In a burst, all requests should start at once. Samples must come from all of it.
    #[test]
    fn chance_tells_those_of_a_burst_apart() {
        let sampled = sample((0..1_000).map(|length| (5, 0, length, 1)));
        let late = sampled.random.iter().filter(|one| one.length_ns() >= 500).count();
        assert!((3..18).contains(&late), "{late} of 20");
    }

    /// If lengths rise, the first and the second half get equally many samples, up to chance.
    #[test]
    fn chance_has_no_favourites() {
        let mut late = 0;
        for round in 0..200u64 {
            let sampled = sample((0..1_000).map(|i| ((round * 1_000 + i) * 50_000_000, 0, i, 1)));
            late += sampled.random.iter().filter(|one| one.length_ns() >= 500).count();
        }
        assert!((1_800..2_200).contains(&late), "{late} of 4000");
    }
}
