//! The connections of one worker: the choice of a connection for each request, and limits on their number.

use std::collections::VecDeque;

use socket2::Socket;
use truetail_model::driver::WorkerShare;
use truetail_model::record::Cause;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::Http2Stats;

use super::conversation_deadlines::ConversationDeadlines;
use crate::connection::{
    self, ATTEMPT_DELAY, Connection, LocalPorts, Opener, Phase, Pool, Race, Token, may_be_elsewhere,
};
use crate::placement::{Placement, Requester};
use crate::protocol::{Conversation, Protocol, Tag};
use crate::target::endpoint::Endpoint;
use crate::worker_instant::WorkerInstant;

/// After a failed connect, requests use open connections with room rather than a new one for this long.
const REST: Nanos = Nanos::from_secs(1);

/// The connections of one worker, and the requests that wait for one.
#[derive(Debug)]
pub(super) struct Connections<P: Protocol, L: Placement<P>> {
    pub(super) pool: Pool<Connection<P::Conversation>>,
    pub(super) placement: L,
    ports: LocalPorts,
    by_origin: Vec<OriginConnections>,
    /// Number of requests that wait for room, at all origins.
    waiting: u64,
    /// True if there may be room for a waiting request.
    may_place: bool,
    /// Connections that may have something to send.
    dirty: Vec<u32>,
    /// Number of connections that are being opened, and of those that have not taken all bytes to send.
    watched: u32,
    /// Connections that are being opened, with the instant to try a further address, earliest first.
    attempts_due: VecDeque<(Timestamp, Token)>,
    deadlines: ConversationDeadlines,
    /// Connections that took a request beside another. Some may have one or none by now.
    crowded: Vec<Token>,
    pub(super) streams: Http2Stats,
}

#[derive(Clone, Default, Debug)]
struct OriginConnections {
    /// Index of the address that is tried first: the last that was reached.
    address: u32,
    /// Requests without a connection, until there is room for them, oldest first.
    waiting: VecDeque<Tag>,
}

impl<P: Protocol, L: Placement<P>> Connections<P, L> {
    /// Creates an empty set for this number of origins. For `limit` see [`Placement::new`].
    pub(super) fn new(origins: usize, ports: LocalPorts, limit: u64, share: WorkerShare) -> Connections<P, L> {
        Connections {
            pool: Pool::new(origins, share),
            placement: L::new(origins, limit),
            ports,
            by_origin: vec![OriginConnections::default(); origins],
            waiting: 0,
            may_place: false,
            dirty: Vec::new(),
            watched: 0,
            attempts_due: VecDeque::new(),
            deadlines: ConversationDeadlines::default(),
            crowded: Vec::new(),
            streams: Http2Stats::default(),
        }
    }

    #[inline]
    pub(super) fn open(&mut self, slot: u32) -> Option<&mut Connection<P::Conversation>> {
        self.pool.at(slot).filter(|connection| connection.phase == Phase::Open)
    }

    /// Returns true if another connection to this origin may be opened.
    pub(super) fn may_open(&self, origin: u32) -> bool {
        self.placement.may_open(origin)
    }

    /// Returns an idle connection that must be closed before another one is opened, because the limit is reached.
    pub(super) fn spare(&self) -> Option<u32> {
        self.placement.spare(&self.pool)
    }

    /// Records that a connection has no request in flight, and may take another. Returns true if nothing else changes
    /// with it.
    #[inline]
    pub(super) fn release(&mut self, slot: u32) -> bool {
        self.placement.release(&mut self.pool, slot)
    }

    /// Notes that the connection in this slot has taken a request.
    #[inline]
    pub(super) fn note_begun(&mut self, slot: u32) {
        let connection = self.pool.get(slot);
        if connection.conversation.in_flight() > 1 && !std::mem::replace(&mut connection.noted.is_crowded, true) {
            self.crowded.push(self.pool.token(slot));
        }
    }

    /// Returns true if a connection carries several requests.
    #[inline]
    pub(super) fn are_crowded(&mut self) -> bool {
        while let Some(token) = self.crowded.last() {
            if let Some(connection) = self.pool.find(*token) {
                if connection.conversation.in_flight() > 1 {
                    return true;
                }
                connection.noted.is_crowded = false;
            }
            self.crowded.pop();
        }
        false
    }

    pub(super) fn origins(&self) -> u32 {
        self.by_origin.len() as u32
    }

    pub(super) fn wait(&mut self, origin: u32, tag: Tag) {
        self.by_origin[origin as usize].waiting.push_back(tag);
        self.waiting += 1;
    }

    pub(super) fn first_waiting(&self, origin: u32) -> Option<Tag> {
        self.by_origin[origin as usize].waiting.front().copied()
    }

    pub(super) fn remove_waiting(&mut self, origin: u32, tag: Tag) {
        let waiting = &mut self.by_origin[origin as usize].waiting;
        let at = waiting.iter().position(|known| *known == tag);
        self.waiting -= u64::from(at.and_then(|at| waiting.remove(at)).is_some());
    }

