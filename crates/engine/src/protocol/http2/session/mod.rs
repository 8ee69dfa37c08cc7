//! One connection of HTTP/2: its streams, windows and limits.
//!
//! Whatever the peer does is an outcome of the requests that it concerns, and memory stays bounded: a frame is at most
//! 16 KiB, a field block 64 KiB, the dynamic table 4 KiB; bodies are counted and forgotten; of cancelled requests a bounded
//! number is remembered; and a peer that does not take our replies to its own frames is left.

mod control_frames;
mod error;
mod incoming;
mod outbox;
mod outgoing;
mod reassembly;
mod streams;

use std::sync::Arc;

use truetail_model::record::{Cause, Outcome};

use super::field_blocks::{FieldBlocks, TableUse};
use super::frame::{self, code, kind, setting};
use super::source::FieldSource;
use crate::protocol::{Closed, Ended, Event, Events, Flow, Protocol, Retry, Session, Tag};
use crate::target::request_set::RequestId;
use outbox::Outbox;
use reassembly::Reassembly;
use streams::Streams;

/// How much of a body the peer may send before it hears from us: nearly as much as it likes. Bodies are not kept.
const OUR_WINDOW: i64 = 1 << 30;
/// The window of a connection that nobody has changed, and of its streams.
const DEFAULT_WINDOW: i64 = 65_535;
/// No window is larger.
const LARGEST_WINDOW: i64 = (1 << 31) - 1;
/// No stream has a higher number.
const LAST_STREAM: u32 = (1 << 31) - 1;
/// Bytes of replies (to pings, settings and broken streams) that wait to be taken.
const MAX_REPLIES: usize = 256 * 1024;
/// With so many bytes waiting to be taken nothing new is begun: the peer does not read.
const MAX_UNSENT: usize = 1024 * 1024;
/// Largest head that we ask for; what is larger is counted as such.
const OUR_HEAD_LIMIT: u32 = 64 * 1024;

/// HTTP/2, as all connections of a worker speak it.
#[derive(Clone, Debug)]
pub(crate) struct Http2<F = Arc<FieldBlocks>> {
    blocks: F,
    /// Most requests at once on one connection; the server may allow fewer.
    max_streams: u32,
    /// Header fields of answers are kept as text, for an observer.
    keeps_fields: bool,
}

impl<F: FieldSource> Http2<F> {
    pub(crate) fn new(blocks: F, max_streams: Option<u32>, keeps_fields: bool) -> Http2<F> {
        Http2 { blocks, max_streams: max_streams.unwrap_or(u32::MAX), keeps_fields }
    }
}

impl<F: FieldSource> Protocol for Http2<F> {
    type Session = Http2Session;

    const MULTIPLEXED: bool = true;
    const MATCHED_BY_ORDER: bool = false;
    const REQUIRED_ALPN: Option<(&'static [u8], Cause)> = Some((b"h2", Cause::NoHttp2));
    const IS_SCRIPTED: bool = F::IS_MADE_IN_RUN;

    fn session(&self) -> Http2Session {
        Http2Session::new(self.max_streams, self.keeps_fields)
    }

    fn request_of(&mut self, user: u32) -> &mut Vec<u8> {
        self.blocks.request_of(user)
    }
}

/// What the peer allows.
#[derive(Clone, Copy, Debug)]
struct Peer {
    /// Its settings have come.
    known: bool,
    streams: u32,
    window: i64,
    /// It has said that it goes away, and that it processes nothing above this stream.
    last_stream: Option<u32>,
}

/// How our requests use the peer's dynamic table.
#[derive(Clone, Copy, Debug)]
struct Encoding {
    table: TableUse,
    /// The next block begins with word that the table is given up.
    gives_up_table: bool,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Http2Session {
    out: Outbox,
    streams: Streams,
    next: u32,
    max_streams: u32,
    peer: Peer,
    send_window: i64,
    receive_window: i64,
    encoding: Encoding,
    incoming: Reassembly,
    /// How many requests may be in flight has changed, and no event said so yet.
    room_changed: bool,
    is_closed: bool,
}

impl Http2Session {
    /// A connection on which nothing was said yet. There will be at most `max_streams` requests at once on it, or fewer if
    /// the peer says so. `keeps_fields`: header fields of answers are kept as text.
    fn new(max_streams: u32, keeps_fields: bool) -> Http2Session {
        let mut session = Http2Session {
            out: Outbox::new(),
            streams: Streams::default(),
            next: 1,
            max_streams,
            peer: Peer { known: false, streams: u32::MAX, window: DEFAULT_WINDOW, last_stream: None },
            send_window: DEFAULT_WINDOW,
            receive_window: OUR_WINDOW,
            encoding: Encoding { table: TableUse::Insert, gives_up_table: false },
            incoming: Reassembly::new(keeps_fields),
            room_changed: false,
            is_closed: false,
        };
        session.put_preface();
        session
    }

