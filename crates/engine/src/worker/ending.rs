//! Ends of requests: events of conversations, timeouts, lost connections and the end of the run; and their records.

use truetail_model::driver::Unissued;
use truetail_model::record::{Cause, Ordinal, Outcome, RequestRecord};
use truetail_model::time::Timestamp;
use truetail_run::{CpuTime, GeneratorStats};

use super::Worker;
use super::clock::CompletionTime;
use super::receiver::LONGEST_TURN;
use crate::connection::Phase;
use crate::connection::timestamps::WallTime;
use crate::placement::Placement;
use crate::protocol::observer::EndedRequest;
use crate::protocol::{Closed, Conversation, Ended, Event, Protocol, Retry, Tag};
use crate::result::{WorkerResult, worker_stats};
use crate::target::request_set::RequestId;

impl<P: Protocol, L: Placement<P>> Worker<P, L> {
    /// Handles the events of a connection until `now`. `stamp` is the kernel's stamp of the bytes that caused them.
    #[inline]
    pub(super) fn handle_events(&mut self, slot: u32, now: Timestamp, stamp: Option<WallTime>) {
        if self.events.is_empty() {
            return;
        }
        let events = self.events.take();
        let last_end = events.iter().rposition(|event| matches!(event, Event::Ended(_)));
        let mut arrived = None;
        let remember = last_end.is_some();
        let mut is_settled = true;
        for (nth, event) in events.iter().enumerate() {
            match *event {
                Event::Started(tag) => {
                    let blocked = self.connections.pool.get(slot).blocked;
                    self.mark_started(tag, self.clock.since(now), blocked);
                }
                Event::Sent(tag) => self.request_sent(tag, self.clock.since(now)),
                Event::Late(tag, late) => self.in_flight.get(tag).pass_on(late),
                Event::FirstByte(tag) => {
                    let arrived = *arrived.get_or_insert_with(|| self.arrival(slot, stamp, now, remember));
                    let exchange = self.in_flight.get(tag);
                    let arrived = arrived.unwrap_or_else(|| self.clock.estimate_completion(exchange, now).arrived);
                    exchange.first_byte = Some(arrived.max(exchange.started.instant));
                }
                Event::Ended(ended) => {
                    let arrived = *arrived.get_or_insert_with(|| self.arrival(slot, stamp, now, remember));
                    self.request_ended(ended, arrived, stamp, now, last_end == Some(nth));
                    is_settled &= self.connections.placement.sends_together() && !self.connections.is_waited_for(slot);
                }
                Event::Stray => self.receiver.stray_answers += 1,
                Event::Unasked => self.sleeper.note_unstamped_end(now),
                Event::RoomChanged | Event::GoingAway => is_settled = false,
            }
        }
        self.events.restore(events);
        if !is_settled {
            self.settle(slot, now);
        }
    }

    #[inline]
    fn request_ended(
        &mut self,
        ended: Ended,
        arrived: Option<Timestamp>,
        stamp: Option<WallTime>,
        now: Timestamp,
        last: bool,
    ) {
        let Ended { tag, outcome, bytes_in, retry } = ended;
        if let Outcome::Response { .. } = outcome {
            return match self.answer_completion(tag, arrived, stamp, now, last) {
                Ok(completion) => self.end(tag, completion, outcome, bytes_in),
                Err(outcome) => {
                    // The next bytes on its connection would be taken for the answer to another request.
                    if let Some(slot) = self.in_flight.get(tag).connection {
                        self.connections.pool.get(slot).phase = Phase::Closed;
                    }
                    let completion = self.clock.estimate_completion(self.in_flight.get(tag), now);
                    self.end(tag, completion, outcome, bytes_in);
                }
            };
        }
        let may_move = !self.sessions_keep_connections();
        let exchange = self.in_flight.get(tag);
        // A request that opened its connection is not sent again. Otherwise a server that goes away from each
        // connection would be asked forever.
        if retry != Retry::No && may_move && !exchange.has_opened() {
            self.connections.streams.sent_again += u64::from(retry == Retry::Unprocessed);
            return self.unassign(tag);
        }
        let completion = self.clock.estimate_completion(exchange, now);
        self.sleeper.note_unstamped_end(now);
        self.end(tag, completion, outcome, bytes_in);
    }

    /// Updates a connection after a request ended or its room changed. A closing connection is closed when its last
    /// request has ended, a free one becomes idle, and the driver learns the new capacity.
    fn settle(&mut self, slot: u32, now: Timestamp) {
        if let Some(connection) = self.connections.pool.at(slot) {
            let is_free = connection.conversation.in_flight() == 0 && connection.opener.is_none();
            let is_closing = connection.phase == Phase::Closed
                || connection.conversation.is_closing()
                || (connection.conversation.answers_in_order() && !connection.is_reusable());
            if is_free && is_closing {
                self.drop_connection(slot);
            } else if is_closing {
                self.connections.retire(slot);
            } else if is_free {
                connection.was_idle = true;
                if self.connections.release(slot) {
                    return;
                }
            }
        }
        self.update_capacity(now);
    }