    #[inline]
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Notes that there may be room for waiting requests.
    pub(super) fn note_room(&mut self) {
        self.may_place = self.waiting > 0;
    }

    /// Returns true if there may be room for a waiting request.
    #[inline]
    pub(super) fn may_place(&self) -> bool {
        self.may_place
    }

    /// Begins to place waiting requests. What frees room from now on is noted anew.
    pub(super) fn begin_placing(&mut self) {
        self.may_place = false;
    }

    /// Returns true if a request waits for room on the connection in this slot.
    pub(super) fn is_waited_for(&self, slot: u32) -> bool {
        self.waiting > 0 && self.first_waiting(self.pool.origin(slot)).is_some()
    }

    pub(super) fn opener(&mut self, slot: u32) -> Opener {
        self.pool.get(slot).opener.expect("a connection that is being opened")
    }

    /// Returns the open connection for this request; `None`: open one, or wait.
    #[inline]
    pub(super) fn choose(&mut self, requester: Requester, now: Timestamp) -> Option<u32> {
        self.placement.choose(&mut self.pool, requester, now)
    }

    /// Returns true if the session of this request had its connection to the origin, and has lost it.
    pub(super) fn has_lost(&mut self, requester: Requester) -> bool {
        self.placement.has_lost(&mut self.pool, requester)
    }

    /// Returns the open connection for a request whose own was lost before it was sent.
    pub(super) fn choose_again(&mut self, requester: Requester, now: Timestamp) -> Option<u32> {
        self.placement.choose_again(&mut self.pool, requester, now)
    }

    /// Begins to open a connection to the requester's origin. Uses the first of `endpoints` that allows
    /// an attempt, and schedules a further attempt after `now`.
    ///
    /// # Errors
    /// If no attempt can be made: the cause at the last endpoint.
    pub(super) fn connect(
        &mut self,
        endpoints: &[Endpoint],
        protocol: &P,
        opener: Opener,
        requester: Requester,
        now: Timestamp,
    ) -> Result<u32, Cause> {
        let open = self.pool.open();
        let ports = &mut self.ports;
        let mut address = self.by_origin[requester.origin as usize].address;
        let mut race = Race::new(address, endpoints.len() as u32);
        let mut connection = loop {
            let endpoint = &endpoints[address as usize];
            match Connection::open(endpoint, protocol.conversation(), opener, || ports.pick(open)) {
                Ok(connection) => break connection,
                Err(cause) => address = race.next().filter(|_| may_be_elsewhere(cause)).ok_or(cause)?,
            }
        };
        let has_others = endpoints.len() > 1;
        connection.race = has_others.then(|| Box::new(race.with_own(address)));
        self.watched += 1;
        let token = self.pool.insert(connection, requester.origin);
        if has_others {
            self.attempts_due.push_back((now + ATTEMPT_DELAY, token));
        }
        self.placement.add(token, requester);
        Ok(token.slot())
    }

    /// Begins an attempt at the next address of a connection that is being opened, and returns its socket. Schedules a
    /// further attempt after `now`. Returns `None` if no attempt can be made at any further address.
    pub(super) fn try_next_address(
        &mut self,
        token: Token,
        endpoints: &[Endpoint],
        own_has_failed: bool,
        now: Timestamp,
    ) -> Option<&Socket> {
        let open = self.pool.open();
        let ports = &mut self.ports;
        let connection = self.pool.find(token).filter(|connection| connection.phase == Phase::Connecting)?;
        self.attempts_due.push_back((now + ATTEMPT_DELAY, token));
        loop {
            let number = connection.race.as_mut()?.next()?;
            if let Ok(socket) = connection::connect(&endpoints[number as usize], || ports.pick(open)) {
                return Some(connection.add_attempt(socket, number, own_has_failed));
            }
        }
    }

    /// Returns the next instant to try a further address.
    #[inline]
    pub(super) fn next_attempt(&self) -> Timestamp {
        self.attempts_due.front().map_or(Timestamp::NEVER, |(due, _)| *due)
    }

    /// Takes a connection whose next attempt is due at `now`.
    #[inline]
    pub(super) fn take_attempt(&mut self, now: Timestamp) -> Option<Token> {
        if self.next_attempt() > now {
            return None;
        }
        self.attempts_due.pop_front().map(|(_, token)| token)
    }

    /// Ends the attempts to open the connection in this slot after one succeeded, and returns them. The address that
    /// succeeded is tried first from now on.
    pub(super) fn end_race(&mut self, slot: u32) -> Option<Box<Race>> {
        let race = self.pool.get(slot).race.take()?;
        self.by_origin[self.pool.origin(slot) as usize].address = race.own();
        Some(race)
    }

    pub(super) fn mark_opening_failed(&mut self, origin: u32, now: Timestamp) {
        self.placement.rest(origin, now + REST);
    }

