//! One HTTP/2 connection: its streams, windows and limits.
//!
//! Every action of the peer is an outcome of the requests that it affects, and memory stays bounded. A frame is at most
//! 16 KiB, a field block 64 KiB, and the dynamic table 4 KiB. Bodies are counted and dropped. A bounded number of
//! cancelled requests is remembered. If a peer does not take our replies to its own frames, the connection is closed.

mod channel_stream;
mod control_frames;
mod error;
mod incoming;
mod outbox;
mod outgoing;
mod reassembly;
mod streams;

use std::sync::Arc;

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;
use truetail_model::trace::TraceIds;
use truetail_run::GrpcConfig;

use super::field_blocks::{FieldBlocks, TableUse};
use super::frame::{self, code, kind, setting};
use super::source::FieldSource;
use crate::protocol::{Beginning, Closed, Conversation, Ended, Event, Events, Flow, Protocol, Retry};
use crate::target::request_parts::RequestParts;
use outbox::Outbox;
use reassembly::Reassembly;
use streams::Streams;

pub(crate) use channel_stream::{ChannelStream, StreamEnd};

/// Receive window of a connection and of each stream. It is large, because bodies are not kept.
const OUR_WINDOW: i64 = 1 << 30;
/// Default window of a connection and of its streams.
const DEFAULT_WINDOW: i64 = 65_535;
const LARGEST_WINDOW: i64 = (1 << 31) - 1;
const LAST_STREAM: u32 = (1 << 31) - 1;
/// Limit on the bytes of replies (to pings, settings and broken streams) that wait to be taken.
const MAX_REPLIES: usize = 256 * 1024;
/// With this many bytes waiting to be taken, no request begins, because the peer does not read.
const MAX_UNSENT: usize = 1024 * 1024;
/// Largest head that we announce to accept. A larger one is reported as too large.
const OUR_HEAD_LIMIT: u32 = 64 * 1024;

#[derive(Clone, Debug)]
pub(crate) struct Http2<F = Arc<FieldBlocks>> {
    blocks: F,
    /// Limit on the requests at once on one connection; the server may allow fewer.
    max_streams: u32,
    /// Keep header fields of answers as text, for an observer.
    keeps_fields: bool,
    /// Ids that requests get when they begin.
    trace_ids: Option<TraceIds>,
    /// The requests are such gRPC calls.
    calls: Option<GrpcConfig>,
}

impl<F: FieldSource> Http2<F> {
    pub(crate) fn new(blocks: F, max_streams: Option<u32>, keeps_fields: bool) -> Http2<F> {
        Http2 { blocks, max_streams: max_streams.unwrap_or(u32::MAX), keeps_fields, calls: None, trace_ids: None }
    }

    pub(crate) fn traced(self, trace_ids: Option<TraceIds>) -> Http2<F> {
        Http2 { trace_ids, ..self }
    }

    pub(crate) fn for_calls(self, calls: Option<GrpcConfig>) -> Http2<F> {
        Http2 { calls, ..self }
    }
}

impl<F: FieldSource> Protocol for Http2<F> {
    type Conversation = Http2Conversation;

    fn carries_several(&self) -> bool {
        true
    }

    fn hears_only_answers(&self) -> bool {
        false
    }

    fn has_streams(&self) -> bool {
        true
    }

    fn required_alpn(&self) -> Option<(&'static [u8], Cause)> {
        Some((b"h2", Cause::NoHttp2))
    }

    fn conversation(&self) -> Http2Conversation {
        Http2Conversation { calls: self.calls, ..Http2Conversation::new(self.max_streams, self.keeps_fields) }
    }

    fn request_of(&mut self, row: u32) -> &mut RequestParts {
        self.blocks.request_of(row)
    }
}

#[derive(Clone, Copy, Debug)]
struct Peer {
    /// True once the peer's settings have arrived.
    known: bool,
    /// True if the peer accepts requests for other protocols on streams (RFC 8441).
    accepts_connect: bool,
    streams: u32,
    window: i64,
    /// After a GOAWAY: the last stream that the peer processes.
    last_stream: Option<u32>,
}

/// Use of the peer's dynamic table by our requests.
#[derive(Clone, Copy, Debug)]
struct Encoding {
    table: TableUse,
    /// True if the next block must begin by resizing the table to zero.
    gives_up_table: bool,
}

#[derive(Debug)]
pub(crate) struct Http2Conversation {
    out: Outbox,
    streams: Streams,
    next: u32,
    max_streams: u32,
    peer: Peer,
    send_window: i64,
    receive_window: i64,
    encoding: Encoding,
    incoming: Reassembly,
    calls: Option<GrpcConfig>,
    /// True if the capacity has changed and no event has reported it yet.
    room_changed: bool,
    is_closed: bool,
}

