//! The slowest requests.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Outcome, RequestRecord};

/// The slowest of all requests offered, up to a fixed number.
///
/// The heap orders small keys, apart from the records, so a run with many slow requests moves little memory.
#[derive(Clone, Debug)]
pub(super) struct Slowest {
    most: usize,
    fastest_first: BinaryHeap<Reverse<Key>>,
    records: Vec<RequestRecord>,
}

/// Order of requests by slowness; unanswered requests are slower than every answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    slowness: u64,
    /// Of two equally slow requests, the one planned first is slower. Otherwise every request of a perfectly steady
    /// service would replace another.
    index: Reverse<u64>,
    slot: u32,
}

/// Longest time that is compared, about 73 years.
const LONGEST: u64 = (1 << 61) - 1;

fn slowness(record: &RequestRecord) -> u64 {
    let class = match record.outcome {
        Outcome::Response { .. } => 0,
        Outcome::TimedOut | Outcome::InFlightAtEnd | Outcome::NeverIssued => 1,
        Outcome::ConnectFailed(_) | Outcome::Reset(_) | Outcome::Malformed(_) => 2,
    };
    class << 61 | record.response_time().0.min(LONGEST)
}

impl Slowest {
    /// Keeps `most` requests, at most 2^32.
    pub(super) fn new(most: usize) -> Slowest {
        let most = most.min(u32::MAX as usize);
        Slowest { most, fastest_first: BinaryHeap::new(), records: Vec::new() }
    }

    pub(super) fn with_room(mut self) -> Slowest {
        self.fastest_first.reserve(self.most);
        self.records.reserve(self.most);
        self
    }

    #[inline]
    pub(super) fn offer(&mut self, record: &RequestRecord) {
        if self.records.len() < self.most {
            return self.keep(record);
        }
        let Some(Reverse(fastest)) = self.fastest_first.peek() else { return };
        let slowness = slowness(record);
        if (slowness, Reverse(record.index)) > (fastest.slowness, fastest.index) {
            self.replace_fastest(record, slowness);
        }
    }

    fn keep(&mut self, record: &RequestRecord) {
        let slot = self.records.len() as u32;
        self.records.push(*record);
        self.fastest_first.push(Reverse(Key { slowness: slowness(record), index: Reverse(record.index), slot }));
    }

    fn replace_fastest(&mut self, record: &RequestRecord, slowness: u64) {
        let Some(mut fastest) = self.fastest_first.peek_mut() else { return };
        let slot = fastest.0.slot;
        *fastest = Reverse(Key { slowness, index: Reverse(record.index), slot });
        self.records[slot as usize] = *record;
    }

    /// Changes each request. Its index, times and outcome must stay.
    pub(super) fn change_each(&mut self, change: impl FnMut(&mut RequestRecord)) {
        self.records.iter_mut().for_each(change);
    }

    /// Returns the requests, in no stated order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &RequestRecord> {
        self.records.iter()
    }
}
