//! One thread of the engine: its share of the schedule, its connections, reactor and recorder, and the loop that drives
//! them. While requests run, this module shares, locks and formats nothing, and in the steady state allocates nothing.
//!
//! A worker knows no protocol: requests and bytes go through [`crate::protocol::Conversation`].
//!
//! No step leads back to itself; `tests/steps.py` checks this. A step that needs an earlier step again notes it, and
//! the loop does it. The notes are connections to send on (`Connections::dirty`), connections to read on
//! (`Receiver::unread`), requests to place again (`OriginConnections::waiting`) and connections to close
//! (`PerSession::left`).
//!
//! | file | contents |
//! |---|---|
//! | `ahead`, `openings` | channels that are opened before the load |
//! | `starting` | requests that are due, in batches or one by one |
//! | `placing` | choice of a connection for a request |
//! | `connecting` | opening a connection: TCP, then TLS |
//! | `sending` | bytes to the transport, and the actual start |
//! | `receiving`, `receiver` | bytes to the conversations, and their arrival times |
//! | `ending` | ends of requests and of the run, and their records |
//! | `sleeping`, `oversleep`, `pace`, `lookout` | sleeps between two requests |
//! | `clock`, `pause_detector` | the worker's time |
//! | `connections`, `in_flight`, `deadlines` | open connections and requests in flight |
//! | `conversation_deadlines` | deadlines that conversations set themselves |
//! | `ledger`, `target_tallies` | records |

mod ahead;
mod clock;
mod config;
mod connecting;
mod connections;
mod conversation_deadlines;
mod deadlines;
mod ending;
mod in_flight;
mod ledger;
mod lookout;
mod openings;
mod oversleep;
mod pace;
mod pause_detector;
mod placing;
mod receiver;
mod receiving;
mod sending;
mod sleeping;
mod starting;
pub(crate) mod target_tallies;

use std::io;

use truetail_model::driver::Driver;
use truetail_model::time::{Nanos, Timestamp};
use truetail_reactor::{MonotonicClock, Reactor, Readiness, ReadinessEvents as Reports, minimize_timer_slack};

use crate::connection::{LocalPorts, Phase, Token};
use crate::control::StopRequest;
use crate::host;
use crate::placement::Placement;
use crate::protocol::{Events, Protocol};
use crate::result::WorkerResult;
use crate::start::Start;
pub(crate) use clock::WorkerClock;
pub(crate) use config::WorkerConfig;
use connections::Connections;
use in_flight::InFlight;
pub(crate) use ledger::Ledger;
use openings::Openings;
pub(crate) use pause_detector::PauseDetector;
use receiver::Receiver;
use sleeping::{SleepSettings, Sleeper, Wait};

/// Limit on the reports taken from the reactor at once.
const REPORTS: usize = 256;

/// Next action after the due requests were started.
enum NextAction {
    /// Sleep until this instant at the latest.
    Sleep(Timestamp),
    /// Look for answers, then start more requests that are due.
    Poll,
    Finish,
}

pub(crate) struct Worker<P: Protocol, L: Placement<P>> {
    config: WorkerConfig,
    driver: Driver,
    ledger: Ledger,
    clock: WorkerClock,
    reactor: Reactor,
    sleeper: Sleeper,
    protocol: P,
    events: Events,
    connections: Connections<P, L>,
    in_flight: InFlight,
    receiver: Receiver,
    /// Channels that are opened before the load.
    ahead: Openings,
}

impl<P: Protocol, L: Placement<P>> Worker<P, L> {
    pub(crate) fn new(
        config: WorkerConfig,
        driver: Driver,
        ledger: Ledger,
        protocol: P,
        events: Events,
        reactor: Reactor,
    ) -> Worker<P, L> {
        let ports = LocalPorts::new(config.share.index, config.share.workers);
        let stamps_each = config.stamped && protocol.hears_only_answers();
        let leaves_a_processor = config.share.workers < host::machine_cpus();
        let habits = SleepSettings { timing: config.timing, model: config.model, stamps_each, leaves_a_processor };
        let clock = config.start.get().map_or_else(MonotonicClock::starting_now, |start| start.clock);
        Worker {
            clock: WorkerClock::new(clock),
            sleeper: Sleeper::new(habits),
            connections: Connections::new(config.destinations.len(), ports, config.most_connections, config.share),
            in_flight: InFlight::new(config.timeout),
            receiver: Receiver::new(),
            ahead: Openings::default(),
            config,
            driver,
            ledger,
            reactor,
            protocol,
            events,
        }
    }

