//! The connections of one worker: which of them a request gets, and how many there may be.

use std::collections::VecDeque;

use socket2::Socket;
use truetail_model::record::Cause;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::Http2Stats;

use crate::connection::{self, ATTEMPT_DELAY, Connection, LocalPorts, Phase, Pool, Race, Token, may_be_elsewhere};
use crate::protocol::{Protocol, Session, Tag};
use crate::since::Since;
use crate::target::endpoint::Endpoint;

use super::session_connections::SessionConnections;

/// After a connection could not be opened, requests that have room on others are not risked on a new one for so long.
const REST: Nanos = Nanos::from_secs(1);

/// The connections of one worker. Multiplexed ones to an origin share the requests out among themselves in turn; of those that
/// carry one request at a time, the one that became idle last is used first. Where sessions have connections of their own, they
/// use no other.
#[derive(Debug)]
pub(super) struct Connections<P: Protocol> {
    pub(super) pool: Pool<Connection<P::Session>>,
    /// Who has which, where each session has one of its own.
    pub(super) of_sessions: Option<SessionConnections>,
    ports: LocalPorts,
    /// Most connections, or most multiplexed ones to one origin.
    limit: u64,
    of_origins: Vec<OriginConnections>,
    /// How many requests wait for room, at all origins.
    waiting: u64,
    /// Connections that may have something to send.
    dirty: Vec<u32>,
    /// How many are being opened.
    opening: u32,
    /// How many have not taken all that is to be sent.
    blocked: u32,
    /// When a further address is to be tried for a connection that is being opened, the first first.
    attempts_due: VecDeque<(Timestamp, Token)>,
    /// What is reported of requests that shared connections.
    pub(super) streams: Http2Stats,
}

/// Those that lead to one origin.
#[derive(Clone, Default, Debug)]
struct OriginConnections {
    /// Multiplexed connections that take new requests, and whose turn it is among these.
    live: Vec<u32>,
    turn: usize,
    /// The number of the address that is tried first: the last one that was reached.
    address: u32,
    /// No connection could be opened: until this instant others are preferred.
    opening_rests_until: Timestamp,
    /// Requests without a connection, until there is room for them, the first first.
    waiting: VecDeque<Tag>,
}

impl OriginConnections {
    /// The multiplexed connection whose turn it is. There is one.
    fn next(&mut self) -> u32 {
        self.turn = if self.turn + 1 < self.live.len() { self.turn + 1 } else { 0 };
        self.live[self.turn]
    }
}

impl<P: Protocol> Connections<P> {
    /// To so many origins. `limit`: most connections, or most multiplexed ones to one origin; `None`: each session has its own.
    pub(super) fn new(origins: usize, ports: LocalPorts, limit: Option<u64>) -> Connections<P> {
        Connections {
            pool: Pool::new(origins),
            of_sessions: limit.is_none().then(|| SessionConnections::new(origins)),
            ports,
            limit: limit.unwrap_or(u64::MAX),
            of_origins: vec![OriginConnections::default(); origins],
            waiting: 0,
            dirty: Vec::new(),
            opening: 0,
            blocked: 0,
            attempts_due: VecDeque::new(),
            streams: Http2Stats::default(),
        }
    }

    /// The connection in a slot, where requests can be sent on it.
    #[inline]
    pub(super) fn open(&mut self, slot: u32) -> Option<&mut Connection<P::Session>> {
        self.pool.at(slot).filter(|connection| connection.phase == Phase::Open)
    }

    /// Another connection to this origin may be opened. Without multiplexing, and where sessions have their own, the driver's
    /// cap is the limit.
    pub(super) fn may_open(&self, origin: u32) -> bool {
        !self.are_shared_out() || (self.of_origins[origin as usize].live.len() as u64) < self.limit
    }

    /// An idle connection that is to be closed before another one is opened: there are as many as there may be.
    pub(super) fn spare(&self) -> Option<u32> {
        let is_full = !P::MULTIPLEXED && self.of_sessions.is_none() && self.pool.open() >= self.limit;
        if is_full { self.pool.spare() } else { None }
    }

    /// How many origins there are.
    pub(super) fn origins(&self) -> u32 {
        self.of_origins.len() as u32
    }

    /// A request waits for room at this origin.
    pub(super) fn wait(&mut self, origin: u32, tag: Tag) {
        self.of_origins[origin as usize].waiting.push_back(tag);
        self.waiting += 1;
    }

    /// The request that has waited longest at this origin.
    pub(super) fn first_waiting(&self, origin: u32) -> Option<Tag> {
        self.of_origins[origin as usize].waiting.front().copied()
    }

