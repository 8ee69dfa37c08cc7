//! Which requests a fault affects.

use crate::random::mix64;
use crate::time::{Nanos, Timestamp};

/// Which requests a fault affects: all of them, or those that match every given condition.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Selector {
    /// Every n-th request: numbers n, 2n, 3n … (n ≥ 1), counted from 1.
    pub every: Option<u64>,
    /// A share in (0, 1] of all requests, chosen by a hash of seed and number, so the choice never changes.
    pub share: Option<f64>,
    /// Only requests that arrive at or after this instant …
    pub at: Option<Timestamp>,
    /// … and, counted from `at` (or from the clock's start), before this much time has passed.
    pub length: Option<Nanos>,
}

impl Selector {
    /// Whether this fault affects request `number` (from 1) that arrived at `arrived`.
    pub fn meets(&self, seed: u64, number: u64, arrived: Timestamp) -> bool {
        let from = self.at.unwrap_or(Timestamp::ZERO);
        self.every.is_none_or(|n| number.is_multiple_of(n))
            && self.share.is_none_or(|share| uniform(seed, number) < share)
            && arrived >= from
            && self.length.is_none_or(|length| arrived < from + length)
    }
}

impl Selector {
    /// Moves `at` by `instant` and `length` by `stretch`.
    pub(super) fn map_times(&mut self, instant: impl Fn(Timestamp) -> Timestamp, stretch: impl Fn(Nanos) -> Nanos) {
        self.at = self.at.map(instant);
        self.length = self.length.map(stretch);
    }
}

/// A number in [0, 1) that is always the same for this request.
fn uniform(seed: u64, number: u64) -> f64 {
    (mix64(mix64(seed) ^ number) >> 11) as f64 / (1u64 << 53) as f64
}
