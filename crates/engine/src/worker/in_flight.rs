//! Requests of one worker that have begun and not ended.

use truetail_model::arrival::Arrival;
use truetail_model::record::{KnockOn, SessionPlace, StartDelay};
use truetail_model::time::{Nanos, Timestamp};

use super::deadlines::Deadlines;
use crate::placement::Requester;
use crate::protocol::Tag;
use crate::target::request_set::RequestId;
use crate::worker_instant::WorkerInstant;

#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) arrival: Arrival,
    /// The request that was chosen for this arrival.
    pub(super) request: RequestId,
    pub(super) requester: Requester,
    pub(super) place: SessionPlace,
    /// Time that it waited for the cap, or for a connection that takes its bytes.
    pub(super) connection_wait: Nanos,
    /// Start of the attempt: to connect, or on an open connection to send.
    pub(super) began: WorkerInstant,
    /// Instant just before the transport took the first byte; equal to `began` until then.
    pub(super) started: WorkerInstant,
    /// Most generator lag that earlier requests, or late messages of its own, may have passed on to it.
    pub(super) passed_on: Nanos,
    /// Values that most requests on a kept connection do not have.
    pub(super) rare: Option<Box<RareTimes>>,
    /// Arrival of the answer's first byte.
    pub(super) first_byte: Option<Timestamp>,
    /// Slot of its connection; `None` while it waits for one.
    pub(super) connection: Option<u32>,
    /// The conversation's key of the request.
    pub(super) key: u32,
}

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct RareTimes {
    /// Time that connecting took; `None` on a connection that was open.
    pub(super) connect: Option<Nanos>,
    /// Time that the TLS handshake took, included in `connect`; `None` without a handshake.
    pub(super) handshake: Option<Nanos>,
    /// Time from the actual start until the transport took the last byte, if it did not take all bytes at once.
    pub(super) send_wait: Option<Nanos>,
}

impl Exchange {
    /// Returns true if a connection was opened for this request.
    #[inline]
    pub(super) fn has_opened(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.connect.is_some())
    }

    #[inline]
    pub(super) fn start_delay(&self) -> StartDelay {
        let connect = self.rare.as_ref().and_then(|rare| rare.connect).unwrap_or(Nanos::ZERO);
        StartDelay::split(self.arrival.intended_start, self.started.instant, self.connection_wait, connect)
    }

    /// Records that its answer may be late by this, because the generator was. Its own generator lag is known anyway.
    #[inline]
    pub(super) fn pass_on(&mut self, late: Nanos) {
        self.passed_on = self.passed_on.max(late.saturating_sub(self.start_delay().generator_lag));
    }

    pub(super) fn rare(&mut self) -> &mut RareTimes {
        self.rare.get_or_insert_default()
    }
}

/// Room for one request. It is written once and read in place, because moving it is expensive.
#[derive(Debug)]
struct Slot {
    is_taken: bool,
    /// True while the request waits for room, so that its timeout does not run.
    is_held: bool,
    exchange: Exchange,
}

/// All requests of a worker that have not ended, by tag.
#[derive(Debug)]
pub(super) struct InFlight {
    slots: Vec<Slot>,
    vacant: Vec<u32>,
    deadlines: Deadlines,
    timeout: Option<Nanos>,
    knock_on: KnockOn,
}

impl InFlight {
    pub(super) fn new(timeout: Option<Nanos>) -> InFlight {
        let deadlines = Deadlines::new();
        InFlight { slots: Vec::new(), vacant: Vec::new(), deadlines, timeout, knock_on: KnockOn::default() }
    }

    /// Records that the transport took the first byte of a request at `started`. `knows_all` is true for a single
    /// worker, which knows every request in flight.
    #[inline]
    pub(super) fn start(&mut self, tag: Tag, started: WorkerInstant, knows_all: bool) {
        let is_alone = knows_all && self.len() == 1;
        let exchange = &mut self.slots[tag as usize].exchange;
        // A request that waited for a permit was behind another request, which may have ended meanwhile.
        let is_idle = is_alone && exchange.connection_wait.is_zero();
        exchange.started = started;
        let lag = exchange.start_delay().generator_lag;
        let passed_on = self.knock_on.start(started.instant, lag, is_idle).saturating_sub(lag);
        exchange.passed_on = exchange.passed_on.max(passed_on);
    }

    /// Adds a request. Its timeout runs from its beginning.
    #[inline(always)]
    pub(super) fn begin(&mut self, exchange: Exchange) -> Tag {
        let deadline = self.timeout.map(|timeout| exchange.began.instant + timeout);
        let tag = match self.vacant.pop() {
            Some(tag) => {
                self.slots[tag as usize] = Slot { is_taken: true, is_held: false, exchange };
                tag
            }
            None => {
                self.slots.push(Slot { is_taken: true, is_held: false, exchange });
                (self.slots.len() - 1) as Tag
            }
        };
        if let Some(deadline) = deadline {
            self.deadlines.push(tag, deadline);
        }
        tag
    }

    /// Returns the tag of the request that begins next.
    pub(super) fn next_tag(&self) -> Tag {
        self.vacant.last().copied().unwrap_or(self.slots.len() as Tag)
    }

    #[inline]
    pub(super) fn get(&mut self, tag: Tag) -> &mut Exchange {
        let slot = &mut self.slots[tag as usize];
        debug_assert!(slot.is_taken, "request {tag} has ended");
        &mut slot.exchange
    }

    /// Stops the timeout of a request that has to wait for room, as for requests that wait for a permit.
    pub(super) fn hold(&mut self, tag: Tag) {
        if self.timeout.is_some() {
            self.deadlines.remove(tag);
            self.slots[tag as usize].is_held = true;
        }
    }

    /// Starts the timeout at `now` of a request that has waited for room; other timeouts continue.
    pub(super) fn release(&mut self, tag: Tag, now: Timestamp) {
        let is_held = std::mem::take(&mut self.slots[tag as usize].is_held);
        if let Some(timeout) = self.timeout.filter(|_| is_held) {
            self.deadlines.push(tag, now + timeout);
        }
    }

    #[inline]
    pub(super) fn end(&mut self, tag: Tag) {
        if self.timeout.is_some() && !self.slots[tag as usize].is_held {
            self.deadlines.remove(tag);
        }
        self.vacant.push(tag);
        self.slots[tag as usize].is_taken = false;
    }

    pub(super) fn contains(&self, tag: Tag) -> bool {
        self.slots[tag as usize].is_taken
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    pub(super) fn tags(&self) -> Vec<Tag> {
        (0..self.slots.len() as Tag).filter(|tag| self.contains(*tag)).collect()
    }

    #[inline]
    pub(super) fn first_deadline(&self) -> Timestamp {
        self.deadlines.first().map_or(Timestamp::NEVER, |(_, deadline)| deadline)
    }

    pub(super) fn overdue(&self, now: Timestamp) -> Option<Tag> {
        self.deadlines.first().filter(|(_, deadline)| *deadline <= now).map(|(tag, _)| tag)
    }
}
