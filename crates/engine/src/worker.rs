//! One thread of the engine: its hand of the schedule, its connections, its reactor, its recorder, and the loop that
//! drives them. Nothing here is shared, locked, formatted or (in the steady state) allocated while requests run.

mod answers;
mod connecting;
mod multiplexed;
mod sleep;

use std::io;

use truetail_model::driver::{Driver, Hand, Start, Turn};
use truetail_model::record::{Cause, Outcome, RequestRecord, StartDelay};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::{Events, MonotonicClock, Reactor, Readiness, precise_sleeps};
use truetail_run::{CpuTime, Timing};

use multiplexed::Links;
pub(crate) use multiplexed::Multiplexing;

use crate::connection::{Connection, Exchange, Phase};
use crate::control::{Asked, Control};
use crate::deadlines::Deadlines;
use crate::endpoint::Endpoint;
use crate::harvest::{Harvest, cpu_since};
use crate::host;
use crate::http1::LastHead;
use crate::ledger::Ledger;
use crate::pool::{Pool, Token};
use crate::ports::LocalPorts;
use crate::requests::Requests;
use crate::stamps::Pairing;
use crate::tls::Tls;
use crate::watch::Watch;

/// Longest sleep, so that a worker that was not allowed to run notices it soon.
const LONGEST_SLEEP: Nanos = Nanos::from_millis(20);
/// After so many starts in a row answers are looked at again, so that catching up does not make them look slow.
const STARTS_IN_A_ROW: u32 = 32;
/// The same where starts come in batches, and for users who wait for their answers: all that came are read, then all that
/// is due is sent, which costs less than one after the other.
const BATCH: u32 = REPORTS as u32;
/// Reports taken from the reactor at once.
const REPORTS: usize = 256;
/// One for all connections of a worker; nothing of it is kept between reads.
const READ_BUFFER: usize = 64 * 1024;
/// After so many reads in a row the other connections have their turn: a long answer must not make theirs look slow.
const READS_IN_A_ROW: u32 = 4;
/// Reads from a connection that is given up: together more than a socket holds.
const READS_AT_LAST: u32 = 256;

/// What a worker needs from the rest of the engine.
pub(crate) struct Setting {
    pub(crate) hand: Hand,
    pub(crate) driver: Driver,
    pub(crate) ledger: Ledger,
    pub(crate) clock: MonotonicClock,
    pub(crate) endpoint: Endpoint,
    /// How connections are secured, if they are.
    pub(crate) tls: Option<Tls>,
    /// A connection is used again where the server allows it.
    pub(crate) keep_alive: bool,
    /// Connections carry many requests at once, in HTTP/2.
    pub(crate) multiplexing: Option<Multiplexing>,
    pub(crate) requests: Requests,
    pub(crate) timeout: Option<Nanos>,
    /// The kernel is to say when answers arrived.
    pub(crate) stamped: bool,
    /// What to do between two requests.
    pub(crate) timing: Timing,
    /// Requests of this load model are due on a schedule, so that one may fall due between two answers.
    pub(crate) scheduled: bool,
    pub(crate) control: Control,
}

impl Setting {
    /// Requests are to go out when they are due, and not in batches nor when their user is ready.
    fn is_on_time(&self) -> bool {
        self.scheduled && self.timing != Timing::Cheap
    }
}

/// When a request ended: when its last byte had arrived, and when the worker had read it.
#[derive(Clone, Copy, Debug)]
struct Moment {
    arrived: Timestamp,
    read: Timestamp,
    /// The two are known apart.
    stamped: bool,
}

impl Moment {
    /// Nobody knows when it arrived.
    fn read_at(now: Timestamp) -> Moment {
        Moment { arrived: now, read: now, stamped: false }
    }
}

/// What to do after the starts that are due.
enum Then {
    /// Sleep until this instant at the latest.
    Sleep(Timestamp),
    /// More is due, but look at answers first.
    Look,
    /// The run is over.
    Over,
}

pub(crate) struct Worker {
    setting: Setting,
    reactor: Reactor,
    pool: Pool<Connection>,
    /// In place of the pool, where connections carry many requests at once.
    links: Option<Box<Links>>,
    deadlines: Deadlines,
    watch: Watch,
    buffer: Box<[u8]>,
    /// What was in bytes that came over TLS.
    opened: Vec<u8>,
    last_head: LastHead,
    /// Nothing is sent before this instant, where answers wake the worker between two ticks; zero elsewhere.
    next_tick: Timestamp,
    /// Nothing was started since answers were last looked for.
    looked: bool,
    stray_answers: u64,
    ports: LocalPorts,
    pairing: Pairing,
    /// Answers of which the kernel was asked when they arrived, and did not say.
    unstamped: u64,
    /// All pauses of this worker until it last knew that nothing of what had come was left to read.
    paused_when_all_was_read: Nanos,
    /// This worker did not run for a while around its last look, so that more may have come than that look showed.
    look_again: bool,
    /// Connections of which only a part was read of what is there, so that the others have their turn.
    unread: Vec<Token>,
}

