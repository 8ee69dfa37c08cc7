//! Which connection a request gets: an open one, a new one, or none yet.

use truetail_model::time::Timestamp;

use super::Worker;
use crate::protocol::{Protocol, Session, Tag};
use crate::since::Since;

impl<P: Protocol> Worker<P> {
    /// Finds a connection for a request that was begun.
    #[inline]
    pub(super) fn place(&mut self, tag: Tag, now: Timestamp) {
        let exchange = self.in_flight.get(tag);
        let (user, origin) = (exchange.user, exchange.origin);
        match self.connections.choose(user, origin, now) {
            Some(slot) => self.begin_on(slot, tag, now),
            None if self.connections.may_open(origin) => self.open_connection(tag),
            // Happens when a connection was lost that had more unsent requests than the others have room for.
            None => self.connections.unassigned.push_back(tag),
        }
    }

    /// Begins a request on an open connection. On a multiplexed one it goes out with all others that are due.
    #[inline]
    pub(super) fn begin_on(&mut self, slot: u32, tag: Tag, now: Timestamp) {
        let Some(connection) = self.connections.open(slot) else { return };
        let exchange = self.in_flight.get(tag);
        exchange.connection = Some(slot);
        exchange.key = connection.session.begin(&self.protocol, tag, exchange.request, &mut self.events);
        if P::MULTIPLEXED {
            self.connections.touch(slot);
            self.handle_events(slot, now, None);
        } else {
            self.flush(slot, now);
        }
    }

    /// A request is to be sent on another connection: its own was lost before the server acted on it.
    pub(super) fn unassign(&mut self, tag: Tag) {
        self.in_flight.get(tag).connection = None;
        self.connections.unassigned.push_back(tag);
    }

    /// Finds connections for requests that lost theirs, as far as there is room. The time on the lost one is connection wait,
    /// and no part of what the next one takes to open; how late the request began on it stays generator lag.
    pub(super) fn place_unassigned(&mut self, now: Timestamp) {
        for _ in 0..self.connections.unassigned.len() {
            let Some(tag) = self.connections.unassigned.pop_front() else { return };
            let since: Since = self.clock.since(now);
            let exchange = self.in_flight.get(tag);
            exchange.connection_wait += exchange.started.elapsed(since);
            (exchange.began, exchange.started) = (since, since);
            exchange.first_byte = None;
            if let Some(rare) = &mut exchange.rare {
                rare.send_wait = None;
            }
            if P::MULTIPLEXED {
                self.place(tag, now);
            } else {
                // Other idle connections may be as dead as the one that was lost.
                self.open_connection(tag);
            }
        }
    }

    /// Tells the driver how many requests may be in flight, where the sessions decide, and places those that wait.
    pub(super) fn update_capacity(&mut self, now: Timestamp) {
        /// So many requests in flight nobody means to forbid.
        const UNLIMITED: u64 = 1 << 31;
        if self.connections.are_shared_out() {
            let capacity = self.connections.capacity();
            self.driver.set_cap((capacity < UNLIMITED).then_some(capacity), now);
        }
        self.place_unassigned(now);
    }
}