    /// Marks the connection in this slot as open, and returns the reason for opening it.
    pub(super) fn mark_open(&mut self, slot: u32) -> Opener {
        self.placement.rest(self.pool.origin(slot), Timestamp::ZERO);
        self.watched -= 1;
        let connection = self.pool.get(slot);
        connection.phase = Phase::Open;
        connection.opener.take().expect("a connection that is being opened")
    }

    /// Records that the connection in this slot takes no bytes since `since`, unless it was blocked before.
    pub(super) fn block(&mut self, slot: u32, since: WorkerInstant) {
        let connection = self.pool.get(slot);
        if connection.blocked.is_none() {
            connection.blocked = Some(since);
            self.watched += 1;
        }
    }

    #[inline]
    pub(super) fn unblock(&mut self, slot: u32) {
        if self.pool.get(slot).blocked.take().is_some() {
            self.watched -= 1;
        }
    }

    /// Forgets every instant of the clock that counted before the load, which begins at `begin` of another clock. No
    /// connection is being opened.
    pub(super) fn begin_load(&mut self, begin: WorkerInstant) {
        self.attempts_due.clear();
        self.deadlines = ConversationDeadlines::default();
        (0..self.origins()).for_each(|origin| self.placement.rest(origin, Timestamp::ZERO));
        for slot in self.pool.taken() {
            let connection = self.pool.get(slot);
            connection.noted_deadline = Timestamp::NEVER;
            connection.blocked = connection.blocked.map(|_| begin);
            self.note_deadline(slot);
        }
    }

    /// Returns true if a connection is being opened or blocked. The worker must notice at once what happens on it,
    /// because that ends a measured time.
    #[inline]
    pub(super) fn are_watched(&self) -> bool {
        self.watched > 0
    }

    pub(super) fn retire(&mut self, slot: u32) {
        self.placement.retire(slot, self.pool.origin(slot));
    }

    pub(super) fn remove(&mut self, slot: u32) -> Box<Connection<P::Conversation>> {
        self.retire(slot);
        let connection = self.pool.remove(slot);
        self.watched -= u32::from(connection.opener.is_some());
        self.watched -= u32::from(connection.blocked.is_some());
        connection
    }

    /// Returns true if some origin has no idle connection and an answer may free one.
    #[inline]
    pub(super) fn one_may_become_idle(&self) -> bool {
        self.placement.one_may_become_idle(&self.pool)
    }

    /// Returns how many requests may be in flight at once, if the connections decide this.
    pub(super) fn capacity(&mut self) -> Option<u64> {
        let capacity = self.placement.capacity(&self.pool, self.waiting)?;
        let allowed = self.pool.iter().filter_map(|connection| connection.conversation.peer_limit()).min();
        self.streams.allowed = [self.streams.allowed, allowed].into_iter().flatten().min();
        Some(capacity)
    }

    /// Returns true if the connection in this slot, if there is one, matches answers to requests by their order.
    pub(super) fn answers_in_order(&mut self, slot: Option<u32>) -> bool {
        slot.and_then(|slot| self.pool.at(slot)).is_some_and(|connection| connection.conversation.answers_in_order())
    }

    /// Notes the next deadline of the conversation in this slot, if it is earlier than the noted one.
    #[inline]
    pub(super) fn note_deadline(&mut self, slot: u32) {
        let may_have_one = |phase| matches!(phase, Phase::Open | Phase::Greeting);
        let Some(connection) = self.pool.at(slot).filter(|connection| may_have_one(connection.phase)) else { return };
        let deadline = connection.conversation.next_deadline();
        if deadline < connection.noted_deadline {
            connection.noted_deadline = deadline;
            self.deadlines.push(deadline, self.pool.token(slot));
        }
    }

    /// Returns the earliest noted deadline of a conversation.
    #[inline]
    pub(super) fn next_deadline(&self) -> Timestamp {
        self.deadlines.first()
    }

    /// Takes a connection whose conversation has something to do at `now`.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<Token> {
        while let Some((deadline, token)) = self.deadlines.pop_until(now) {
            let Some(connection) = self.pool.find(token) else { continue };
            if connection.noted_deadline == deadline {
                connection.noted_deadline = Timestamp::NEVER;
                if connection.conversation.next_deadline() <= now {
                    return Some(token);
                }
                self.note_deadline(token.slot());
            }
        }
        None
    }

    /// Notes that the connection in this slot may have something to send, and its next deadline.
    #[inline]
    pub(super) fn touch(&mut self, slot: u32) {
        self.note_deadline(slot);
        let is_news = |connection: &mut Connection<P::Conversation>| {
            connection.conversation.may_send() && !std::mem::replace(&mut connection.noted.is_dirty, true)
        };
        if self.open(slot).is_some_and(is_news) {
            self.dirty.push(slot);
        }
    }

    /// Takes the list of connections that may have something to send, each once.
    pub(super) fn take_dirty(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.dirty)
    }

    /// Puts back the list that was taken, to reuse its memory. Connections that were marked meanwhile stay marked.
    pub(super) fn restore_dirty(&mut self, mut list: Vec<u32>) {
        list.clear();
        list.append(&mut self.dirty);
        self.dirty = list;
    }
}
