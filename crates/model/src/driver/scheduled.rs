//! The arrivals of a schedule, and their place in the order of the whole load.

use super::share::WorkerShare;
use crate::arrival::{Arrival, ArrivalBlock, Arrivals, Schedule};
use crate::time::Timestamp;

/// Place of an arrival in the order of the whole load. Arrivals that are dealt out in stripes start in this order too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LoadOrder {
    /// Due time of the arrival.
    pub at: Timestamp,
    /// True if it begins a session. At equal times, an arrival that continues a session comes first.
    pub(super) is_new: bool,
    /// Number of the arrival, user or session in the whole load.
    pub(super) number: u64,
}

impl LoadOrder {
    pub(super) fn for_arrival(arrival: Arrival) -> LoadOrder {
        LoadOrder { at: arrival.intended_start, is_new: false, number: arrival.index }
    }
}

#[derive(Clone, Debug)]
pub(super) struct OpenArrivals {
    arrivals: Arrivals,
    next: Option<Arrival>,
    end: Timestamp,
    was_truncated: bool,
}

impl OpenArrivals {
    pub(super) fn new(schedule: &Schedule, share: WorkerShare) -> OpenArrivals {
        let mut arrivals = schedule.stripe(share.first(), share.stride());
        let next = arrivals.next();
        OpenArrivals { arrivals, next, end: Timestamp::NEVER, was_truncated: false }
    }

    pub(super) fn peek(&self) -> Option<Timestamp> {
        self.next.map(|arrival| arrival.intended_start)
    }

    pub(super) fn place(&self) -> Option<LoadOrder> {
        self.next.map(LoadOrder::for_arrival)
    }

    /// Returns true if an arrival was left out because it is not before the end.
    pub(super) fn was_truncated(&self) -> bool {
        self.was_truncated
    }

    pub(super) fn pop(&mut self) -> Option<Arrival> {
        self.next.take().inspect(|_| {
            self.next = self.arrivals.next();
            self.truncate_at_end();
        })
    }

    pub(super) fn end_at(&mut self, end: Timestamp) {
        self.end = end;
        self.truncate_at_end();
    }

    pub(super) fn skip_to(&mut self, at: Timestamp) {
        self.take_before(at);
    }

    /// Takes all arrivals that are due before `until` as one block; `None` if nothing is due.
    pub(super) fn take_before(&mut self, until: Timestamp) -> Option<ArrivalBlock> {
        let first = self.next.filter(|next| next.intended_start < until)?;
        let stride = self.arrivals.stride();
        let alone = ArrivalBlock { first, last_start: first.intended_start, count: 1, stride };
        let more = self.arrivals.take_before(until.min(self.end));
        self.next = self.arrivals.next();
        self.truncate_at_end();
        let with = |more: ArrivalBlock| ArrivalBlock { last_start: more.last_start, count: more.count + 1, ..alone };
        Some(more.map_or(alone, with))
    }

    #[inline]
    fn truncate_at_end(&mut self) {
        if self.next.is_some_and(|next| next.intended_start >= self.end) {
            self.next = None;
            self.was_truncated = true;
        }
    }
}