impl Worker {
    /// A worker that is ready to run.
    pub(crate) fn new(setting: Setting, reactor: Reactor) -> Worker {
        Worker {
            watch: Watch::new(setting.hand.index),
            ports: LocalPorts::new(setting.hand.index, setting.hand.of),
            links: setting.multiplexing.clone().map(|how| Box::new(Links::new(how))),
            setting,
            reactor,
            pool: Pool::default(),
            deadlines: Deadlines::new(),
            pairing: Pairing::new(),
            unstamped: 0,
            paused_when_all_was_read: Nanos::ZERO,
            look_again: false,
            unread: Vec::new(),
            buffer: vec![0; READ_BUFFER].into_boxed_slice(),
            opened: Vec::new(),
            last_head: LastHead::remembering(),
            next_tick: Timestamp::ZERO,
            looked: false,
            stray_answers: 0,
        }
    }

    /// Does the whole run.
    ///
    /// # Errors
    /// Only when the reactor itself fails.
    pub(crate) fn run(mut self) -> io::Result<Harvest> {
        precise_sleeps();
        let cpu_before = host::thread_cpu();
        self.setting.clock.wait_for_origin();
        let mut events = Events::with_capacity(REPORTS);
        loop {
            self.obey();
            let then = self.start_due();
            self.send_all();
            match then {
                Then::Over => break,
                Then::Look => self.look(&mut events, Timestamp::ZERO)?,
                Then::Sleep(until) => self.look(&mut events, until)?,
            }
        }
        self.look(&mut events, Timestamp::ZERO)?;
        Ok(self.settle(cpu_before))
    }

    /// The current instant, which the watch sees too.
    #[inline]
    fn now(&mut self) -> Timestamp {
        let now = self.setting.clock.now();
        self.watch.awake(now);
        now
    }

    fn obey(&mut self) {
        self.setting.ledger.exchange();
        match self.setting.control.asked() {
            Asked::GoOn => {}
            Asked::Stop => {
                let now = self.now();
                self.setting.driver.stop(now);
            }
            Asked::StopNow => {
                let now = self.now();
                self.setting.driver.stop_now(now);
            }
        }
    }