    fn put_preface(&mut self) {
        let out = &mut self.out.bytes;
        out.extend_from_slice(frame::PREFACE);
        let settings = [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, OUR_WINDOW as u32),
            (setting::MAX_HEADER_LIST_SIZE, OUR_HEAD_LIMIT),
        ];
        let payload: Vec<u8> = settings
            .iter()
            .flat_map(|(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat())
            .collect();
        frame::put(out, kind::SETTINGS, 0, 0, &payload);
        frame::put_number(out, kind::WINDOW_UPDATE, 0, (OUR_WINDOW - DEFAULT_WINDOW) as u32);
    }

    /// Nothing begins now: a request that ends leaves no room for another.
    fn is_full(&self) -> bool {
        self.is_closing() || self.is_backed_up()
    }

    /// The peer does not read: so much waits for it that nothing is put behind it.
    fn is_backed_up(&self) -> bool {
        self.out.pending().len() >= MAX_UNSENT
    }

    /// How many bytes of bodies the peer takes on the connection, beside those that wait to be taken.
    pub(super) fn send_window(&self) -> i64 {
        self.send_window
    }

    /// Bytes that are kept: parts of frames and of blocks, and what waits to be taken.
    pub(super) fn held(&self) -> usize {
        self.incoming.held() + self.out.bytes.capacity()
    }

    /// Says as events what has changed for requests to come.
    fn report(&mut self, events: &mut Events) {
        if std::mem::take(&mut self.room_changed) {
            events.push(Event::RoomChanged);
        }
    }

    /// Ends every request. What had not begun to be answered was reset, for `cause`; what had begun is malformed. `blamed`
    /// is the stream that broke the rules. `are_retried`: what was not sent may be sent elsewhere.
    fn end_all(&mut self, cause: Cause, blamed: u32, are_retried: bool, events: &mut Events) {
        let (told_to_go, taken) = (self.peer.last_stream.is_some(), self.out.taken());
        for (id, stream) in self.streams.take_all() {
            let has_begun = stream.received > 0 || id == blamed;
            let outcome = match cause {
                Cause::ClosedBeforeAnswer | Cause::ResetByPeer if has_begun => Outcome::Malformed(Cause::Truncated),
                Cause::ClosedBeforeAnswer | Cause::ResetByPeer if told_to_go => Outcome::Reset(Cause::GoneAway),
                cause if has_begun => Outcome::Malformed(cause),
                cause => Outcome::Reset(cause),
            };
            let retry = if are_retried && stream.begins_at >= taken { Retry::Unsent } else { Retry::No };
            events.end(Ended { retry, ..Ended::new(stream.tag, outcome, stream.received) });
        }
        self.is_closed = true;
        events.push(Event::GoingAway);
    }

