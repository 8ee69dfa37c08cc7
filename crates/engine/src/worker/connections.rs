//! The connections of one worker: the choice of a connection for each request, and limits on their number.

use std::collections::VecDeque;

use socket2::Socket;
use truetail_model::record::Cause;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::Http2Stats;

use crate::connection::{self, ATTEMPT_DELAY, Connection, LocalPorts, Phase, Pool, Race, Token, may_be_elsewhere};
use crate::protocol::{Protocol, Session, Tag};
use crate::target::endpoint::Endpoint;
use crate::worker_instant::WorkerInstant;

use super::session_connections::SessionConnections;

/// After a failed connect, requests use open connections with room rather than a new one for this long.
const REST: Nanos = Nanos::from_secs(1);

/// The connections of one worker. Multiplexed connections to an origin take requests in turn. Of connections that carry
/// one request at a time, the one that became idle last is used first. Sessions with their own use no other.
#[derive(Debug)]
pub(super) struct Connections<P: Protocol> {
    pub(super) pool: Pool<Connection<P::Session>>,
    /// The connections of each session, if sessions have their own.
    pub(super) session_connections: Option<SessionConnections>,
    ports: LocalPorts,
    /// Most connections, or if they are multiplexed, most connections to one origin.
    limit: u64,
    by_origin: Vec<OriginConnections>,
    /// Number of requests that wait for room, at all origins.
    waiting: u64,
    /// True if there may be room for a waiting request.
    may_place: bool,
    /// Connections that may have something to send.
    dirty: Vec<u32>,
    opening: u32,
    /// Number of connections that have not taken all bytes to send.
    blocked: u32,
    /// Connections that are being opened, with the instant to try a further address, earliest first.
    attempts_due: VecDeque<(Timestamp, Token)>,
    pub(super) streams: Http2Stats,
}

#[derive(Clone, Default, Debug)]
struct OriginConnections {
    /// Multiplexed connections that take new requests; `turn` is the index of the one used last.
    live: Vec<u32>,
    turn: usize,
    /// Index of the address that is tried first: the last that was reached.
    address: u32,
    /// A connection could not be opened: until this instant, open connections are preferred.
    opening_rests_until: Timestamp,
    /// Requests without a connection, until there is room for them, oldest first.
    waiting: VecDeque<Tag>,
}

impl OriginConnections {
    /// Returns the next multiplexed connection in turn. At least one must exist.
    fn next(&mut self) -> u32 {
        self.turn = if self.turn + 1 < self.live.len() { self.turn + 1 } else { 0 };
        self.live[self.turn]
    }
}

impl<P: Protocol> Connections<P> {
    /// Creates an empty set for this number of origins. `limit` is the most connections, or if they are multiplexed,
    /// the most to one origin; `None`: each session has its own.
    pub(super) fn new(origins: usize, ports: LocalPorts, limit: Option<u64>) -> Connections<P> {
        Connections {
            pool: Pool::new(origins),
            session_connections: limit.is_none().then(|| SessionConnections::new(origins)),
            ports,
            limit: limit.unwrap_or(u64::MAX),
            by_origin: vec![OriginConnections::default(); origins],
            waiting: 0,
            may_place: false,
            dirty: Vec::new(),
            opening: 0,
            blocked: 0,
            attempts_due: VecDeque::new(),
            streams: Http2Stats::default(),
        }
    }

    #[inline]
    pub(super) fn open(&mut self, slot: u32) -> Option<&mut Connection<P::Session>> {
        self.pool.at(slot).filter(|connection| connection.phase == Phase::Open)
    }

    /// Returns true if another connection to this origin may be opened. Always true unless connections are multiplexed
    /// and shared, because otherwise the driver's cap limits them.
    pub(super) fn may_open(&self, origin: u32) -> bool {
        !self.shares_connections() || (self.by_origin[origin as usize].live.len() as u64) < self.limit
    }

