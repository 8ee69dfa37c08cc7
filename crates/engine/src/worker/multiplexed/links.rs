//! The connections of a worker that carry many requests at once, and these requests.

use std::collections::VecDeque;
use std::sync::Arc;

use truetail_model::time::Timestamp;
use truetail_run::Http2Stats;

use crate::connection::{Connection, Exchange, Phase};
use crate::http2::{Blocks, Ended, Session};
use crate::pool::Pool;

/// What a worker that speaks HTTP/2 needs to know.
#[derive(Clone, Debug)]
pub(crate) struct Multiplexing {
    pub(crate) blocks: Arc<Blocks>,
    /// Most requests at once on one connection.
    pub(crate) most_streams: u32,
    /// Most connections of this worker.
    pub(crate) connections: u64,
}

/// A request of which the transport has not taken a byte.
#[derive(Clone, Copy, Debug)]
struct Unsent {
    /// Where among all bytes of the connection it begins.
    at: u64,
    request: u32,
    /// Its number on the connection, for its slot may have been given to another request meanwhile.
    id: u32,
}

/// A connection and what is said on it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(super) connection: Connection,
    pub(super) session: Session,
    /// The request for which it was opened, until it is there.
    pub(super) opener: Option<u32>,
    /// Requests of which the transport has not taken a byte yet.
    unsent: VecDeque<Unsent>,
    /// There may be something to send.
    pub(super) is_dirty: bool,
    /// It takes one of the places for connections, and new requests.
    pub(super) is_live: bool,
}

impl Link {
    pub(super) fn new(connection: Connection, opener: u32, most_streams: u32) -> Link {
        let session = Session::new(most_streams);
        Link { connection, session, opener: Some(opener), unsent: VecDeque::new(), is_dirty: false, is_live: true }
    }

    fn has_room(&self) -> bool {
        self.connection.phase == Phase::Busy && self.session.has_room()
    }
}

/// A request that was begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) exchange: Exchange,
    /// The slot of its connection.
    pub(super) link: u32,
    /// Its number on it; 0 while the connection is being opened.
    pub(super) id: u32,
}

/// All connections of a worker, and the requests on them, each by a slot of its own.
#[derive(Debug)]
pub(crate) struct Links {
    pub(super) how: Multiplexing,
    pub(crate) pool: Pool<Link>,
    /// Slots of connections that take new requests.
    live: Vec<u32>,
    /// Whose turn it is among these.
    turn: usize,
    /// Requests that were begun.
    streams: Vec<Option<Stream>>,
    vacant: Vec<u32>,
    /// Requests whose connection was lost before they were sent, until there is room on another.
    pub(super) homeless: VecDeque<u32>,
    /// Slots of connections that may have something to send.
    pub(super) dirty: Vec<u32>,
    /// No connection could be opened: until then others are preferred.
    pub(super) opening_rests: Option<Timestamp>,
    /// What is to be said of all requests together.
    seen: Http2Stats,
    /// What ended by the last read; kept for its room.
    pub(super) ended: Vec<Ended>,
}

impl Links {
    pub(crate) fn new(how: Multiplexing) -> Links {
        Links {
            how,
            pool: Pool::default(),
            live: Vec::new(),
            turn: 0,
            streams: Vec::new(),
            vacant: Vec::new(),
            homeless: VecDeque::new(),
            dirty: Vec::new(),
            opening_rests: None,
            seen: Http2Stats::default(),
            ended: Vec::new(),
        }
    }

    /// Another connection may be opened.
    pub(super) fn may_open(&self) -> bool {
        (self.live.len() as u64) < self.how.connections
    }

    /// A connection for the next request: each in turn, among those that have room.
    pub(super) fn choose(&mut self) -> Option<u32> {
        for _ in 0..self.live.len() {
            self.turn = if self.turn + 1 < self.live.len() { self.turn + 1 } else { 0 };
            let slot = self.live[self.turn];
            if self.pool.get(slot).has_room() {
                return Some(slot);
            }
        }
        None
    }

    pub(super) fn insert(&mut self, link: Link) -> u32 {
        let slot = self.pool.insert(link).slot();
        self.live.push(slot);
        slot
    }

    /// Takes no new requests any more.
    pub(super) fn retire(&mut self, slot: u32) {
        let link = self.pool.get(slot);
        if std::mem::take(&mut link.is_live) {
            self.live.retain(|live| *live != slot);
        }
    }

    /// Takes a connection out.
    pub(super) fn remove(&mut self, slot: u32) -> Box<Link> {
        self.retire(slot);
        self.pool.remove(slot)
    }

    /// What is to be said of all requests together.
    pub(crate) fn seen(&self) -> Http2Stats {
        self.seen
    }

