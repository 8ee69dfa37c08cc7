//! One thread of the engine: its share of the schedule, its connections, its reactor, its recorder, and the loop that
//! drives them. Nothing here is shared, locked, formatted or (in the steady state) allocated while requests run.

mod answers;
mod connecting;
mod ending;
mod lateness;
mod multiplexed;
mod setting;
mod sleep;
mod starting;

use std::io;

use truetail_model::record::Outcome;
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::{Events, Reactor, Readiness, minimize_timer_slack};
use truetail_run::Timing;

use ending::Moment;
use lateness::Lateness;
use multiplexed::Links;
pub(crate) use multiplexed::Multiplexing;
pub(crate) use setting::Setting;
use starting::Then;

use crate::connection::{Connection, Phase};
use crate::control::Asked;
use crate::deadlines::Deadlines;
use crate::harvest::Harvest;
use crate::host;
use crate::http1::LastHead;
use crate::pool::{Pool, Token};
use crate::ports::LocalPorts;
use crate::stamps::Pairing;
use crate::watch::Watch;

/// Reports taken from the reactor at once.
const REPORTS: usize = 256;
/// One for all connections of a worker; nothing of it is kept between reads.
const READ_BUFFER: usize = 64 * 1024;
/// After so many reads in a row the other connections have their turn: a long answer must not make theirs look slow.
const READS_IN_A_ROW: u32 = 4;
/// Reads from a connection that is given up: together more than a socket holds.
const READS_AT_LAST: u32 = 256;

pub(crate) struct Worker {
    setting: Setting,
    reactor: Reactor,
    pool: Pool<Connection>,
    /// In place of the pool, where connections carry many requests at once.
    links: Option<Box<Links>>,
    deadlines: Deadlines,
    watch: Watch,
    /// By how much earlier than at what is due a sleep is to end.
    lateness: Lateness,
    buffer: Box<[u8]>,
    /// What was in bytes that came over TLS.
    opened: Vec<u8>,
    last_head: LastHead,
    /// Nothing is sent before this instant, where answers wake the worker between two ticks; zero elsewhere.
    next_tick: Timestamp,
    /// The last wait for a place, in batches, saw no answer.
    waited_in_vain: bool,
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
            watch: Watch::new(setting.share.index),
            ports: LocalPorts::new(setting.share.index, setting.share.workers),
            lateness: match setting.timing {
                Timing::Precise => Lateness::rare(Nanos(Timing::SPIN_NS)),
                Timing::Balanced | Timing::Cheap => Lateness::typical(),
            },
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
            waited_in_vain: false,
            looked: false,
            stray_answers: 0,
        }
    }

    /// Does the whole run.
    ///
    /// # Errors
    /// Only when the reactor itself fails.
    pub(crate) fn run(mut self) -> io::Result<Harvest> {
        minimize_timer_slack();
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

    /// Waits until something happens, at most until `until`, and deals with it.
    fn look(&mut self, events: &mut Events, until: Timestamp) -> io::Result<()> {
        self.setting.ledger.write();
        let now = self.now();
        let deadline = self.deadlines.first().map_or(Timestamp::NEVER, |(_, deadline)| deadline);
        let latest = if self.unread.is_empty() && !self.look_again { sleep::longest_from(now) } else { now };
        let until = until.min(deadline).min(latest).max(now);
        let paused_before = self.watch.total();
        self.sleep(events, now, until)?;
        self.looked = true;
        self.now();
        let paused = self.watch.total();
        // A pause may have come after the system had said what is ready.
        self.look_again = paused > paused_before;
        self.pairing.woke();
        for token in std::mem::take(&mut self.unread) {
            self.go_on_reading(token);
            self.start_between_answers(1);
        }
        for (reports, readiness) in (1..).zip(events.iter()) {
            self.attend(readiness);
            self.start_between_answers(reports);
        }
        self.expire(now);
        if self.unread.is_empty() && !events.is_full() && !self.look_again {
            self.paused_when_all_was_read = paused;
        }
        Ok(())
    }

    /// Deals with one report of the reactor.
    #[inline(always)]
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
}

#[cfg(test)]
mod tests;
