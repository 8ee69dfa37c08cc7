//! Choice of a connection for each request: an open one, a new one, or none yet.

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;

use super::Worker;
use super::clock::CompletionTime;
use crate::placement::Placement;
use crate::protocol::{Beginning, Conversation, Protocol, Tag};
use crate::worker_instant::WorkerInstant;

/// Limit on the waiting requests that are placed in a row. The next turn of the worker places the rest.
pub(super) const PLACED_IN_A_ROW: u32 = 256;

impl<P: Protocol, L: Placement<P>> Worker<P, L> {
    #[inline]
    pub(super) fn place(&mut self, tag: Tag, now: Timestamp) {
        let exchange = self.in_flight.get(tag);
        let requester = exchange.requester;
        let origin = requester.origin;
        match self.connections.choose(requester, now) {
            Some(slot) => self.begin_on(slot, tag, now),
            None if self.sessions_keep_connections() && self.connections.has_lost(requester) => {
                self.end(tag, CompletionTime::read_at(now), Outcome::Reset(Cause::ClosedBeforeAnswer), 0);
            }
            None if self.connections.may_open(origin) => self.open_connection(tag, now),
            // Happens if another origin has room, or if a lost connection had more unsent requests than the other
            // connections have room for.
            None => {
                self.in_flight.hold(tag);
                self.connections.wait(origin, tag);
                self.update_cap(now);
            }
        }
    }

    /// Returns true if a session ends with its connection, because no other one can replace it.
    pub(super) fn sessions_keep_connections(&self) -> bool {
        self.protocol.has_session_state() && self.connections.placement.is_per_session()
    }

    /// Begins a request on an open connection, and sends it at once or together with all other due requests.
    #[inline]
    pub(super) fn begin_on(&mut self, slot: u32, tag: Tag, now: Timestamp) {
        let Some(connection) = self.connections.open(slot) else { return };
        let exchange = self.in_flight.get(tag);
        exchange.connection = Some(slot);
        let begins = Beginning { tag, request: exchange.request, arrival: exchange.arrival, now };
        exchange.key = connection.conversation.begin(&self.protocol, begins, &mut self.events);
        self.connections.note_begun(slot);
        if self.connections.placement.sends_together() {
            self.connections.touch(slot);
            self.handle_events(slot, now, None);
        } else {
            self.flush(slot, now);
        }
    }

    /// Queues a request for another connection, because its own was lost before the server acted on it.
    pub(super) fn unassign(&mut self, tag: Tag) {
        let exchange = self.in_flight.get(tag);
        exchange.connection = None;
        self.connections.wait(exchange.requester.origin, tag);
    }

    /// Finds connections for waiting requests if a step has noted that there may be room.
    #[inline]
    pub(super) fn place_waiting(&mut self) {
        if self.connections.may_place() {
            self.place_all_waiting();
        }
    }

    /// Finds connections for waiting requests, as far as their origins have room. A connection may be lost while it is
    /// sent on. Its unsent requests wait again, and are placed in the same row.
    #[cold]
    fn place_all_waiting(&mut self) {
        let mut now = self.clock.now();
        self.connections.begin_placing();
        let mut left = PLACED_IN_A_ROW;
        for origin in 0..self.connections.origins() {
            while let Some(tag) = self.connections.first_waiting(origin) {
                if left == 0 {
                    return self.update_capacity(now);
                }
                left -= 1;
                let requester = self.in_flight.get(tag).requester;
                let slot = self.connections.choose_again(requester, now);
                if slot.is_none() && !self.connections.may_open(origin) {
                    break;
                }
                self.connections.remove_waiting(origin, tag);
                self.end_wait(tag, now);
                match slot {
                    Some(slot) => self.begin_on(slot, tag, now),
                    None => self.open_connection(tag, now),
                }
                // Sending and opening take time. It must not count as service time of the next request.
                now = self.clock.now();
            }
        }
        // Requests that still wait count in the capacity.
        self.update_cap(now);
    }

    /// Records that a request has waited until `now` for a connection. The time until now is connection wait, and not
    /// part of the time that a new connection takes to open. Its lag on the lost connection stays generator lag.
    fn end_wait(&mut self, tag: Tag, now: Timestamp) {
        self.in_flight.release(tag, now);
        let since: WorkerInstant = self.clock.since(now);
        let exchange = self.in_flight.get(tag);
        exchange.connection_wait += exchange.started.elapsed_without_pauses(since);
        (exchange.began, exchange.started) = (since, since);
        exchange.first_byte = None;
        if let Some(rare) = &mut exchange.rare {
            rare.send_wait = None;
        }
    }

    /// Tells the driver how many requests may be in flight, if the connections decide this.
    pub(super) fn update_cap(&mut self, now: Timestamp) {
        /// A capacity from here on means no limit.
        const UNLIMITED: u64 = 1 << 31;
        if self.ahead.are_now() {
            // The time is not that of the run, and nothing is due.
            return;
        }
        if let Some(capacity) = self.connections.capacity() {
            self.driver.set_cap((capacity < UNLIMITED).then_some(capacity), now);
        }
    }

    /// Updates the driver's cap, and notes that there may be room for waiting requests.
    pub(super) fn update_capacity(&mut self, now: Timestamp) {
        self.update_cap(now);
        self.connections.note_room();
    }
}
