//! What is due: one request after the other, or in batches.

use truetail_model::driver::{Directive, DueRequest};
use truetail_model::time::{Nanos, Timestamp};

use super::in_flight::Exchange;
use super::{Next, REPORTS, Worker};
use crate::protocol::{Protocol, Session, Tag};
use crate::since::Since;

/// After so many starts in a row answers are looked for again, so that catching up does not make them look slow.
const STARTS_IN_A_ROW: u32 = 32;
/// The same where starts come in batches, and for users who wait for their answers: to read many and then to send all that is
/// due costs less than one after the other.
const BATCH: u32 = REPORTS as u32;

impl<P: Protocol> Worker<P> {
    /// Starts what is due, up to [`STARTS_IN_A_ROW`] or [`BATCH`].
    pub(super) fn start_due(&mut self) -> Next {
        if let Some(tick) = self.sleeper.pending_tick()
            && self.clock.now() < tick
        {
            return Next::Sleep(tick);
        }
        let most = if self.sleeper.is_on_time() { STARTS_IN_A_ROW } else { BATCH };
        for _ in 0..most {
            let now = self.clock.now();
            if self.should_poll_first(now) {
                return Next::Poll;
            }
            match self.driver.poll(now) {
                Directive::Start(start) => self.begin(start, now),
                Directive::Wait { until } => return Next::Sleep(self.sleeper.tick_after(until, &self.driver, now)),
                Directive::Expired | Directive::Finished => return Next::Finish,
            }
        }
        Next::Poll
    }

    /// Before a connection is opened for an arrival, answers are looked for: one that has come has freed its connection, and
    /// after a pause of this worker many have. A connection is opened for those alone that find none by then.
    fn should_poll_first(&self, now: Timestamp) -> bool {
        self.config.is_scheduled()
            && !self.has_polled
            && self.connections.one_may_become_idle()
            && self.driver.can_start(now)
    }

    /// On a schedule, a start that falls due between two answers is not left waiting, unless an answer that is still to be
    /// read may bring a connection for it. One start between two answers does not starve the answers.
    #[inline]
    pub(super) fn start_between_answers(&mut self) {
        if !self.sleeper.is_on_time() || self.connections.one_may_become_idle() {
            return;
        }
        let now = self.clock.now();
        if let Directive::Start(start) = self.driver.poll(now) {
            self.begin(start, now);
            self.flush_all();
        }
    }

    /// Begins a request at `now`, on an open connection or on a new one.
    #[inline]
    fn begin(&mut self, start: DueRequest, now: Timestamp) {
        self.has_polled = false;
        self.sleeper.began(start.arrival.intended_start);
        let request = self.config.requests.choose(start.arrival.index);
        self.ledger.plan(request, start.arrival.intended_start);
        let began = self.clock.since(now);
        let tag = self.in_flight.begin(Exchange {
            arrival: start.arrival,
            request,
            user: start.user,
            // What nobody but this machine forbade, the generator was late with.
            connection_wait: if self.config.has_own_cap { Nanos::ZERO } else { start.connection_wait },
            began,
            started: began,
            passed_on: Nanos::ZERO,
            rare: None,
            first_byte: None,
            connection: None,
            key: 0,
        });
        if P::MULTIPLEXED {
            let streams = &mut self.connections.streams;
            streams.peak = streams.peak.max(self.in_flight.len() as u64);
        }
        self.place(tag, now);
    }

    /// Finds a connection for a request that was begun.
    #[inline]
    fn place(&mut self, tag: Tag, now: Timestamp) {
        match self.connections.choose(now) {
            Some(slot) => self.begin_on(slot, tag, now),
            None if self.connections.may_open() => self.open_connection(tag),
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
        if P::MULTIPLEXED {
            let capacity = self.connections.capacity();
            self.driver.set_cap((capacity < UNLIMITED).then_some(capacity), now);
        }
        self.place_unassigned(now);
    }
}
