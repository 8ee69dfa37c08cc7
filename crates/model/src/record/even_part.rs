//! One item in a power of two.

use super::RequestRecord;
use crate::random::mix64;

/// Maximum number of halvings, so that [`EvenPart::one_in`] fits in 64 bits.
const MAX_HALVINGS: u32 = u64::BITS - 1;

/// An item that belongs to a request.
pub trait OfRequest: Copy {
    /// Returns the index of the request in the whole schedule.
    fn index(&self) -> u64;
}

impl OfRequest for RequestRecord {
    fn index(&self) -> u64 {
        self.index
    }
}

/// Items of single requests: all of them while they fit, later one in a power of two.
///
/// A hash of the index decides whether an item stays. So the parts of workers can be merged, and two parts with the
/// same capacity keep items of the same requests.
#[derive(Clone, Debug)]
pub struct EvenPart<T> {
    capacity: usize,
    items: Vec<T>,
    halvings: u32,
    /// End of the part of `items` that the last halving has finished.
    halved_up_to: usize,
    /// Value of `halvings` when the part was last settled; `None` if unknown.
    settled_for: Option<u32>,
}

impl<T: OfRequest> EvenPart<T> {
    /// Creates an empty part with room for `capacity`, so that adding never allocates.
    pub fn new(capacity: usize) -> EvenPart<T> {
        let items = Vec::with_capacity(capacity);
        EvenPart { capacity, items, halvings: 0, halved_up_to: 0, settled_for: Some(0) }
    }

    /// Rebuilds a part from a file. `one_in` is a power of two.
    pub(super) fn from_items(capacity: usize, items: Vec<T>, one_in: u64) -> EvenPart<T> {
        let halvings = one_in.max(1).trailing_zeros();
        EvenPart { capacity, items, halvings, halved_up_to: 0, settled_for: None }
    }

    /// Offers an item, and passes on one that has no place: this item, another in its place, or none.
    #[inline]
    pub fn offer(&mut self, item: &T, left_out: impl FnOnce(&T)) {
        match is_in_even_part(item.index(), self.halvings) {
            false => left_out(item),
            true if self.items.len() < self.capacity => self.items.push(*item),
            true => self.replace(item, left_out),
        }
    }

    /// Replaces an item that no longer belongs. A halving at once would take milliseconds during a run.
    fn replace(&mut self, item: &T, left_out: impl FnOnce(&T)) {
        while self.halvings < MAX_HALVINGS && is_in_even_part(item.index(), self.halvings) {
            let rest = &self.items[self.halved_up_to..];
            match rest.iter().position(|kept| !is_in_even_part(kept.index(), self.halvings)) {
                Some(steps) => {
                    let place = self.halved_up_to + steps;
                    let before = std::mem::replace(&mut self.items[place], *item);
                    self.halved_up_to = place + 1;
                    return left_out(&before);
                }
                None => {
                    self.halvings += 1;
                    self.halved_up_to = 0;
                }
            }
        }
        left_out(item);
    }

    /// Drops the items that the halvings leave out. Call it at the end of a run, before anything is read.
    pub fn settle(&mut self, mut left_out: impl FnMut(&T)) {
        // Items that were added since then belong to the part.
        if self.settled_for == Some(self.halvings) {
            return;
        }
        let halvings = self.halvings;
        self.items.retain(|item| {
            let stays = is_in_even_part(item.index(), halvings);
            if !stays {
                left_out(item);
            }
            stays
        });
        self.halved_up_to = 0;
        self.settled_for = Some(halvings);
    }

    /// Adds the part of another worker.
    pub fn merge(&mut self, other: &EvenPart<T>, mut left_out: impl FnMut(&T)) {
        if self.halvings < other.halvings {
            self.halvings = other.halvings;
            self.settle(&mut left_out);
        }
        if self.capacity > 0 {
            other.items.iter().for_each(|item| self.offer(item, &mut left_out));
        }
        self.settle(left_out);
    }

    /// Changes each item. The indices must stay.
    pub fn change_each(&mut self, change: impl FnMut(&mut T)) {
        self.items.iter_mut().for_each(change);
    }

    /// Returns the items, in no stated order.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns n if the part holds one item in n.
    pub fn one_in(&self) -> u64 {
        1 << self.halvings
    }
}

/// Returns true if the item of this index is in the part after this many halvings.
pub fn is_in_even_part(index: u64, halvings: u32) -> bool {
    mix64(index ^ 0x5341_4d50).trailing_zeros() >= halvings
}