    /// A request that waits at this origin waits no more.
    pub(super) fn waits_no_more(&mut self, origin: u32, tag: Tag) {
        let waiting = &mut self.of_origins[origin as usize].waiting;
        let at = waiting.iter().position(|known| *known == tag);
        self.waiting -= u64::from(at.and_then(|at| waiting.remove(at)).is_some());
    }

    /// How many requests wait for room.
    #[inline]
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Somebody waits for the room that the connection in this slot may have.
    pub(super) fn is_waited_for(&self, slot: u32) -> bool {
        self.waiting > 0 && self.first_waiting(self.pool.origin(slot)).is_some()
    }

    /// The request for which the connection in this slot is being opened.
    pub(super) fn opener(&mut self, slot: u32) -> Tag {
        self.pool.get(slot).opener.expect("a connection that is being opened")
    }

    /// Several requests of several users may be in flight on a connection.
    #[inline]
    pub(super) fn are_shared_out(&self) -> bool {
        P::MULTIPLEXED && self.of_sessions.is_none()
    }

    /// The connection that the session of this user has to this origin, where it can take a request.
    fn own(&mut self, user: u32, origin: u32) -> Option<u32> {
        let token = self.of_sessions.as_ref()?.of(user, origin)?;
        let connection = self.pool.find(token)?;
        let is_usable = connection.phase == Phase::Open && connection.session.has_room();
        is_usable.then_some(token.slot())
    }

    /// A connection for the next request of this user to this origin, if it is to use one that is open.
    #[inline]
    pub(super) fn choose(&mut self, user: u32, origin: u32, now: Timestamp) -> Option<u32> {
        if self.of_sessions.is_some() {
            return self.own(user, origin);
        }
        if !P::MULTIPLEXED {
            return self.pool.take_idle(origin);
        }
        if self.may_open(origin) && now >= self.of_origins[origin as usize].opening_rests_until {
            return None;
        }
        for _ in 0..self.of_origins[origin as usize].live.len() {
            let slot = self.of_origins[origin as usize].next();
            if self.open(slot).is_some_and(|connection| connection.session.has_room()) {
                return Some(slot);
            }
        }
        None
    }

    /// Begins to open a connection for a request of this user to this origin, which has these addresses: to the first for
    /// which an attempt can be made. A further one is tried later, at an instant after `now`.
    ///
    /// # Errors
    /// Why no attempt can be made, at the last of them.
    pub(super) fn connect(
        &mut self,
        endpoints: &[Endpoint],
        protocol: &P,
        opener: Tag,
        (user, origin): (u32, u32),
        now: Timestamp,
    ) -> Result<u32, Cause> {
        let (open, ports) = (self.pool.open(), &mut self.ports);
        let mut address = self.of_origins[origin as usize].address;
        let mut race = Race::new(address, endpoints.len() as u32);
        let mut connection = loop {
            let endpoint = &endpoints[address as usize];
            match Connection::open(endpoint, protocol.session(), opener, || ports.pick(open)) {
                Ok(connection) => break connection,
                Err(cause) => address = race.next().filter(|_| may_be_elsewhere(cause)).ok_or(cause)?,
            }
        };
        let has_others = endpoints.len() > 1;
        connection.race = has_others.then(|| Box::new(race.with_own(address)));
        self.opening += 1;
        let token = self.pool.insert(connection, origin);
        if has_others {
            self.attempts_due.push_back((now + ATTEMPT_DELAY, token));
        }
        match &mut self.of_sessions {
            Some(sessions) => sessions.give(user, origin, token),
            None if P::MULTIPLEXED => self.of_origins[origin as usize].live.push(token.slot()),
            None => {}
        }
        Ok(token.slot())
    }

    /// Begins an attempt at the next address of a connection that is being opened, and gives its socket. A further one is
    /// tried later, at an instant after `now`. `None`: there is no other address, or no attempt can be made there.
    pub(super) fn try_next_address(
        &mut self,
        token: Token,
        endpoints: &[Endpoint],
        own_has_failed: bool,
        now: Timestamp,
    ) -> Option<&Socket> {
        let (open, ports) = (self.pool.open(), &mut self.ports);
        let connection = self.pool.find(token).filter(|connection| connection.phase == Phase::Connecting)?;
        self.attempts_due.push_back((now + ATTEMPT_DELAY, token));
        loop {
            let number = connection.race.as_mut()?.next()?;
            if let Ok(socket) = connection::connect(&endpoints[number as usize], || ports.pick(open)) {
                return Some(connection.add_attempt(socket, number, own_has_failed));
            }
        }
    }

    /// When a further address is to be tried for a connection, if nothing comes before.
    #[inline]
    pub(super) fn next_attempt(&self) -> Timestamp {
        self.attempts_due.front().map_or(Timestamp::NEVER, |(due, _)| *due)
    }

