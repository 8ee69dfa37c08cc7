//! The slowest of all requests that were offered.

use super::{Outcome, RequestRecord};

/// At most a stated number of requests, of which none that was left out is slower.
///
/// What is ordered is small, and apart from the records: a run in which one request in ten is slower than one that is
/// kept moves little memory.
#[derive(Clone, Debug)]
pub(super) struct Slowest {
    most: usize,
    fastest_first: FastestFirst,
    records: Vec<RequestRecord>,
}

/// Times are compared up to this, about 73 years.
const LONGEST: u64 = (1 << 61) - 1;

/// The place of a request in the order of slowness. The unanswered are slower than every answer. Of two that are equally
/// slow the one planned first counts as slower, so that a service as steady as a clock does not make every request push
/// another out.
#[inline]
fn slowness(record: &RequestRecord) -> u128 {
    let class = match record.outcome {
        Outcome::Response { .. } => 0,
        outcome if outcome.is_censored() => 1,
        _ => 2,
    };
    let slowness = class << 61 | record.response_time().0.min(LONGEST);
    u128::from(slowness) << 64 | u128::from(!record.index)
}

impl Slowest {
    /// None yet, of `most` and at most 2^32.
    pub(super) fn new(most: usize) -> Slowest {
        let most = most.min(u32::MAX as usize);
        Slowest { most, fastest_first: FastestFirst::default(), records: Vec::new() }
    }

    /// Room for all of them is reserved at once.
    pub(super) fn with_room(mut self) -> Slowest {
        self.fastest_first.reserve(self.most);
        self.records.reserve(self.most);
        self
    }

    /// Offers one request.
    #[inline]
    pub(super) fn offer(&mut self, record: &RequestRecord) {
        let slowness = slowness(record);
        if self.records.len() < self.most {
            self.fastest_first.push(slowness);
            self.records.push(*record);
        } else if self.fastest_first.first().is_some_and(|fastest| slowness > fastest) {
            let slot = self.fastest_first.replace_first(slowness);
            self.records[slot as usize] = *record;
        }
    }

    /// What is kept, in no stated order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &RequestRecord> {
        self.records.iter()
    }
}

/// So many keys stand below each.
const BELOW: usize = 4;

/// A heap of keys with the slots that they were given, from 0 in the order in which they came. With four below each it is
/// half as deep as with two, and fewer places of it have to be fetched: between two calls of the system all are far away.
#[derive(Clone, Default, Debug)]
struct FastestFirst {
    keys: Vec<u128>,
    slots: Vec<u32>,
}

impl FastestFirst {
    fn reserve(&mut self, most: usize) {
        self.keys.reserve(most);
        self.slots.reserve(most);
    }

    /// The smallest.
    #[inline]
    fn first(&self) -> Option<u128> {
        self.keys.first().copied()
    }

    /// Its slot is how many there were.
    fn push(&mut self, key: u128) {
        let (mut at, slot) = (self.keys.len(), self.slots.len() as u32);
        self.keys.push(key);
        self.slots.push(slot);
        while at > 0 && key < self.keys[(at - 1) / BELOW] {
            let above = (at - 1) / BELOW;
            self.put(at, self.keys[above], self.slots[above]);
            at = above;
        }
        self.put(at, key, slot);
    }

    /// Puts `key` in place of the smallest; its slot.
    #[inline(never)]
    fn replace_first(&mut self, key: u128) -> u32 {
        let (mut at, slot) = (0, self.slots[0]);
        while let Some(least) = self.least_below(at).filter(|least| self.keys[*least] < key) {
            self.put(at, self.keys[least], self.slots[least]);
            at = least;
        }
        self.put(at, key, slot);
        slot
    }

    /// Without branches where there are all four: half of them would be guessed wrong.
    #[inline]
    fn least_below(&self, at: usize) -> Option<usize> {
        let first = BELOW * at + 1;
        if let Some([a, b, c, d]) = self.keys.get(first..first + BELOW) {
            let pairs = [(usize::from(b < a), a.min(b)), (2 + usize::from(d < c), c.min(d))];
            return Some(first + pairs[usize::from(pairs[1].1 < pairs[0].1)].0);
        }
        (first..self.keys.len()).min_by_key(|below| self.keys[*below])
    }

    #[inline]
    fn put(&mut self, at: usize, key: u128, slot: u32) {
        (self.keys[at], self.slots[at]) = (key, slot);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_always_the_smallest(
            pushed in proptest::collection::vec(0u128..50, 1..40),
            replaced in proptest::collection::vec(0u128..90, 0..200),
        ) {
            let mut heap = FastestFirst::default();
            pushed.iter().for_each(|key| heap.push(*key));
            let mut by_slot = pushed;
            for key in replaced {
                let smallest = *by_slot.iter().min().unwrap();
                prop_assert_eq!(heap.first(), Some(smallest));
                let slot = heap.replace_first(key) as usize;
                prop_assert_eq!(by_slot[slot], smallest);
                by_slot[slot] = key;
            }
        }
    }
}
