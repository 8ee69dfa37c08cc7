//! Many requests on few connections: HTTP/2. Arrivals, books, clocks and timeouts are those of every worker; what differs
//! is that a request is a stream, and a connection carries as many of them as both sides allow.
//!
//! How many that is the driver is told ([`truetail_model::driver::Driver::set_cap`]) whenever it changes. So an arrival
//! that finds no stream waits there with its intended start, and its wait is billed as connection wait.

mod links;
mod opening;
mod reading;
mod sending;

use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_reactor::Readiness;

use super::{Moment, READS_AT_LAST, Worker};
use crate::connection::{Exchange, Phase};
use crate::http2::Ended;
use crate::pool::Token;
use links::Stream;
pub(crate) use links::{Links, Multiplexing};

/// More requests in flight than this nobody means to forbid.
const NO_CAP: u64 = 1 << 31;
/// The connection of a request that has none.
const NOWHERE: u32 = u32::MAX;
/// After a connection could not be opened, requests that have room on others are not risked on the next for so long.
const REST: Nanos = Nanos::from_secs(1);

impl Worker {
    /// What a worker of HTTP/2 has.
    fn links(&mut self) -> &mut Links {
        self.links.as_deref_mut().expect("a worker of HTTP/2")
    }

    /// Begins a request, on an open connection or on a new one. It goes out with all others that are due.
    pub(super) fn begin_stream(&mut self, exchange: Exchange) {
        let slot = self.links().begin(Stream { exchange, link: NOWHERE, id: 0 });
        self.set_deadline(slot, exchange.began);
        self.place(slot);
    }

    /// Finds a connection for a request that was begun.
    fn place(&mut self, slot: u32) {
        let may_open = self.links().may_open();
        let chosen = if may_open && !self.opening_rests() { None } else { self.links().choose() };
        match chosen {
            Some(link) => {
                self.links().open(slot, link);
                if self.links().pool.get(link).session.is_backed_up() {
                    let now = self.now();
                    self.tidy(link, now);
                }
            }
            None if may_open => self.open_link(slot),
            // So it is when a connection was lost of which more had not been sent than another one takes.
            None => self.links().homeless.push_back(slot),
        }
    }

    /// A connection could not be opened just now.
    fn opening_rests(&mut self) -> bool {
        self.links().opening_rests.is_some_and(|until| self.now() < until)
    }

    /// Finds connections for requests that lost theirs; that they had to wait is nobody's fault but the connection's.
    fn place_homeless(&mut self, now: Timestamp) {
        for _ in 0..self.links().homeless.len() {
            let Some(slot) = self.links().homeless.pop_front() else { return };
            if self.links().is_homeless(slot) {
                let paused = self.watch.total();
                let exchange = &mut self.links().stream(slot).exchange;
                // The time on the lost connection is none of what the next one takes to open.
                (exchange.began, exchange.actual_start, exchange.paused_by_then) = (now, now, paused);
                exchange.connection_wait = now.since(exchange.arrival.intended_start);
                self.place(slot);
            }
        }
    }

    /// Deals with one report of the reactor.
    pub(super) fn attend_link(&mut self, readiness: Readiness) {
        let token = Token(readiness.token);
        let Some(link) = self.links().pool.find(token) else { return };
        match link.connection.phase {
            Phase::Connecting if readiness.writable => self.finish_opening(token),
            Phase::Connecting => {}
            Phase::Securing => self.secure_link(token),
            Phase::Busy | Phase::Idle => {
                if readiness.writable {
                    self.send_on(token.slot());
                }
                if readiness.readable {
                    self.read_link_in_turn(token, readiness.may_have_ended);
                }
            }
        }
    }

    /// The request in this slot was overdue at `now`.
    pub(super) fn expire_stream(&mut self, slot: u32, now: Timestamp) {
        self.read_stream_at_last(slot);
        if self.overdue(now) == Some(slot) {
            let given_up = self.now();
            self.give_up_stream(slot, given_up, Outcome::TimedOut);
        }
    }