    /// Runs the whole load.
    ///
    /// # Errors
    /// Only if the reactor itself fails.
    pub(crate) fn run(mut self) -> io::Result<WorkerResult> {
        minimize_timer_slack();
        let mut reports = Reports::with_capacity(REPORTS);
        let Start { begins, .. } = self.await_start(&mut reports)?;
        let cpu_before = host::thread_cpu();
        self.clock.pauses.mark_sleeping(begins);
        if self.connections.origins() > 1 || self.config.start.ahead.is_some() {
            // Each origin has room for the request that opens a connection, and open channels have much more.
            self.update_cap(begins);
        }
        loop {
            self.handle_control();
            let next = self.start_due();
            self.flush_all();
            match next {
                NextAction::Finish => break,
                NextAction::Poll => self.poll(&mut reports, Timestamp::ZERO)?,
                NextAction::Sleep(until) => self.poll(&mut reports, until)?,
            }
        }
        self.poll(&mut reports, Timestamp::ZERO)?;
        Ok(self.finish(cpu_before))
    }

    /// Handles requests of other threads: for the recorder, and to stop.
    fn handle_control(&mut self) {
        self.ledger.publish_if_asked();
        match self.config.control.stop_request() {
            StopRequest::None => {}
            StopRequest::Drain => self.driver.stop(self.clock.now()),
            StopRequest::Now => self.driver.stop_now(self.clock.now()),
        }
    }

    /// Waits until something happens, at most until `until`, and handles it for one turn.
    fn poll(&mut self, reports: &mut Reports, until: Timestamp) -> io::Result<()> {
        self.ledger.write();
        let now = self.clock.now();
        let (paused, woke) = if self.receiver.reports_left > 0 {
            (self.clock.pauses.total(), now)
        } else {
            self.wait(reports, now, until)?
        };
        self.sleeper.has_polled = true;
        self.receiver.begin_turn(woke);
        if self.receiver.reports_come_first {
            self.handle_reports(reports);
            self.read_unread();
        } else {
            self.read_unread();
            self.handle_reports(reports);
        }
        self.receiver.is_behind = self.receiver.turn_is_over() && self.receiver.has_more();
        self.expire(now);
        self.do_due(now);
        self.try_further_addresses(now);
        if !reports.is_full() && !self.receiver.has_more() {
            self.clock.mark_drained(paused, woke);
        }
        Ok(())
    }

    /// Waits until something happens, from `now` until `until` at most. Returns the sum of all pauses by the end of the
    /// wait, and that end.
    fn wait(&mut self, reports: &mut Reports, now: Timestamp, until: Timestamp) -> io::Result<(Nanos, Timestamp)> {
        let has_more = self.receiver.has_more() || self.connections.may_place();
        let latest = if has_more { now } else { sleeping::latest_wake_up(now) };
        let deadline = self.in_flight.first_deadline().min(self.events.first_deadline());
        let until = until.min(deadline).min(latest).min(self.connections.next_attempt());
        let until = until.min(self.connections.next_deadline()).max(now);
        let paused_before = self.clock.pauses.total();
        let is_watched = self.connections.are_watched();
        let is_crowded = self.connections.are_crowded();
        let awaits_answer = self.in_flight.len() > 0;
        let wait =
            Wait { reactor: &self.reactor, driver: &self.driver, now, until, awaits_answer, is_watched, is_crowded };
        self.sleeper.sleep(&wait, reports, &mut self.clock)?;
        self.receiver.reports_left = reports.len();
        let woke = self.clock.now();
        self.clock.begin_reading(woke, self.sleeper.woken_within().map(|within| (now, within)));
        let paused = self.clock.pauses.total();
        // A pause may have come after the system reported which sockets are ready.
        self.receiver.may_have_missed = paused > paused_before;
        self.clock.correlation.mark_stale();
        Ok((paused, woke))
    }

    /// Handles the reactor's reports until the turn is over. The next turn handles the rest.
    fn handle_reports(&mut self, reports: &Reports) {
        let handled = reports.len() - self.receiver.reports_left;
        for readiness in reports.iter().skip(handled) {
            if self.receiver.turn_is_over() {
                return;
            }
            self.receiver.reports_left -= 1;
            self.handle_readiness(readiness);
            self.place_waiting();
            self.start_between_answers();
        }
    }

    #[inline(always)]
    fn handle_readiness(&mut self, readiness: Readiness) {
        let token = Token(readiness.token);
        let Some(connection) = self.connections.pool.find(token) else { return };
        match connection.phase {
            Phase::Connecting if readiness.writable => self.finish_connecting(token),
            Phase::Connecting | Phase::Closed => {}
            Phase::Securing => self.secure(token),
            Phase::Greeting => self.greet(token),
            Phase::Open => {
                if readiness.writable && connection.blocked.is_some() {
                    let now = self.clock.now();
                    self.flush(token.slot(), now);
                }
                if readiness.readable {
                    self.read(token, readiness.may_have_ended, receiver::READS_IN_A_ROW);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
