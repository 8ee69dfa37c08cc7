//! Opens channels before the load, so that no message waits for the opening of its channel.
//!
//! The run's clock reads zero until its origin. Until the load begins, a worker therefore uses another clock, which
//! runs from its first opening on. No instant of that clock stays when the load begins.

use std::io;

use truetail_model::time::{Nanos, Timestamp};
use truetail_reactor::{MonotonicClock, ReadinessEvents as Reports};

use super::Worker;
use super::clock::WorkerClock;
use super::openings::Openings;
use crate::connection::Opener;
use crate::control::StopRequest;
use crate::placement::{Placement, Requester};
use crate::protocol::Protocol;
use crate::start::{LEAD, OpenAhead, Start};

/// Limit on the time for all channels together.
const MAX_FOR_ALL: Nanos = Nanos::from_secs(60);
/// Time before a given start when the openings begin. Channels that wait longer might be closed by their server.
const BEFORE_GIVEN_START: Nanos = Nanos::from_secs(10);
/// Time between two looks at the start of the run.
const LOOK: Nanos = Nanos::from_millis(1);

impl<P: Protocol, L: Placement<P>> Worker<P, L> {
    /// Waits for the start of the run. Opens channels meanwhile, if they are wanted before the load.
    pub(super) fn await_start(&mut self, reports: &mut Reports) -> io::Result<Start> {
        match self.config.start.ahead {
            Some(wanted) => self.open_ahead(wanted, reports),
            None => {
                let start = self.config.start.get().expect("only workers that open channels are waited for");
                start.clock.wait_for_origin();
                Ok(start)
            }
        }
    }

    /// Opens channels until all are open or have failed, the time is over, or the load begins. Reads on them until the
    /// load begins.
    fn open_ahead(&mut self, wanted: OpenAhead, reports: &mut Reports) -> io::Result<Start> {
        if let Some(start) = self.config.start.get() {
            std::thread::sleep(start.clock.until_origin().saturating_sub(BEFORE_GIVEN_START).into());
        }
        self.clock = WorkerClock::new(MonotonicClock::starting_now());
        self.ahead = Openings::begin(self.connections.origins(), wanted);
        let latest = self.clock.now() + MAX_FOR_ALL;
        let start = loop {
            let start = self.config.start.get();
            let left = start.map_or(Nanos::MAX, |start| start.clock.until_origin());
            if let Some(start) = start.filter(|_| left.is_zero()) {
                break start;
            }
            let now = self.clock.now();
            let must_end = left <= LEAD || now >= latest || self.config.control.stop_request() != StopRequest::None;
            if must_end || self.has_overdue_opening(now) {
                self.give_up_opening();
            }
            if self.ahead.are_done() {
                self.config.start.report_ready();
            }
            let goes_on = self.open_next() || !self.receiver.unread.is_empty();
            let wait = if goes_on { Nanos::ZERO } else { left.min(LOOK) };
            self.poll_ahead(reports, now + wait)?;
        };
        self.give_up_opening();
        self.begin_load(start);
        Ok(start)
    }

    /// Begins to open the next channel. Returns false if none may be begun.
    fn open_next(&mut self) -> bool {
        let Some(origin) = self.ahead.begin_next() else { return false };
        let now = self.clock.now();
        // All requests share the channels, so that it does not matter whose the channel is.
        let requester = Requester { user: 0, origin };
        match self.begin_opening(Opener::Load(self.clock.since(now)), requester, now) {
            Ok(slot) => self.ahead.add(now, self.connections.pool.token(slot)),
            Err(cause) => self.ahead.fail(cause),
        }
        true
    }

    fn has_overdue_opening(&mut self, now: Timestamp) -> bool {
        let pool = &mut self.connections.pool;
        self.ahead.are_overdue(now, |token| pool.find(token).is_some_and(|connection| connection.opener.is_some()))
    }

    fn give_up_opening(&mut self) {
        for token in self.ahead.give_up() {
            if self.connections.pool.find(token).is_some_and(|connection| connection.opener.is_some()) {
                self.drop_connection(token.slot());
            }
        }
    }

    /// Waits until something happens, at most until `until`, and handles it.
    fn poll_ahead(&mut self, reports: &mut Reports, until: Timestamp) -> io::Result<()> {
        self.clock.pauses.mark_sleeping(until);
        self.reactor.wait_until(reports, self.clock.monotonic(), until)?;
        let now = self.clock.now();
        self.clock.correlation.mark_stale();
        self.receiver.begin_turn(now);
        for readiness in reports.iter() {
            self.handle_readiness(readiness);
        }
        for token in self.receiver.take_unread() {
            self.read_on(token);
        }
        self.flush_all();
        self.do_due(now);
        self.try_further_addresses(now);
        Ok(())
    }

    /// Goes over to the clock of the run, at its origin.
    fn begin_load(&mut self, start: Start) {
        self.clock = WorkerClock::new(start.clock);
        self.sleeper = self.sleeper.fresh();
        self.receiver.begin_load();
        self.connections.begin_load(self.clock.since(Timestamp::ZERO));
        if let Some(reader) = self.events.pushes() {
            reader.begin_load();
        }
        self.ahead.end();
    }
}
