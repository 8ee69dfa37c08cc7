//! Starts due requests, one after the other or in batches.

use truetail_model::driver::{Directive, DueRequest};
use truetail_model::record::RequestRecord;
use truetail_model::time::{Nanos, Timestamp};

use super::in_flight::Exchange;
use super::receiver::LONGEST_TURN;
use super::{NextAction, REPORTS, Worker};
use crate::placement::{Placement, Requester};
use crate::protocol::Protocol;
use crate::target::request_set::RequestId;

/// Limit on the starts in a row before answers are read again, so that catching up does not delay their times.
const STARTS_IN_A_ROW: u32 = 32;
/// Limit on the starts in a row if starts come in batches, and for users who wait for their answers. Reading many
/// answers and then sending all due requests costs less than alternating.
const BATCH: u32 = REPORTS as u32;

impl<P: Protocol, L: Placement<P>> Worker<P, L> {
    /// Starts due requests, up to [`STARTS_IN_A_ROW`] or [`BATCH`]. The clock is read for each, because what the worker
    /// did before a request started is generator lag.
    pub(super) fn start_due(&mut self) -> NextAction {
        self.close_left_connections();
        self.place_waiting();
        let mut now = self.clock.now();
        if let Some(tick) = self.sleeper.pending_tick().filter(|tick| now < *tick) {
            return NextAction::Sleep(tick);
        }
        let most = if self.sleeper.is_on_time() { STARTS_IN_A_ROW } else { BATCH };
        let turn_ends = now + LONGEST_TURN;
        for _ in 0..most {
            if now >= turn_ends || self.should_poll_first(now) {
                return NextAction::Poll;
            }
            match self.driver.poll(now) {
                Directive::Start(start) => self.begin(start, now),
                Directive::Wait { until } => {
                    return NextAction::Sleep(self.sleeper.tick_after(until, &self.driver, now));
                }
                Directive::Expired | Directive::Finished => return NextAction::Finish,
            }
            now = self.clock.now();
        }
        NextAction::Poll
    }

    /// Returns true if answers must be read before a connection is opened for an arrival. An answer that has arrived
    /// frees its connection, and after a pause of this worker many have arrived. If more arrives than can be read,
    /// arrivals do not wait for it.
    fn should_poll_first(&self, now: Timestamp) -> bool {
        self.config.is_scheduled()
            && !self.sleeper.has_polled
            && !self.receiver.is_behind
            && self.connections.one_may_become_idle()
            && self.driver.can_start(now)
    }

    /// Starts at most one due request between two answers, so that neither starves the other. On a schedule a due
    /// request does not wait, unless an unread answer may free a connection for it.
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

    /// Returns the request of an arrival and its origin: a request made before the run, a request made now, or the next
    /// request of the arrival's session, if any.
    #[inline]
    fn request_for(&mut self, start: &DueRequest) -> Option<(RequestId, u32)> {
        if self.config.makes_requests {
            return self.made_request_for(start);
        }
        if !self.events.is_scripted() {
            let request = self.config.requests.choose(start.arrival.index);
            return Some((request, self.config.requests.origin(request)));
        }
        let row = self.in_flight.next_tag();
        let number = self.driver.session_number(start.user);
        let room = self.protocol.request_of(row);
        let next = self.events.script().next_request(start.user, number, start.arrival, room)?;
        Some((RequestId { target: next.target, row }, next.origin))
    }

    /// Returns the request that a template or the observer makes for an arrival, if any. The row of a request that is
    /// made now is its tag. No other request in flight has that tag, so the request keeps its bytes until it ends.
    fn made_request_for(&mut self, start: &DueRequest) -> Option<(RequestId, u32)> {
        let row = self.in_flight.next_tag();
        let room = self.protocol.request_of(row);
        let chosen = self.config.requests.choose(start.arrival.index);
        let origin = self.config.requests.origin(chosen);
        let is_made = match self.config.requests.maker() {
            Some(maker) => maker.make(chosen, start.arrival.index, room),
            None => self.events.make_request(start.arrival, room),
        };
        is_made.then_some((RequestId { target: chosen.target, row }, origin))
    }

    /// Records an arrival without a request, because its script failed.
    fn skip(&mut self, start: &DueRequest, now: Timestamp) {
        let request = self.config.requests.choose(start.arrival.index);
        self.ledger.record_never_issued(request, &never_issued(start, now));
        self.events.observe_never_issued(request.target, start.arrival, now);
        self.driver.complete(start.user, now);
    }

    /// Ends the session of an arrival that should have begun at `now`, because it makes no request.
    fn end_empty_session(&mut self, start: &DueRequest, now: Timestamp) {
        let number = self.driver.session_number(start.user);
        let target = self.events.script().never_issued(Some(start.user), number, start.arrival, now);
        self.ledger.record_never_issued(RequestId { target, row: 0 }, &never_issued(start, now));
        self.events.observe_never_issued(target, start.arrival, now);
        self.driver.complete_step(start.user, now, None);
    }

    #[inline]
    fn begin(&mut self, start: DueRequest, now: Timestamp) {
        self.sleeper.has_polled = false;
        self.close_left_connections();
        self.sleeper.count_start(start.arrival.intended_start);
        let asked = self.request_for(&start);
        // The time that a script takes to make its request is generator lag, and not part of the server's times.
        let takes_time = self.events.is_scripted() || self.config.makes_requests;
        let now = if takes_time { self.clock.now() } else { now };
        let Some((request, origin)) = asked else {
            return if self.config.makes_requests {
                self.skip(&start, now)
            } else {
                self.end_empty_session(&start, now)
            };
        };
        self.ledger.plan(request, start.arrival);
        let began = self.clock.since(now);
        let tag = self.in_flight.begin(Exchange {
            arrival: start.arrival,
            request,
            requester: Requester { user: start.user, origin },
            place: start.place,
            // A wait for a cap that only this machine imposes is generator lag.
            connection_wait: if self.config.has_own_cap { Nanos::ZERO } else { start.connection_wait },
            began,
            started: began,
            passed_on: Nanos::ZERO,
            rare: None,
            first_byte: None,
            connection: None,
            key: 0,
        });
        self.events.observe_begin(tag, request.target, start.arrival);
        if self.events.is_scripted() {
            self.plan_branches(start.user);
        }
        if self.protocol.carries_several() {
            let waiting = self.connections.waiting();
            let streams = &mut self.connections.streams;
            streams.peak = streams.peak.max(self.in_flight.len() as u64 - waiting);
        }
        self.place(tag, now);
    }
}

fn never_issued(start: &DueRequest, now: Timestamp) -> RequestRecord {
    RequestRecord { place: start.place, ..RequestRecord::never_issued(start.arrival, now) }
}