    /// Returns an idle connection that must be closed before another one is opened, because the limit is reached.
    pub(super) fn spare(&self) -> Option<u32> {
        let is_full = !P::MULTIPLEXED && self.session_connections.is_none() && self.pool.open() >= self.limit;
        if is_full { self.pool.spare() } else { None }
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

    pub(super) fn opener(&mut self, slot: u32) -> Tag {
        self.pool.get(slot).opener.expect("a connection that is being opened")
    }

    /// Returns true if requests of several users may be in flight on one connection.
    #[inline]
    pub(super) fn shares_connections(&self) -> bool {
        P::MULTIPLEXED && self.session_connections.is_none()
    }

    /// Returns this user's own connection to this origin, if it can take a request.
    fn session_connection(&mut self, user: u32, origin: u32) -> Option<u32> {
        let token = self.session_connections.as_ref()?.get(user, origin)?;
        let connection = self.pool.find(token)?;
        let is_usable = connection.phase == Phase::Open && connection.session.has_room();
        is_usable.then_some(token.slot())
    }

    /// Returns the open connection for this user's next request to this origin; `None`: open one, or wait.
    #[inline]
    pub(super) fn choose(&mut self, user: u32, origin: u32, now: Timestamp) -> Option<u32> {
        if self.session_connections.is_some() {
            return self.session_connection(user, origin);
        }
        if !P::MULTIPLEXED {
            return self.pool.take_idle(origin);
        }
        if self.may_open(origin) && now >= self.by_origin[origin as usize].opening_rests_until {
            return None;
        }
        for _ in 0..self.by_origin[origin as usize].live.len() {
            let slot = self.by_origin[origin as usize].next();
            if self.open(slot).is_some_and(|connection| connection.session.has_room()) {
                return Some(slot);
            }
        }
        None
    }

    /// Begins to open a connection to this origin for a request of this user. Uses the first of `endpoints` that allows
    /// an attempt, and schedules a further attempt after `now`.
    ///
    /// # Errors
    /// If no attempt can be made: the cause at the last endpoint.
    pub(super) fn connect(
        &mut self,
        endpoints: &[Endpoint],
        protocol: &P,
        opener: Tag,
        (user, origin): (u32, u32),
        now: Timestamp,
    ) -> Result<u32, Cause> {
        let open = self.pool.open();
        let ports = &mut self.ports;
        let mut address = self.by_origin[origin as usize].address;
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
        match &mut self.session_connections {
            Some(sessions) => sessions.assign(user, origin, token),
            None if P::MULTIPLEXED => self.by_origin[origin as usize].live.push(token.slot()),
            None => {}
        }
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
        self.by_origin[origin as usize].opening_rests_until = now + REST;
    }

    /// Marks the connection in this slot as open, and returns the request that opened it.
    pub(super) fn mark_open(&mut self, slot: u32) -> Tag {
        self.by_origin[self.pool.origin(slot) as usize].opening_rests_until = Timestamp::ZERO;
        self.opening -= 1;
        let connection = self.pool.get(slot);
        connection.phase = Phase::Open;
        connection.opener.take().expect("a connection that is being opened")
    }

    /// Records that the connection in this slot takes no bytes since `since`, unless it was blocked before.
    pub(super) fn block(&mut self, slot: u32, since: WorkerInstant) {
        let connection = self.pool.get(slot);
        if connection.blocked.is_none() {
            connection.blocked = Some(since);
            self.blocked += 1;
        }
    }

    #[inline]
    pub(super) fn unblock(&mut self, slot: u32) {
        if self.pool.get(slot).blocked.take().is_some() {
            self.blocked -= 1;
        }
    }

    /// Returns true if a connection is being opened or blocked. The worker must notice at once what happens on it,
    /// because that ends a measured time.
    #[inline]
    pub(super) fn are_watched(&self) -> bool {
        self.opening + self.blocked > 0
    }

    pub(super) fn retire(&mut self, slot: u32) {
        if self.shares_connections() {
            self.by_origin[self.pool.origin(slot) as usize].live.retain(|live| *live != slot);
        }
    }

    pub(super) fn remove(&mut self, slot: u32) -> Box<Connection<P::Session>> {
        self.retire(slot);
        let connection = self.pool.remove(slot);
        self.opening -= u32::from(connection.opener.is_some());
        self.blocked -= u32::from(connection.blocked.is_some());
        connection
    }

    /// Returns true if some origin has no idle connection and an answer may free one. Never true if the server closes
    /// each connection, or if connections are multiplexed.
    #[inline]
    pub(super) fn one_may_become_idle(&self) -> bool {
        !P::MULTIPLEXED && self.pool.reuses && self.pool.an_origin_has_no_idle()
    }

    /// Returns the number of requests that may be in flight at once on all multiplexed connections together. Each
    /// connection that may still be opened counts as one request: the one that opens it. With several origins, waiting
    /// requests count too, so that requests waiting at one origin do not hold up another.
    pub(super) fn capacity(&mut self) -> u64 {
        let unopened = self.by_origin.iter().map(|of| self.limit.saturating_sub(of.live.len() as u64));
        let unopened = unopened.fold(0, u64::saturating_add);
        let allowed = self.pool.iter().filter_map(|connection| connection.session.peer_limit()).min();
        self.streams.allowed = [self.streams.allowed, allowed].into_iter().flatten().min();
        let waiting = if self.by_origin.len() > 1 { self.waiting } else { 0 };
        let open = self.pool.iter().map(|connection| connection.session.capacity());
        open.fold(unopened.saturating_add(waiting), u64::saturating_add)
    }

    pub(super) fn touch(&mut self, slot: u32) {
        let is_news = |connection: &mut Connection<_>| !std::mem::replace(&mut connection.is_dirty, true);
        if P::MULTIPLEXED && self.open(slot).is_some_and(is_news) {
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
