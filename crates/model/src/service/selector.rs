//! Selection of the requests that a fault affects.

use crate::random::mix64;
use crate::time::{Nanos, Timestamp};

/// Selection of requests for a fault: all requests, or the requests that match every given condition.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Selector {
    /// Every n-th request: numbers n, 2n, 3n … (n ≥ 1), counted from 1.
    pub every: Option<u64>,
    /// Share of all requests, in (0, 1]. A hash of seed and number chooses them, so the choice never changes.
    pub share: Option<f64>,
    /// Only requests that arrive at or after this instant.
    pub at: Option<Timestamp>,
    /// Only requests that arrive less than this time after `at`, or after the start of the fault clock.
    pub length: Option<Nanos>,
}

impl Selector {
    /// Returns true if this fault affects request `number` (from 1) that arrived at `arrived`.
    pub fn meets(&self, seed: u64, number: u64, arrived: Timestamp) -> bool {
        let from = self.at.unwrap_or(Timestamp::ZERO);
        self.every.is_none_or(|n| number.is_multiple_of(n))
            && self.share.is_none_or(|share| uniform(seed, number) < share)
            && arrived >= from
            && self.length.is_none_or(|length| arrived < from + length)
    }
}

impl Selector {
    /// Maps `at` by `instant` and `length` by `stretch`.
    pub(super) fn map_times(&mut self, instant: impl Fn(Timestamp) -> Timestamp, stretch: impl Fn(Nanos) -> Nanos) {
        self.at = self.at.map(instant);
        self.length = self.length.map(stretch);
    }
}

/// Returns a number in [0, 1) that is always the same for this request.
fn uniform(seed: u64, number: u64) -> f64 {
    (mix64(mix64(seed) ^ number) >> 11) as f64 / (1u64 << 53) as f64
}