    /// Requests that may be in flight at once, all connections together; each that is not open counts as one request, the
    /// one that opens it.
    pub(super) fn capacity(&mut self) -> u64 {
        let unopened = self.how.connections.saturating_sub(self.live.len() as u64);
        let allowed = self.pool.iter().filter_map(|link| link.session.allowed()).min();
        self.seen.allowed = [self.seen.allowed, allowed].into_iter().flatten().min();
        self.pool.iter().map(|link| link.session.capacity()).fold(unopened, u64::saturating_add)
    }

    /// Takes a request from its connection; another is to be found for it.
    pub(super) fn make_homeless(&mut self, request: u32) {
        let stream = self.stream(request);
        (stream.link, stream.id) = (super::NOWHERE, 0);
        self.homeless.push_back(request);
    }

    pub(super) fn begin(&mut self, stream: Stream) -> u32 {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.streams.push(None);
            (self.streams.len() - 1) as u32
        });
        self.streams[slot as usize] = Some(stream);
        self.seen.peak = self.seen.peak.max((self.streams.len() - self.vacant.len()) as u64);
        slot
    }

    /// The request in a slot that is known to be taken.
    pub(super) fn stream(&mut self, slot: u32) -> &mut Stream {
        self.streams[slot as usize].as_mut().expect("a request that was begun")
    }

    pub(super) fn end(&mut self, slot: u32) -> Stream {
        self.vacant.push(slot);
        self.streams[slot as usize].take().expect("a request that was begun")
    }

    /// There is a request in this slot.
    pub(super) fn is_begun(&self, slot: u32) -> bool {
        self.streams[slot as usize].is_some()
    }

    /// There is a request in this slot, and it has lost its connection.
    pub(super) fn is_homeless(&self, slot: u32) -> bool {
        self.streams[slot as usize].is_some_and(|stream| stream.link == super::NOWHERE)
    }

    /// The slots of all requests that have not ended.
    pub(super) fn begun(&self) -> Vec<u32> {
        (0..self.streams.len() as u32).filter(|slot| self.is_begun(*slot)).collect()
    }

    /// Puts a request among what is to be sent on a connection.
    pub(super) fn open(&mut self, request: u32, link: u32) {
        let which = self.stream(request).exchange.which;
        let connection = self.pool.get(link);
        let (id, at) = connection.session.open(request, self.how.blocks.get(which));
        connection.unsent.push_back(Unsent { at, request, id });
        let stream = self.stream(request);
        (stream.link, stream.id) = (link, id);
        self.touch(link);
    }

    /// The transport took all bytes of a connection before `taken`: the next request of which it took the first, if there
    /// is one that has not ended.
    pub(super) fn next_sent(&mut self, link: u32, taken: u64) -> Option<&mut Stream> {
        loop {
            let unsent = &mut self.pool.get(link).unsent;
            let Unsent { request, id, .. } = *unsent.front().filter(|unsent| unsent.at < taken)?;
            unsent.pop_front();
            if self.streams[request as usize].is_some_and(|stream| (stream.link, stream.id) == (link, id)) {
                return self.streams[request as usize].as_mut();
            }
        }
    }

    /// The transport has taken nothing of this request.
    pub(super) fn is_unsent(&mut self, request: u32) -> bool {
        let Stream { link, id, .. } = *self.stream(request);
        // Numbers ascend.
        self.pool.get(link).unsent.binary_search_by_key(&id, |unsent| unsent.id).is_ok()
    }

    /// The transport has taken nothing of this request, and it has not opened a connection of its own before.
    pub(super) fn may_go_elsewhere(&mut self, request: u32) -> bool {
        self.is_unsent(request) && !self.has_opened(request)
    }

    /// The server has not taken up this request, and it has not opened a connection of its own before. Counts it, if it was
    /// sent.
    pub(super) fn may_be_asked_again(&mut self, request: u32) -> bool {
        let may = !self.has_opened(request);
        self.seen.sent_again += u64::from(may && !self.is_unsent(request));
        may
    }

    /// One that has opened a connection opens no other: a server that goes away from each costs a request each time, and is
    /// not asked for ever.
    fn has_opened(&mut self, request: u32) -> bool {
        self.stream(request).exchange.connect.is_some()
    }

    /// Goes on with bodies that waited for a window or for room.
    pub(super) fn go_on_with_bodies(&mut self, link: u32) {
        let (blocks, streams) = (&self.how.blocks, &self.streams);
        let body = |request: u32| {
            streams[request as usize].as_ref().map_or(&[][..], |stream| blocks.get(stream.exchange.which).body)
        };
        self.pool.get(link).session.go_on_with_bodies(body);
    }

    /// There may be something to send on the connection in this slot.
    pub(super) fn touch(&mut self, slot: u32) {
        if !std::mem::replace(&mut self.pool.get(slot).is_dirty, true) {
            self.dirty.push(slot);
        }
    }
}
