//! Requests that are under way, in the order in which they will end.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use truetail_model::record::RequestRecord;
use truetail_model::time::Timestamp;

/// Requests under way. Those that end together come out in the order in which they went in.
///
/// Most services answer in the order of arrival, so a request that ends no earlier than the last one in line joins the
/// line; only the others go through a heap. Memory grows with the most that were ever under way, and is then reused.
#[derive(Clone, Default, Debug)]
pub(crate) struct Pending {
    line: VecDeque<Key>,
    heap: BinaryHeap<Reverse<Key>>,
    flights: Vec<Flight>,
    free: Vec<u32>,
    pushed: u64,
}

/// A request under way, with the record it will have if nothing ends it before its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) user: u32,
    pub(crate) record: RequestRecord,
}

/// Where a flight is in the order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    end: Timestamp,
    /// The how-manieth it was: settles ties.
    sequence: u64,
    slot: u32,
}

impl Pending {
    /// Adds a request that will end at `flight.record.end`.
    pub(crate) fn push(&mut self, flight: Flight) {
        let key = Key { end: flight.record.end, sequence: self.pushed, slot: self.store(flight) };
        self.pushed += 1;
        // What never ends would keep everything after it out of the line.
        if key.end != Timestamp::NEVER && self.line.back().is_none_or(|last| last.end <= key.end) {
            self.line.push_back(key);
        } else {
            self.heap.push(Reverse(key));
        }
    }

    fn store(&mut self, flight: Flight) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.flights[slot as usize] = flight;
            return slot;
        }
        self.flights.push(flight);
        u32::try_from(self.flights.len() - 1).expect("fewer than 2^32 requests under way")
    }

    fn first(&self) -> Option<Key> {
        let in_line = self.line.front().copied();
        let in_heap = self.heap.peek().map(|Reverse(key)| *key);
        in_line.into_iter().chain(in_heap).min()
    }

    /// When the next request ends; [`Timestamp::NEVER`] when none does.
    pub(crate) fn next_end(&self) -> Timestamp {
        self.first().map_or(Timestamp::NEVER, |key| key.end)
    }

    /// Takes the first request out if it ends at or before `now`.
    pub(crate) fn pop_ended(&mut self, now: Timestamp) -> Option<Flight> {
        let first = self.first().filter(|key| key.end <= now)?;
        if self.line.front() == Some(&first) {
            self.line.pop_front();
        } else {
            self.heap.pop();
        }
        self.free.push(first.slot);
        Some(self.flights[first.slot as usize])
    }

    /// All that are still under way, in the order in which they were started.
    pub(crate) fn into_started_order(self) -> Vec<Flight> {
        let mut keys: Vec<Key> = self.line.into_iter().chain(self.heap.into_iter().map(|Reverse(key)| key)).collect();
        keys.sort_unstable_by_key(|key| key.sequence);
        keys.into_iter().map(|key| self.flights[key.slot as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truetail_model::arrival::Arrival;
    use truetail_model::record::Outcome;

    fn flight(index: u64, end: u64) -> Flight {
        let arrival = Arrival { index, intended_start: Timestamp::ZERO };
        let record = RequestRecord::new(arrival, Timestamp::ZERO, Timestamp(end), Outcome::TimedOut);
        Flight { user: 0, record }
    }

    #[test]
    fn they_come_out_by_end_and_then_in_the_order_they_went_in() {
        let mut pending = Pending::default();
        for (index, end) in [5, 9, 9, 3, 5, 9, u64::MAX, 12].into_iter().enumerate() {
            pending.push(flight(index as u64, end));
        }
        let order: Vec<u64> =
            std::iter::from_fn(|| pending.pop_ended(Timestamp(12))).map(|flight| flight.record.index).collect();
        assert_eq!(order, [3, 0, 4, 1, 2, 5, 7]);
        assert_eq!(pending.next_end(), Timestamp::NEVER);
        assert_eq!(pending.into_started_order().len(), 1);
    }

    #[test]
    fn what_has_not_ended_stays() {
        let mut pending = Pending::default();
        pending.push(flight(0, 7));
        pending.push(flight(1, 4));
        assert_eq!(pending.next_end(), Timestamp(4));
        assert!(pending.pop_ended(Timestamp(3)).is_none());
        let left: Vec<u64> = pending.into_started_order().iter().map(|flight| flight.record.index).collect();
        assert_eq!(left, [0, 1]);
    }
}
