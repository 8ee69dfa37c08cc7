//! The requests of one worker that were begun and have not ended.

use truetail_model::arrival::Arrival;
use truetail_model::record::{KnockOn, StartDelay};
use truetail_model::time::{Nanos, Timestamp};

use super::deadlines::Deadlines;
use crate::protocol::Tag;
use crate::since::Since;
use crate::target::request_set::RequestId;

/// A request that was begun.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) arrival: Arrival,
    /// The request that this arrival gets.
    pub(super) request: RequestId,
    pub(super) user: u32,
    /// The number of the origin that it goes to.
    pub(super) origin: u32,
    /// How long it waited for the cap, or for a connection that takes its bytes.
    pub(super) connection_wait: Nanos,
    /// When the attempt began: to connect, or on an open connection to send.
    pub(super) began: Since,
    /// Just before the transport took the first byte; the same as `began` until then.
    pub(super) started: Since,
    /// How much of their lag earlier requests may have passed on to it.
    pub(super) passed_on: Nanos,
    /// What most requests on a connection that is kept do not have.
    pub(super) rare: Option<Box<Rare>>,
    /// When the first byte of the answer had arrived.
    pub(super) first_byte: Option<Timestamp>,
    /// The slot of its connection; `None` while it waits for one.
    pub(super) connection: Option<u32>,
    /// What the session of that connection calls it.
    pub(super) key: u32,
}

/// What is known of few requests.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Rare {
    /// How long connecting took; `None` on a connection that was open.
    pub(super) connect: Option<Nanos>,
    /// How much of that the TLS handshake took; `None` without one.
    pub(super) handshake: Option<Nanos>,
    /// From the actual start until the transport took the last byte, where it did not take all at once.
    pub(super) send_wait: Option<Nanos>,
}

impl Exchange {
    /// A connection was opened for it.
    #[inline]
    pub(super) fn has_opened(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.connect.is_some())
    }

    /// How late it started, and why.
    #[inline]
    pub(super) fn start_delay(&self) -> StartDelay {
        let connect = self.rare.as_ref().and_then(|rare| rare.connect).unwrap_or(Nanos::ZERO);
        StartDelay::split(self.arrival.intended_start, self.started.instant, self.connection_wait, connect)
    }

    /// Room for what is known of few requests.
    pub(super) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }
}

/// A place for a request. What is in it is written once and read in place: it is too large to be moved for nothing.
#[derive(Debug)]
struct Slot {
    is_taken: bool,
    /// Its timeout does not count: it waits for room.
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

    /// The transport took the first byte of a request at `started`. `knows_all`: there is no other worker, so that what is in
    /// flight here is all that is.
    #[inline]
    pub(super) fn start(&mut self, tag: Tag, started: Since, knows_all: bool) {
        let is_alone = knows_all && self.len() == 1;
        let exchange = &mut self.slots[tag as usize].exchange;
        // What waited for a permit was behind another one, whether or not that has ended by now.
        let is_idle = is_alone && exchange.connection_wait.is_zero();
        exchange.started = started;
        let lag = exchange.start_delay().generator_lag;
        exchange.passed_on = self.knock_on.start(started.instant, lag, is_idle).saturating_sub(lag);
    }

    /// Adds a request, whose timeout counts from when it began.
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

    /// A request that has not ended.
    #[inline]
    pub(super) fn get(&mut self, tag: Tag) -> &mut Exchange {
        let slot = &mut self.slots[tag as usize];
        debug_assert!(slot.is_taken, "request {tag} has ended");
        &mut slot.exchange
    }

    /// The timeout of a request that has to wait for room does not count, as that of one that waits for a permit.
    pub(super) fn hold(&mut self, tag: Tag) {
        if self.timeout.is_some() {
            self.deadlines.remove(tag);
            self.slots[tag as usize].is_held = true;
        }
    }

    /// The timeout of a request that has waited for room counts from `now`; that of any other goes on.
    pub(super) fn release(&mut self, tag: Tag, now: Timestamp) {
        let is_held = std::mem::take(&mut self.slots[tag as usize].is_held);
        if let Some(timeout) = self.timeout.filter(|_| is_held) {
            self.deadlines.push(tag, now + timeout);
        }
    }

    /// A request has ended.
    #[inline]
    pub(super) fn end(&mut self, tag: Tag) {
        if self.timeout.is_some() && !self.slots[tag as usize].is_held {
            self.deadlines.remove(tag);
        }
        self.vacant.push(tag);
        self.slots[tag as usize].is_taken = false;
    }

    /// This request has not ended.
    pub(super) fn contains(&self, tag: Tag) -> bool {
        self.slots[tag as usize].is_taken
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    /// All of them.
    pub(super) fn tags(&self) -> Vec<Tag> {
        (0..self.slots.len() as Tag).filter(|tag| self.contains(*tag)).collect()
    }

    /// When the first of them times out.
    #[inline]
    pub(super) fn first_deadline(&self) -> Timestamp {
        self.deadlines.first().map_or(Timestamp::NEVER, |(_, deadline)| deadline)
    }

    /// The first that has timed out at `now`.
    pub(super) fn overdue(&self, now: Timestamp) -> Option<Tag> {
        self.deadlines.first().filter(|(_, deadline)| *deadline <= now).map(|(tag, _)| tag)
    }
}
