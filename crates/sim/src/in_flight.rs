//! Requests in flight, in the order of their ends.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use truetail_model::record::RequestRecord;
use truetail_model::time::Timestamp;

use crate::stream_ticket::StreamTicket;

/// Requests in flight, by their end. Requests that end together come out in the order of their pushes. Most services
/// answer in the order of arrival, so most requests end last and are appended to a FIFO. Only a request that ends
/// before the last one of the FIFO goes through a heap. Memory grows with the maximum of requests in flight, and is
/// reused.
#[derive(Clone, Default, Debug)]
pub(crate) struct InFlightQueue {
    fifo: VecDeque<OrderKey>,
    heap: BinaryHeap<Reverse<OrderKey>>,
    flights: Vec<InFlightRequest>,
    free: Vec<u32>,
    pushed: u64,
}

/// Request in flight, with the record it will have unless it is cut off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlightRequest {
    /// Machine that sent the request.
    pub(crate) machine: u32,
    pub(crate) user: u32,
    pub(crate) record: RequestRecord,
    /// Its answer, if the service streams.
    pub(crate) stream: Option<StreamTicket>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct OrderKey {
    end: Timestamp,
    /// Number of the push, to break ties.
    sequence: u64,
    slot: u32,
}

impl InFlightQueue {
    /// Adds a request that ends at `flight.record.end`.
    pub(crate) fn push(&mut self, flight: InFlightRequest) {
        let key = OrderKey { end: flight.record.end, sequence: self.pushed, slot: self.store(flight) };
        self.pushed += 1;
        // A request that never ends would keep all later ones out of the FIFO.
        if key.end != Timestamp::NEVER && self.fifo.back().is_none_or(|last| last.end <= key.end) {
            self.fifo.push_back(key);
        } else {
            self.heap.push(Reverse(key));
        }
    }

    fn store(&mut self, flight: InFlightRequest) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.flights[slot as usize] = flight;
            return slot;
        }
        self.flights.push(flight);
        u32::try_from(self.flights.len() - 1).expect("fewer than 2^32 requests under way")
    }

    fn first(&self) -> Option<OrderKey> {
        let in_fifo = self.fifo.front().copied();
        let in_heap = self.heap.peek().map(|Reverse(key)| *key);
        in_fifo.into_iter().chain(in_heap).min()
    }

    /// Returns the end of the next request; [`Timestamp::NEVER`] if none ends.
    pub(crate) fn next_end(&self) -> Timestamp {
        self.first().map_or(Timestamp::NEVER, |key| key.end)
    }

    /// Removes the first request if it ends at or before `now`.
    pub(crate) fn pop_ended(&mut self, now: Timestamp) -> Option<InFlightRequest> {
        let first = self.first().filter(|key| key.end <= now)?;
        if self.fifo.front() == Some(&first) {
            self.fifo.pop_front();
        } else {
            self.heap.pop();
        }
        self.free.push(first.slot);
        Some(self.flights[first.slot as usize])
    }

    /// Returns all requests still in flight, in the order of their starts.
    pub(crate) fn into_started_order(self) -> Vec<InFlightRequest> {
        let mut keys: Vec<OrderKey> =
            self.fifo.into_iter().chain(self.heap.into_iter().map(|Reverse(key)| key)).collect();
        keys.sort_unstable_by_key(|key| key.sequence);
        keys.into_iter().map(|key| self.flights[key.slot as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truetail_model::arrival::Arrival;
    use truetail_model::record::Outcome;

    fn flight(index: u64, end: u64) -> InFlightRequest {
        let arrival = Arrival { index, intended_start: Timestamp::ZERO };
        let record = RequestRecord::new(arrival, Timestamp::ZERO, Timestamp(end), Outcome::TimedOut);
        InFlightRequest { machine: 0, user: 0, record, stream: None }
    }

    #[test]
    fn requests_come_out_by_end_and_then_in_order_of_push() {
        let mut queue = InFlightQueue::default();
        for (index, end) in [5, 9, 9, 3, 5, 9, u64::MAX, 12].into_iter().enumerate() {
            queue.push(flight(index as u64, end));
        }
        let order: Vec<u64> =
            std::iter::from_fn(|| queue.pop_ended(Timestamp(12))).map(|flight| flight.record.index).collect();
        assert_eq!(order, [3, 0, 4, 1, 2, 5, 7]);
        assert_eq!(queue.next_end(), Timestamp::NEVER);
        assert_eq!(queue.into_started_order().len(), 1);
    }

    #[test]
    fn what_has_not_ended_stays() {
        let mut queue = InFlightQueue::default();
        queue.push(flight(0, 7));
        queue.push(flight(1, 4));
        assert_eq!(queue.next_end(), Timestamp(4));
        assert!(queue.pop_ended(Timestamp(3)).is_none());
        let left: Vec<u64> = queue.into_started_order().iter().map(|flight| flight.record.index).collect();
        assert_eq!(left, [0, 1]);
    }
}