    /// Reads what may have come for a request that is to be given up.
    fn read_stream_at_last(&mut self, slot: u32) {
        let links = self.links();
        let link = links.stream(slot).link;
        if link != NOWHERE && links.pool.get(link).connection.phase == Phase::Busy {
            let token = links.pool.token(link);
            self.read_link(token, true, READS_AT_LAST);
        }
    }

    /// Ends a request that nobody waits for any more; the connection goes on for the others, if it was there.
    fn give_up_stream(&mut self, slot: u32, now: Timestamp, outcome: Outcome) {
        let links = self.links();
        let Stream { link, id, .. } = *links.stream(slot);
        if id == 0 {
            return self.give_up_opening(slot, link, now, outcome);
        }
        let session = &mut links.pool.get(link).session;
        let received = session.cancel(id);
        links.touch(link);
        self.end_stream(slot, Moment::read_at(now), outcome, received);
        self.tidy(link, now);
    }

    /// Ends a request that has no connection, or whose connection was being opened: there is room for another then.
    fn give_up_opening(&mut self, slot: u32, link: u32, now: Timestamp, outcome: Outcome) {
        if link != NOWHERE {
            self.drop_link(link);
            self.links().opening_rests = Some(now + REST);
        }
        self.end_stream(slot, Moment::read_at(now), outcome, 0);
        if outcome != Outcome::InFlightAtEnd {
            self.tell_capacity(now);
        }
    }

    fn end_stream(&mut self, slot: u32, moment: Moment, outcome: Outcome, received: u64) {
        self.clear_deadline(slot);
        let stream = self.links().end(slot);
        self.record(&stream.exchange, moment, outcome, received);
    }

    /// Ends what a connection that is lost carried, at `now`.
    fn fail_streams(&mut self, ended: &[Ended], now: Timestamp) {
        for ended in ended {
            let moment = self.unstamped_stream_moment(ended.tag, now);
            self.end_stream(ended.tag, moment, ended.outcome, ended.received);
        }
    }

    /// After something has happened on a connection: one that takes nothing new gives up its place, and is closed when
    /// its last request has ended; and the driver learns how many requests there may be.
    fn tidy(&mut self, link: u32, now: Timestamp) {
        let links = self.links();
        let session = &mut links.pool.get(link).session;
        if !session.take_changed() {
            return;
        }
        if session.is_closing() {
            let is_done = session.in_flight() == 0;
            links.retire(link);
            if is_done {
                self.drop_link(link);
            }
        }
        self.tell_capacity(now);
    }

    fn tell_capacity(&mut self, now: Timestamp) {
        let capacity = self.links().capacity();
        self.setting.driver.set_cap((capacity < NO_CAP).then_some(capacity), now);
        self.place_homeless(now);
    }

    /// Closes a connection that carries nothing any more, with a goodbye where there is room for it.
    fn drop_link(&mut self, link: u32) {
        let mut link = self.links().remove(link);
        if link.connection.phase == Phase::Busy {
            link.session.say_goodbye(None);
            link.connection.exchange.written = 0;
            // Whoever is gone needs no goodbye.
            let _ = link.connection.write(link.session.to_send());
        }
        link.connection.transport.say_goodbye(&link.connection.socket);
        let _ = self.reactor.remove(&link.connection.socket);
    }

    /// Counts out what is in flight at the end.
    pub(super) fn settle_streams(&mut self) {
        for slot in self.links().begun() {
            if self.links().is_begun(slot) {
                self.read_stream_at_last(slot);
            }
            if self.links().is_begun(slot) {
                let now = self.now();
                self.give_up_stream(slot, now, Outcome::InFlightAtEnd);
            }
        }
        self.send_all();
        for link in self.links().pool.taken() {
            self.drop_link(link);
        }
    }
}