    /// Handles the loss of a connection. Unsent requests go to another connection.
    pub(super) fn handle_lost_connection(&mut self, slot: u32, how: Closed, now: Timestamp, stamp: Option<WallTime>) {
        self.connections.pool.lost += 1;
        self.events.note_time(now);
        self.connections.pool.get(slot).mark_closed(how, &mut self.events);
        self.handle_events(slot, now, stamp);
    }

    /// Handles the server's alert that refuses the connection after the client has finished the TLS handshake.
    pub(super) fn handle_refused_connection(&mut self, slot: u32, now: Timestamp) {
        self.connections.pool.get(slot).mark_closed(Closed::Tls { alert: true }, &mut self.events);
        self.events.replace_failures(Outcome::ConnectFailed(Cause::Tls));
        self.handle_events(slot, now, None);
    }

    /// Times out requests that were overdue at `now`, until the turn is over. The next turn handles the rest.
    pub(super) fn expire(&mut self, now: Timestamp) {
        let mut turn_ends = Timestamp::NEVER;
        while let Some(tag) = self.overdue(now) {
            let done = self.read_before_giving_up(tag);
            if self.overdue(now) == Some(tag) {
                self.give_up(tag, Outcome::TimedOut, done);
            }
            turn_ends = turn_ends.min(done + LONGEST_TURN);
            if done >= turn_ends {
                return;
            }
        }
    }

    /// Lets conversations do what was due at `now`, until the turn is over. The next turn handles the rest.
    pub(super) fn do_due(&mut self, now: Timestamp) {
        if self.connections.next_deadline() > now {
            return;
        }
        let turn_ends = now + LONGEST_TURN;
        while let Some(token) = self.connections.take_due(now) {
            let done = self.clock.now();
            match self.connections.pool.find(token) {
                None => continue,
                Some(connection) if connection.phase == Phase::Greeting => self.end_overdue_greeting(token),
                Some(connection) => {
                    connection.on_deadline(&mut self.protocol, done, &mut self.events);
                    debug_assert!(
                        connection.conversation.next_deadline() > done,
                        "{connection:?} has not moved its deadline"
                    );
                    self.handle_events(token.slot(), done, None);
                    self.connections.touch(token.slot());
                }
            }
            if done >= turn_ends {
                return;
            }
        }
    }

    fn overdue(&mut self, now: Timestamp) -> Option<Tag> {
        self.in_flight.overdue(now).or_else(|| self.events.overdue(now))
    }

    fn give_up(&mut self, tag: Tag, outcome: Outcome, now: Timestamp) {
        let slot = self.in_flight.get(tag).connection;
        let key = self.in_flight.get(tag).key;
        let completion = CompletionTime::read_at(now);
        let opens = slot.is_some_and(|slot| self.connections.pool.get(slot).opener.is_some());
        match slot {
            Some(slot) if !opens => {
                let is_shared = self.connections.placement.sends_together();
                let received = self.connections.pool.get(slot).conversation.cancel(key, &mut self.events);
                self.end(tag, completion, outcome, received);
                self.connections.touch(slot);
                self.handle_events(slot, now, None);
                if outcome != Outcome::InFlightAtEnd && is_shared && self.connections.is_waited_for(slot) {
                    self.update_capacity(now);
                }
            }
            slot => {
                let origin = self.in_flight.get(tag).requester.origin;
                self.connections.remove_waiting(origin, tag);
                if let Some(slot) = slot {
                    self.drop_connection(slot);
                    self.connections.mark_opening_failed(origin, now);
                }
                self.end(tag, completion, outcome, 0);
                if outcome != Outcome::InFlightAtEnd {
                    self.update_capacity(now);
                }
            }
        }
    }