    /// Starts what is due, up to [`STARTS_IN_A_ROW`] or [`BATCH`].
    fn start_due(&mut self) -> Then {
        if self.awaits_the_tick() {
            return Then::Sleep(self.next_tick);
        }
        let most = if self.setting.is_on_time() { STARTS_IN_A_ROW } else { BATCH };
        for _ in 0..most {
            let now = self.now();
            if self.should_look_first(now) {
                return Then::Look;
            }
            match self.setting.driver.turn(now) {
                Turn::Start(start) => self.begin(start, now),
                Turn::Wait { until } => return Then::Sleep(until),
                Turn::Expired | Turn::Finished => return Then::Over,
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
        self.setting.scheduled && !self.looked && self.one_may_become_idle() && self.setting.driver.may_start(now)
    }

    /// None is idle, and an answer may free one: not where the server closes each, nor in HTTP/2.
    fn one_may_become_idle(&self) -> bool {
        !self.pool.has_idle() && self.pool.reuses && self.pool.open() > 0
    }

    /// Waits until something happens, at most until `until`, and deals with it.
    fn look(&mut self, events: &mut Events, until: Timestamp) -> io::Result<()> {
        self.setting.ledger.write();
        let now = self.now();
        let deadline = self.deadlines.first().map_or(Timestamp::NEVER, |(_, deadline)| deadline);
        let latest = if self.unread.is_empty() && !self.look_again { now + LONGEST_SLEEP } else { now };
        let until = until.min(deadline).min(latest).max(now);
        let paused_before = self.watch.total();
        self.sleep(events, now, until)?;
        self.looked = true;
        self.now();
        let paused = self.watch.total();
        // A pause may have come after the system had said what is ready.
        self.look_again = paused > paused_before;
        if self.setting.stamped {
            self.pairing.refresh(&self.setting.clock);
        }
        for token in std::mem::take(&mut self.unread) {
            self.go_on_reading(token);
            self.start_one_if_due();
        }
        for readiness in events.iter() {
            self.attend(readiness);
            self.start_one_if_due();
        }
        self.expire(now);
        if self.unread.is_empty() && !events.is_full() && !self.look_again {
            self.paused_when_all_was_read = paused;
        }
        Ok(())
    }

    /// On a schedule, one start between two answers keeps it without starving the answers.
    fn start_one_if_due(&mut self) {
        // The next answer may bring a connection.
        if !self.setting.is_on_time() || self.one_may_become_idle() {
            return;
        }
        let now = self.now();
        if let Turn::Start(start) = self.setting.driver.turn(now) {
            self.begin(start, now);
            self.send_all();
        }
    }

    /// Begins a request at `now`, on an idle connection or on a new one.
    fn begin(&mut self, start: Start, now: Timestamp) {
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
    fn begin_on(&mut self, slot: u32, exchange: Exchange) {
        let connection = self.pool.get(slot);
        connection.exchange = exchange;
        self.set_deadline(slot, exchange.began);
        self.send(slot, exchange.began);
    }

    fn set_deadline(&mut self, slot: u32, began: Timestamp) {
        if let Some(timeout) = self.setting.timeout {
            self.deadlines.push(slot, began + timeout);
        }
    }

    fn clear_deadline(&mut self, slot: u32) {
        if self.setting.timeout.is_some() {
            self.deadlines.remove(slot);
        }
    }

    /// Hands the request to the socket; `now` is its actual start.
    fn send(&mut self, slot: u32, now: Timestamp) {
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

    /// Deals with one report of the reactor.
    fn attend(&mut self, readiness: Readiness) {
        if self.links.is_some() {
            return self.attend_link(readiness);
        }
        let token = Token(readiness.token);
        let Some(connection) = self.pool.find(token) else { return };
        match connection.phase {
            Phase::Connecting if readiness.writable => {
                self.finish_connecting(token);
                // A server that speaks first, or has closed already, is not reported again.
                self.read_if_ready(token, readiness);
            }
            Phase::Connecting => {}
            Phase::Securing => self.secure(token),
            Phase::Busy => {
                if readiness.writable {
                    self.go_on_writing(token);
                }
                self.read_if_ready(token, readiness);
            }
            Phase::Idle if readiness.readable => self.read_idle(token.slot()),
            Phase::Idle => {}
        }
    }

    fn go_on_writing(&mut self, token: Token) {
        let Some(connection) = self.pool.find(token) else { return };
        let request = self.setting.requests.bytes(connection.exchange.which);
        // An answer may explain why the rest is not wanted, so reading decides what this error means.
        if !connection.has_sent(request.len()) && connection.write(request).is_err() {
            self.read(token, true, READS_IN_A_ROW);
        }
    }

    /// Times out whoever was overdue at `now`.
    fn expire(&mut self, now: Timestamp) {
        while let Some(slot) = self.overdue(now) {
            if self.links.is_some() {
                self.expire_stream(slot, now);
                continue;
            }
            self.read_before_giving_up(slot);
            if self.overdue(now) == Some(slot) {
                let given_up = self.now();
                self.end(slot, given_up, Outcome::TimedOut);
            }
        }
    }

    fn overdue(&self, now: Timestamp) -> Option<u32> {
        self.deadlines.first().filter(|(_, deadline)| *deadline <= now).map(|(slot, _)| slot)
    }

    /// A request ended without an answer, which was noticed at `now`.
    fn end(&mut self, slot: u32, now: Timestamp, outcome: Outcome) {
        // What failed had failed before it was noticed; what is given up is given up now.
        let moment = if outcome.is_failed() { self.unstamped_moment(slot, now) } else { Moment::read_at(now) };
        self.end_at(slot, moment, outcome, false);
    }

    /// A request ended; its connection is kept for another one, or closed.
    fn end_at(&mut self, slot: u32, moment: Moment, outcome: Outcome, keep: bool) {
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

    fn record(&mut self, exchange: &Exchange, moment: Moment, outcome: Outcome, bytes_in: u64) {
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
        self.setting.driver.finish(exchange.user, free);
    }

    fn close(&mut self, slot: u32) {
        let mut connection = self.pool.remove(slot);
        connection.transport.say_goodbye(&connection.socket);
        // Closing ends the watch by itself; a socket that was never added is refused here, which changes nothing.
        let _ = self.reactor.remove(&connection.socket);
    }

    /// Counts out what is in flight and what was never issued.
    fn settle(mut self, cpu_before: CpuTime) -> Harvest {
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

#[cfg(test)]
mod tests;