    fn put_goaway(&mut self, code: u32) {
        // We process no stream of the peer's, and so the last one is 0.
        frame::put(&mut self.out.bytes, kind::GOAWAY, 0, 0, &[[0; 4], code.to_be_bytes()].concat());
    }
}

/// What it is asked whichever requests it carries.
impl Http2Session {
    fn take_bytes(&mut self, bytes: &[u8], events: &mut Events) -> Flow {
        let received = self.receive_frames(bytes, events);
        self.report(events);
        match received {
            Ok(()) => Flow::Continue,
            Err(error) => {
                self.end_all(error.cause, error.stream, false, events);
                self.put_goaway(error.code);
                Flow::Close(error.cause)
            }
        }
    }

    fn closed(&mut self, how: Closed, events: &mut Events) {
        let cause = match how {
            Closed::EndOfStream { .. } => Cause::ClosedBeforeAnswer,
            Closed::Reset => Cause::ResetByPeer,
            Closed::Tls { .. } => Cause::TlsBroken,
        };
        self.end_all(cause, 0, true, events);
    }

    fn cancel(&mut self, key: u32, events: &mut Events) -> u64 {
        let received = self.reset(key, code::CANCEL).map_or(0, |stream| stream.received);
        self.report(events);
        received
    }

    #[inline]
    fn has_room(&self) -> bool {
        !self.is_full() && (self.in_flight() as u64) < self.capacity()
    }

    /// One until the peer has said how many it allows; those in flight, once it takes no more or does not read.
    fn capacity(&self) -> u64 {
        if self.is_full() {
            return self.in_flight() as u64;
        }
        let allowed = if self.peer.known { self.peer.streams } else { 1 };
        u64::from(self.max_streams.min(allowed))
    }

    #[inline]
    pub(super) fn in_flight(&self) -> usize {
        self.streams.len()
    }

    /// The peer has said that it goes away, or the numbers for streams are used up.
    #[inline]
    fn is_closing(&self) -> bool {
        self.is_closed || self.peer.last_stream.is_some() || self.next > LAST_STREAM
    }
}

impl<F: FieldSource> Session<Http2<F>> for Http2Session {
    fn begin(&mut self, protocol: &Http2<F>, tag: Tag, request: RequestId, events: &mut Events) -> u32 {
        let id = self.open(protocol, tag, request);
        self.report(events);
        id
    }

    fn output<'a>(&'a self, _: &'a Http2<F>) -> &'a [u8] {
        self.out.pending()
    }

    fn sent(&mut self, protocol: &Http2<F>, count: usize, events: &mut Events) {
        let was_backed_up = self.is_backed_up();
        self.out.take(count);
        self.streams.sent_up_to(self.out.taken(), events);
        if self.out.pending().is_empty() {
            self.continue_bodies(protocol);
        }
        self.room_changed |= was_backed_up && !self.is_backed_up();
        self.report(events);
    }

    fn receive(&mut self, _: &mut Http2<F>, bytes: &[u8], events: &mut Events) -> Flow {
        self.take_bytes(bytes, events)
    }

    fn closed(&mut self, how: Closed, events: &mut Events) {
        Http2Session::closed(self, how, events);
    }

    fn cancel(&mut self, key: u32, events: &mut Events) -> u64 {
        Http2Session::cancel(self, key, events)
    }

    fn say_goodbye(&mut self) {
        if !self.is_closed {
            self.put_goaway(code::NO_ERROR);
        }
    }

    fn has_room(&self) -> bool {
        Http2Session::has_room(self)
    }

    fn capacity(&self) -> u64 {
        Http2Session::capacity(self)
    }

    fn peer_limit(&self) -> Option<u32> {
        (self.peer.streams < u32::MAX).then_some(self.peer.streams)
    }

    fn in_flight(&self) -> usize {
        Http2Session::in_flight(self)
    }

    fn is_closing(&self) -> bool {
        Http2Session::is_closing(self)
    }
}

#[cfg(test)]
mod tests;
