//! How a request ends and is written down, and how the run does.

use truetail_model::record::{Outcome, RequestRecord, StartDelay};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::CpuTime;

use super::Worker;
use crate::connection::{Exchange, Phase};
use crate::harvest::{Harvest, cpu_since};

/// When a request ended: when its last byte had arrived, and when the worker had read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) arrived: Timestamp,
    pub(super) read: Timestamp,
    /// The two are known apart.
    pub(super) stamped: bool,
}

impl Moment {
    /// Nobody knows when it arrived.
    pub(super) fn read_at(now: Timestamp) -> Moment {
        Moment { arrived: now, read: now, stamped: false }
    }
}

impl Worker {
    /// A request ended without an answer, which was noticed at `now`.
    pub(super) fn end(&mut self, slot: u32, now: Timestamp, outcome: Outcome) {
        // What failed had failed before it was noticed; what is given up is given up now.
        let moment = if outcome.is_failed() { self.unstamped_moment(slot, now) } else { Moment::read_at(now) };
        self.end_at(slot, moment, outcome, false);
    }

    /// A request ended; its connection is kept for another one, or closed.
    pub(super) fn end_at(&mut self, slot: u32, moment: Moment, outcome: Outcome, keep: bool) {
        let connection = self.pool.get(slot);
        let (exchange, received) = (connection.exchange, connection.parser.received());
        self.clear_deadline(slot);
        if keep {
            self.pool.get(slot).phase = Phase::Idle;
            self.pool.make_idle(slot);
        } else {
            self.close(slot);
        }
        self.record(&exchange, moment, outcome, received);
    }

    pub(super) fn record(&mut self, exchange: &Exchange, moment: Moment, outcome: Outcome, bytes_in: u64) {
        let connect = exchange.connect.unwrap_or(Nanos::ZERO);
        let intended = exchange.arrival.intended_start;
        let record = RequestRecord {
            index: exchange.arrival.index,
            intended_start: intended,
            actual_start: exchange.actual_start,
            end: moment.arrived,
            delay: StartDelay::split(intended, exchange.actual_start, exchange.connection_wait, connect),
            connected: exchange.connect.is_some(),
            tls_handshake: exchange.handshake,
            read_lag: moment.stamped.then(|| moment.read.since(moment.arrived)),
            outcome,
            bytes_in,
        };
        self.setting.ledger.record(exchange.which, record);
        // On a schedule, whoever waits for this connection could have had it since the answer arrived; in a closed loop
        // the user is this worker, and goes on when it has read.
        let free = if self.setting.scheduled { moment.arrived } else { moment.read };
        self.setting.driver.complete(exchange.user, free);
    }

    pub(super) fn close(&mut self, slot: u32) {
        let mut connection = self.pool.remove(slot);
        connection.transport.say_goodbye(&connection.socket);
        // Closing ends the watch by itself; a socket that was never added is refused here, which changes nothing.
        let _ = self.reactor.remove(&connection.socket);
    }

    /// Counts out what is in flight and what was never issued.
    pub(super) fn settle(mut self, cpu_before: CpuTime) -> Harvest {
        if self.links.is_some() {
            self.settle_streams();
        }
        for slot in self.pool.busy() {
            self.read_before_giving_up(slot);
            if self.pool.is_busy(slot) {
                let now = self.now();
                self.end(slot, now, Outcome::InFlightAtEnd);
            }
        }
        let ended = self.now();
        while let Some(arrival) = self.setting.driver.unissued() {
            let which = self.setting.requests.which(arrival.index);
            self.setting.ledger.never_issued(which, &RequestRecord::never_issued(arrival, ended));
        }
        let (recorder, by_target) = self.setting.ledger.close();
        let (opened, peak) = match &self.links {
            None => (self.pool.opened, self.pool.peak),
            Some(links) => (links.pool.opened, links.pool.peak),
        };
        Harvest {
            recorder,
            by_target,
            driver: self.setting.driver,
            watch: self.watch,
            cpu: cpu_since(cpu_before),
            connections_opened: opened,
            connections_peak: peak,
            streams: self.links.as_ref().map(|links| links.seen()),
            stray_answers: self.stray_answers,
            unstamped: self.unstamped,
            clock_steps: self.pairing.steps(),
            ended,
        }
    }
}
