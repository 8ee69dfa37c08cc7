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
            // Happens where another origin has room, or a connection was lost that had more unsent requests than the others have
            // room for.
            None => {
                self.in_flight.hold(tag);
                self.connections.wait(origin, tag);
                self.update_cap(now);
            }
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
        let exchange = self.in_flight.get(tag);
        exchange.connection = None;
        self.connections.wait(exchange.origin, tag);
    }

    /// Finds connections for requests that wait for one, as far as there is room at their origins.
    fn place_waiting(&mut self, now: Timestamp) {
        for origin in 0..self.connections.origins() {
            while let Some(tag) = self.connections.first_waiting(origin) {
                let user = self.in_flight.get(tag).user;
                // Where none is shared out, other idle connections may be as dead as the one that was lost.
                let slot = if P::MULTIPLEXED { self.connections.choose(user, origin, now) } else { None };
                if slot.is_none() && !self.connections.may_open(origin) {
                    break;
                }
                self.connections.waits_no_more(origin, tag);
                self.waited(tag, now);
                match slot {
                    Some(slot) => self.begin_on(slot, tag, now),
                    None => self.open_connection(tag),
                }
            }
        }
    }

    /// A request has waited until `now`, and goes on a connection that is no lost one. The time until now is connection wait, and
    /// no part of what a connection takes to open; how late the request began on a lost one stays generator lag.
    fn waited(&mut self, tag: Tag, now: Timestamp) {
        self.in_flight.release(tag, now);
        let since: Since = self.clock.since(now);
        let exchange = self.in_flight.get(tag);
        exchange.connection_wait += exchange.started.elapsed(since);
        (exchange.began, exchange.started) = (since, since);
        exchange.first_byte = None;
        if let Some(rare) = &mut exchange.rare {
            rare.send_wait = None;
        }
    }

    /// Tells the driver how many requests may be in flight, where the sessions decide.
    pub(super) fn update_cap(&mut self, now: Timestamp) {
        /// So many requests in flight nobody means to forbid.
        const UNLIMITED: u64 = 1 << 31;
        if self.connections.are_shared_out() {
            let capacity = self.connections.capacity();
            self.driver.set_cap((capacity < UNLIMITED).then_some(capacity), now);
        }
    }

    /// The same, and finds connections for those that wait.
    pub(super) fn update_capacity(&mut self, now: Timestamp) {
        self.update_cap(now);
        if self.connections.waiting() > 0 {
            self.place_waiting(now);
            // Those that still wait count in it.
            self.update_cap(now);
        }
    }
}
