//! What is due: one request after the other, or in batches.

use truetail_model::driver::{Directive, DueRequest};
use truetail_model::record::RequestRecord;
use truetail_model::time::{Nanos, Timestamp};

use super::in_flight::Exchange;
use super::receiver::LONGEST_TURN;
use super::{Next, REPORTS, Worker};
use crate::protocol::Protocol;
use crate::target::request_set::RequestId;

/// After so many starts in a row answers are looked for again, so that catching up does not make them look slow.
const STARTS_IN_A_ROW: u32 = 32;
/// The same where starts come in batches, and for users who wait for their answers: to read many and then to send all that is
/// due costs less than one after the other.
const BATCH: u32 = REPORTS as u32;

impl<P: Protocol> Worker<P> {
    /// Starts what is due, up to [`STARTS_IN_A_ROW`] or [`BATCH`].
    pub(super) fn start_due(&mut self) -> Next {
        self.close_left_connections();
        if let Some(tick) = self.sleeper.pending_tick()
            && self.clock.now() < tick
        {
            return Next::Sleep(tick);
        }
        let most = if self.sleeper.is_on_time() { STARTS_IN_A_ROW } else { BATCH };
        let mut turn_ends = Timestamp::NEVER;
        for _ in 0..most {
            let now = self.clock.now();
            turn_ends = turn_ends.min(now + LONGEST_TURN);
            if now >= turn_ends || self.should_poll_first(now) {
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
    /// after a pause of this worker many have. A connection is opened for those alone that find none by then. Where more comes
    /// than can be read, no arrival waits for that.
    fn should_poll_first(&self, now: Timestamp) -> bool {
        self.config.is_scheduled()
            && !self.has_polled
            && !self.receiver.is_behind
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

    /// The request of an arrival and its origin: one that was made before the run, or what its session asks for next, if
    /// anything.
    #[inline]
    fn request_for(&mut self, start: &DueRequest) -> Option<(RequestId, u32)> {
        if !P::IS_SCRIPTED {
            let request = self.config.requests.choose(start.arrival.index);
            return Some((request, self.config.requests.origin(request)));
        }
        let (user, number) = (start.user, self.driver.session_number(start.user));
        let room = self.protocol.request_of(user);
        let next = self.events.script().next_request(user, number, start.arrival, room)?;
        Some((RequestId { target: next.target, row: user }, next.origin))
    }

    /// The session of an arrival that was to begin at `now` asks for nothing, and has ended.
    fn asked_for_nothing(&mut self, start: &DueRequest, now: Timestamp) {
        let number = self.driver.session_number(start.user);
        let target = self.events.script().never_issued(Some(start.user), number, start.arrival, now);
        self.ledger.never_issued(RequestId { target, row: 0 }, &RequestRecord::never_issued(start.arrival, now));
        self.events.observe_never_issued(target, start.arrival, now);
        self.driver.complete_step(start.user, now, None);
    }

    /// Begins a request at `now`, on an open connection or on a new one.
    #[inline]
    fn begin(&mut self, start: DueRequest, now: Timestamp) {
        self.has_polled = false;
        self.close_left_connections();
        self.sleeper.began(start.arrival.intended_start);
        let asked = self.request_for(&start);
        // What a script takes to say what it asks for is lag of the generator, and no time of the server's.
        let now = if P::IS_SCRIPTED { self.clock.now() } else { now };
        let Some((request, origin)) = asked else { return self.asked_for_nothing(&start, now) };
        self.ledger.plan(request, start.arrival.intended_start);
        let began = self.clock.since(now);
        let tag = self.in_flight.begin(Exchange {
            arrival: start.arrival,
            request,
            user: start.user,
            origin,
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
        self.events.observe_begin(tag, request.target, start.arrival);
        if P::MULTIPLEXED {
            let waiting = self.connections.waiting();
            let streams = &mut self.connections.streams;
            streams.peak = streams.peak.max(self.in_flight.len() as u64 - waiting);
        }
        self.place(tag, now);
    }
}