    /// Ends a request: removes it, records it, and returns its permit to the driver.
    #[inline]
    pub(super) fn end(&mut self, tag: Tag, completion: CompletionTime, outcome: Outcome, bytes_in: u64) {
        let exchange = self.in_flight.get(tag);
        let arrival = exchange.arrival;
        let id = exchange.request;
        let start = exchange.started.instant;
        self.events.observe_end(tag, EndedRequest { arrival, id, outcome, start, end: completion.arrived });
        let record = self.ledger.record(exchange.request);
        *record = RequestRecord::new(exchange.arrival, exchange.started.instant, completion.arrived, outcome);
        let rare = exchange.rare.as_deref();
        let connect = rare.and_then(|rare| rare.connect);
        record.delay = exchange.start_delay();
        record.knock_on = exchange.passed_on + completion.unread;
        record.connected = connect.is_some();
        record.tls_handshake = rare.and_then(|rare| rare.handshake);
        record.first_byte = exchange.first_byte.map(|first_byte| first_byte.min(completion.arrived));
        record.send_wait = rare.and_then(|rare| rare.send_wait);
        record.read_lag = completion.is_stamped.then(|| completion.read.since(completion.arrived));
        record.bytes_in = bytes_in;
        record.target = self.config.requests.target_place(id);
        record.place = exchange.place;
        record.connection = exchange.connection.map_or(Ordinal::UNKNOWN, |slot| self.connections.pool.number(slot));
        let user = exchange.requester.user;
        self.in_flight.end(tag);
        // On a schedule, the permit was available to the next request since the answer arrived. In a closed loop the
        // user is this worker, and continues when it has read the answer.
        let free = if self.config.is_scheduled() { completion.arrived } else { completion.read };
        let is_over = if self.events.is_scripted() {
            let think = self.events.script().think(user);
            self.plan_branches(user);
            self.driver.complete_step(user, free, think.map(|think| free + think))
        } else {
            self.driver.complete(user, free)
        };
        if is_over {
            self.connections.placement.end_session(user);
        }
    }

    /// Plans the further requests of the session of `user`, one of whose requests is in flight.
    #[inline]
    pub(super) fn plan_branches(&mut self, user: u32) {
        self.events.branches(user).for_each(|at| self.driver.branch(user, at));
    }

    /// Closes the connections of sessions that are over. They carry no requests.
    #[inline]
    pub(super) fn close_left_connections(&mut self) {
        while let Some(token) = self.connections.placement.take_left() {
            if self.connections.pool.find(token).is_some() {
                self.drop_connection(token.slot());
            }
        }
    }

    /// Closes a connection that carries no requests, with a goodbye if there is room for it.
    pub(super) fn drop_connection(&mut self, slot: u32) {
        let mut connection = self.connections.remove(slot);
        if connection.phase == Phase::Open {
            self.events.note_time(self.clock.now());
            connection.conversation.say_goodbye(&mut self.events);
            // A peer that is gone needs no goodbye.
            let _ = connection.write(&self.protocol);
        }
        connection.transport.say_goodbye(&connection.socket);
        self.forget_attempts(connection.race.as_deref());
        // Closing a socket also ends the watch. For a socket that was never added, this fails and changes nothing.
        let _ = self.reactor.remove(&connection.socket);
    }

    /// Records the arrivals that were never issued by `ended`, in blocks if no observer must see each arrival.
    fn count_out(&mut self, ended: Timestamp) {
        let measured_from = self.ledger.measured_from();
        loop {
            if !self.events.are_observed()
                && let Some(block) = self.driver.pop_unissued_block(ended, measured_from)
            {
                self.ledger.never_issued_block(&self.config.requests, &block, ended);
                continue;
            }
            let Some(unissued) = self.driver.pop_unissued_with_session() else { return };
            let Unissued { arrival, user, session, .. } = unissued;
            let request = if self.events.is_scripted() {
                RequestId { target: self.events.script().never_issued(user, session, arrival, ended), row: 0 }
            } else {
                self.config.requests.choose(arrival.index)
            };
            self.ledger.record_never_issued(request, &unissued.record(ended));
            self.events.observe_never_issued(request.target, arrival, ended);
        }
    }

    /// Records the requests in flight and the arrivals that were never issued.
    pub(super) fn finish(mut self, cpu_before: CpuTime) -> WorkerResult {
        let over = self.clock.now();
        self.receiver.end_run(over);
        for tag in self.in_flight.tags() {
            if !self.in_flight.contains(tag) {
                continue;
            }
            let done = self.read_before_giving_up(tag);
            if self.in_flight.contains(tag) {
                self.give_up(tag, Outcome::InFlightAtEnd, done);
            }
        }
        self.flush_all();
        let ended = self.clock.now();
        if self.protocol.carries_several() {
            self.connections.pool.taken().into_iter().for_each(|slot| self.drop_connection(slot));
        }
        if self.events.is_scripted() {
            self.driver.end_sessions_at(ended);
        }
        self.count_out(ended);
        self.events.finish_observing(ended);
        let (recorder, target_tallies) = self.ledger.close();
        let generator = GeneratorStats {
            connections_opened: self.connections.pool.opened,
            connections_peak: self.connections.pool.peak,
            ticks: self.sleeper.sent_in_ticks(),
            streams: self.protocol.has_streams().then_some(self.connections.streams),
            messages: self
                .protocol
                .take_message_books()
                .map(|books| self.ahead.add_to(books.with_channels_lost(self.connections.pool.lost))),
            stray_answers: self.receiver.stray_answers,
            skipped_lines: self.protocol.take_skipped_lines(),
            unstamped: self.receiver.unstamped,
            clock_steps: self.clock.correlation.steps(),
            ..worker_stats(self.clock.pauses, cpu_before)
        };
        WorkerResult { recorder, target_tallies, driver: self.driver, generator, ended }
    }
}
