//! From what is due to what was handed to a socket.

use truetail_model::driver::{Directive, DueRequest};
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;

use super::{REPORTS, Worker};
use crate::connection::{Exchange, Phase};

/// After so many starts in a row answers are looked at again, so that catching up does not make them look slow.
const STARTS_IN_A_ROW: u32 = 32;
/// The same where starts come in batches, and for users who wait for their answers: to read many and then to send all that is
/// due costs less than one after the other.
const BATCH: u32 = REPORTS as u32;

/// After so many reports of a look, as many requests that are due are sent, where starts come in batches. On loopback Linux
/// frees the buffer of a small answer on the processor that sent it, and interrupts that one when 32 wait for it (half of
/// `net.core.skb_defer_max`); when it sends the next answer it frees them without.
const ANSWERS_IN_A_ROW: u32 = 31;

/// What to do after the starts that are due.
pub(super) enum Then {
    /// Sleep until this instant at the latest.
    Sleep(Timestamp),
    /// More is due, but look at answers first.
    Look,
    /// The run is over.
    Over,
}

impl Worker {
    /// Starts what is due, up to [`STARTS_IN_A_ROW`] or [`BATCH`].
    pub(super) fn start_due(&mut self) -> Then {
        if self.awaits_the_tick() {
            return Then::Sleep(self.next_tick);
        }
        let most = if self.setting.is_on_time() { STARTS_IN_A_ROW } else { BATCH };
        for _ in 0..most {
            let now = self.now();
            if self.should_look_first(now) {
                return Then::Look;
            }
            match self.setting.driver.poll(now) {
                Directive::Start(start) => self.begin(start, now),
                Directive::Wait { until } => return Then::Sleep(until),
                Directive::Expired | Directive::Finished => return Then::Over,
            }
        }
        Then::Look
    }

    /// In batches, what is due waits for its tick, also where answers wake the worker before it.
    fn awaits_the_tick(&mut self) -> bool {
        self.next_tick > Timestamp::ZERO && self.now() < self.next_tick
    }

    /// Before a connection is opened for an arrival, answers are looked for: one that has come has freed its connection, and
    /// after a pause of this worker many have. A connection is opened for those alone that find none by then.
    fn should_look_first(&self, now: Timestamp) -> bool {
        self.setting.scheduled && !self.looked && self.one_may_become_idle() && self.setting.driver.can_start(now)
    }

    /// None is idle, and an answer may free one: not where the server closes each, nor in HTTP/2.
    fn one_may_become_idle(&self) -> bool {
        !self.pool.has_idle() && self.pool.reuses && self.pool.open() > 0
    }

    /// After so many `reports` of one look. On a schedule, one start between two answers keeps it without starving the
    /// answers. Where starts come in batches see [`ANSWERS_IN_A_ROW`]; not where the kernel does not say when answers came: those
    /// still to be read would look slower by what is sent before.
    #[inline]
    pub(super) fn start_between_answers(&mut self, reports: u32) {
        if self.setting.is_on_time() {
            self.start_on_idle(1);
        } else if reports.is_multiple_of(ANSWERS_IN_A_ROW) && self.setting.stamped && self.links.is_none() {
            self.start_on_idle(ANSWERS_IN_A_ROW);
        }
    }

    /// Starts what is due, `most` at most, for as long as no answer that is still to be read may bring a connection for it.
    #[inline(never)]
    fn start_on_idle(&mut self, most: u32) {
        for _ in 0..most {
            if self.one_may_become_idle() {
                return;
            }
            let now = self.now();
            let Directive::Start(start) = self.setting.driver.poll(now) else { return };
            self.begin(start, now);
            self.send_all();
        }
    }

    /// Begins a request at `now`, on an idle connection or on a new one.
    #[inline(always)]
    pub(super) fn begin(&mut self, start: DueRequest, now: Timestamp) {
        self.looked = false;
        let which = self.setting.requests.which(start.arrival.index);
        self.setting.ledger.plan(which, start.arrival.intended_start);
        let exchange = Exchange {
            arrival: start.arrival,
            which,
            user: start.user,
            connection_wait: start.connection_wait,
            began: now,
            paused_by_then: self.watch.total(),
            connect: None,
            handshake: None,
            actual_start: now,
            written: 0,
        };
        if self.links.is_some() {
            return self.begin_stream(exchange);
        }
        match self.pool.take_idle() {
            Some(slot) => self.begin_on(slot, exchange),
            None => self.begin_connecting(exchange),
        }
    }

    /// Sends on a connection that was idle.
    #[inline(always)]
    fn begin_on(&mut self, slot: u32, exchange: Exchange) {
        let connection = self.pool.get(slot);
        connection.exchange = exchange;
        self.set_deadline(slot, exchange.began);
        self.send(slot, exchange.began);
    }

    pub(super) fn set_deadline(&mut self, slot: u32, began: Timestamp) {
        if let Some(timeout) = self.setting.timeout {
            self.deadlines.push(slot, began + timeout);
        }
    }

    pub(super) fn clear_deadline(&mut self, slot: u32) {
        if self.setting.timeout.is_some() {
            self.deadlines.remove(slot);
        }
    }

    /// Hands the request to the socket; `now` is its actual start.
    #[inline(always)]
    pub(super) fn send(&mut self, slot: u32, now: Timestamp) {
        let connection = self.pool.get(slot);
        connection.phase = Phase::Busy;
        connection.exchange.actual_start = now;
        connection.exchange.paused_by_then = self.watch.total();
        let which = connection.exchange.which;
        connection.parser.start(self.setting.requests.to_head(which));
        if connection.write(self.setting.requests.bytes(which)).is_err() {
            self.sending_failed(slot);
        }
    }

    /// A connection that the peer had closed while it was idle took no byte of the request: nothing was asked, so
    /// another connection is opened for it. In any other case the request was lost on the way.
    fn sending_failed(&mut self, slot: u32) {
        let connection = self.pool.get(slot);
        let exchange = connection.exchange;
        if exchange.connect.is_none() && exchange.written == 0 {
            self.clear_deadline(slot);
            self.close(slot);
            return self.begin_connecting(exchange);
        }
        let now = self.now();
        self.end(slot, now, Outcome::Reset(Cause::ResetByPeer));
    }
}