    /// A connection for which a further address is to be tried at `now`.
    #[inline]
    pub(super) fn take_attempt(&mut self, now: Timestamp) -> Option<Token> {
        if self.next_attempt() > now {
            return None;
        }
        self.attempts_due.pop_front().map(|(_, token)| token)
    }

    /// Ends the attempts to open the connection in this slot, of which one has succeeded, and gives them. The address of that
    /// one is tried first from now on.
    pub(super) fn end_race(&mut self, slot: u32) -> Option<Box<Race>> {
        let race = self.pool.get(slot).race.take()?;
        self.of_origins[self.pool.origin(slot) as usize].address = race.own();
        Some(race)
    }

    /// A connection to this origin could not be opened, at `now`.
    pub(super) fn opening_failed(&mut self, origin: u32, now: Timestamp) {
        self.of_origins[origin as usize].opening_rests_until = now + REST;
    }

    /// The connection in this slot is there. Gives the request for which it was opened.
    pub(super) fn opened(&mut self, slot: u32) -> Tag {
        self.of_origins[self.pool.origin(slot) as usize].opening_rests_until = Timestamp::ZERO;
        self.opening -= 1;
        let connection = self.pool.get(slot);
        connection.phase = Phase::Open;
        connection.opener.take().expect("a connection that is being opened")
    }

    /// The connection in this slot stopped taking bytes at `since`, unless it had before.
    pub(super) fn block(&mut self, slot: u32, since: Since) {
        let connection = self.pool.get(slot);
        if connection.blocked.is_none() {
            connection.blocked = Some(since);
            self.blocked += 1;
        }
    }

    /// The connection in this slot has taken all that it was to take.
    #[inline]
    pub(super) fn unblock(&mut self, slot: u32) {
        if self.pool.get(slot).blocked.take().is_some() {
            self.blocked -= 1;
        }
    }

    /// One is being opened, or has not taken all that is to be sent: what happens on it is to be noticed at once, for it ends
    /// a time that is measured.
    #[inline]
    pub(super) fn are_watched(&self) -> bool {
        self.opening + self.blocked > 0
    }

    /// A connection takes no new requests any more.
    pub(super) fn retire(&mut self, slot: u32) {
        if self.are_shared_out() {
            self.of_origins[self.pool.origin(slot) as usize].live.retain(|live| *live != slot);
        }
    }

    /// Takes a connection out.
    pub(super) fn remove(&mut self, slot: u32) -> Box<Connection<P::Session>> {
        self.retire(slot);
        let connection = self.pool.remove(slot);
        self.opening -= u32::from(connection.opener.is_some());
        self.blocked -= u32::from(connection.blocked.is_some());
        connection
    }

    /// None that leads to some origin is idle, and an answer may free one: not where the server closes each, nor where they are
    /// multiplexed.
    #[inline]
    pub(super) fn one_may_become_idle(&self) -> bool {
        !P::MULTIPLEXED && self.pool.reuses && self.pool.an_origin_has_no_idle()
    }

    /// Requests that may be in flight at once on all multiplexed connections together. Each that is not open counts as one
    /// request: the one that opens it. With several origins, those that wait at one hold up no other, and count too.
    pub(super) fn capacity(&mut self) -> u64 {
        let unopened = self.of_origins.iter().map(|of| self.limit.saturating_sub(of.live.len() as u64));
        let unopened = unopened.fold(0, u64::saturating_add);
        let allowed = self.pool.iter().filter_map(|connection| connection.session.peer_limit()).min();
        self.streams.allowed = [self.streams.allowed, allowed].into_iter().flatten().min();
        let waiting = if self.of_origins.len() > 1 { self.waiting } else { 0 };
        let open = self.pool.iter().map(|connection| connection.session.capacity());
        open.fold(unopened.saturating_add(waiting), u64::saturating_add)
    }

    /// There may be something to send on the connection in this slot.
    pub(super) fn touch(&mut self, slot: u32) {
        let is_news = |connection: &mut Connection<_>| !std::mem::replace(&mut connection.is_dirty, true);
        if P::MULTIPLEXED && self.open(slot).is_some_and(is_news) {
            self.dirty.push(slot);
        }
    }

    /// The connections on which there may be something to send, once each.
    pub(super) fn take_dirty(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.dirty)
    }

    /// The list that was taken, to be filled again. What became dirty meanwhile stays.
    pub(super) fn restore_dirty(&mut self, mut list: Vec<u32>) {
        list.clear();
        list.append(&mut self.dirty);
        self.dirty = list;
    }
}