impl Http2Conversation {
    /// Creates a conversation on a new connection. At most `max_streams` requests are in flight at once, or fewer if
    /// the peer says so. `keeps_fields`: keep header fields of answers as text.
    fn new(max_streams: u32, keeps_fields: bool) -> Http2Conversation {
        let mut conversation = Http2Conversation {
            out: Outbox::new(),
            streams: Streams::default(),
            next: 1,
            max_streams,
            peer: Peer {
                known: false,
                accepts_connect: false,
                streams: u32::MAX,
                window: DEFAULT_WINDOW,
                last_stream: None,
            },
            send_window: DEFAULT_WINDOW,
            receive_window: OUR_WINDOW,
            encoding: Encoding { table: TableUse::Insert, gives_up_table: false },
            incoming: Reassembly::new(keeps_fields),
            calls: None,
            room_changed: false,
            is_closed: false,
        };
        conversation.put_preface();
        conversation
    }

    /// Takes what follows for answers to such calls.
    pub(super) fn expect_calls(&mut self, calls: GrpcConfig) {
        self.calls = Some(calls);
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

    /// Returns true if no request may begin, so that a request that ends leaves no room for another.
    fn is_full(&self) -> bool {
        self.is_closing() || self.is_backed_up()
    }

    /// Returns true if the peer does not read: pending output has reached its limit.
    fn is_backed_up(&self) -> bool {
        self.out.pending().len() >= MAX_UNSENT
    }

    /// Returns the number of body bytes that the peer still accepts on the connection, besides pending output.
    pub(super) fn send_window(&self) -> i64 {
        self.send_window
    }

    /// Returns the number of buffered bytes: partial frames and blocks, and output.
    pub(super) fn held(&self) -> usize {
        self.incoming.held() + self.out.bytes.capacity()
    }

    fn report(&mut self, events: &mut Events) {
        if std::mem::take(&mut self.room_changed) {
            events.push(Event::RoomChanged);
        }
    }

    /// Ends every request. Requests without an answer yet are reset for `cause`; requests whose answer has begun are
    /// malformed. `blamed` is the stream that broke the rules. `are_retried`: unsent requests may be sent elsewhere.
    fn end_all(&mut self, cause: Cause, blamed: u32, are_retried: bool, events: &mut Events) {
        let told_to_go = self.peer.last_stream.is_some();
        let taken = self.out.taken();
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
        // The last processed stream is 0, because we process no streams of the peer.
        frame::put(&mut self.out.bytes, kind::GOAWAY, 0, 0, &[[0; 4], code.to_be_bytes()].concat());
    }
}

/// Methods that do not depend on the source of the requests.
impl Http2Conversation {
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

    /// Returns the capacity: 1 until the peer has stated its limit, and the requests in flight if no more may begin.
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

    /// Returns true if the peer has said that it goes away, or if the stream numbers are used up.
    #[inline]
    fn is_closing(&self) -> bool {
        self.is_closed || self.peer.last_stream.is_some() || self.next > LAST_STREAM
    }
}

impl<F: FieldSource> Conversation<Http2<F>> for Http2Conversation {
    fn begin(&mut self, protocol: &Http2<F>, begins: Beginning, events: &mut Events) -> u32 {
        let id = self.open(protocol, begins);
        self.report(events);
        id
    }

    fn output<'a>(&'a self, _: &'a Http2<F>) -> &'a [u8] {
        self.out.pending()
    }

    fn sent(&mut self, protocol: &Http2<F>, count: usize, _: Timestamp, events: &mut Events) {
        let was_backed_up = self.is_backed_up();
        self.out.take(count);
        self.streams.sent_up_to(self.out.taken(), events);
        if self.out.pending().is_empty() {
            self.continue_bodies(protocol);
        }
        self.room_changed |= was_backed_up && !self.is_backed_up();
        self.report(events);
    }

    fn receive(&mut self, _: &mut Http2<F>, bytes: &[u8], _: Timestamp, events: &mut Events) -> Flow {
        self.take_bytes(bytes, events)
    }

    #[inline]
    fn next_deadline(&self) -> Timestamp {
        self.streams.next_due()
    }

    fn on_deadline(&mut self, protocol: &mut Http2<F>, now: Timestamp, events: &mut Events) -> Flow {
        self.send_due_messages(protocol, now, events);
        Flow::Continue
    }

    fn close(&mut self, how: Closed, events: &mut Events) {
        Http2Conversation::closed(self, how, events);
    }

    fn cancel(&mut self, key: u32, events: &mut Events) -> u64 {
        Http2Conversation::cancel(self, key, events)
    }

    fn answers_in_order(&self) -> bool {
        false
    }

    #[inline]
    fn may_send(&self) -> bool {
        !self.out.pending().is_empty() || !self.streams.waiting.is_empty()
    }

    fn say_goodbye(&mut self, _: &mut Events) {
        if !self.is_closed {
            self.put_goaway(code::NO_ERROR);
        }
    }

    fn has_room(&self) -> bool {
        Http2Conversation::has_room(self)
    }

    fn capacity(&self) -> u64 {
        Http2Conversation::capacity(self)
    }

    fn peer_limit(&self) -> Option<u32> {
        (self.peer.streams < u32::MAX).then_some(self.peer.streams)
    }

    fn in_flight(&self) -> usize {
        Http2Conversation::in_flight(self)
    }

    fn is_closing(&self) -> bool {
        Http2Conversation::is_closing(self)
    }
}

#[cfg(test)]
mod tests;
