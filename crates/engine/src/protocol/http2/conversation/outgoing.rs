//! Frames that a conversation sends: requests, bodies, resets.

use memchr::memmem;
use truetail_model::record::Cause;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::trace::TraceIds;

use super::error::ConnectionError;
use super::streams::{AnswerState, Stream};
use super::{Http2, Http2Conversation, MAX_REPLIES, OUR_WINDOW};
use crate::protocol::http2::call::end_of_message;
use crate::protocol::http2::frame::{self, FrameHeader, LONGEST, code, flag, kind};
use crate::protocol::http2::source::{FieldSource, RequestBlock};
use crate::protocol::{Beginning, Event, Events, Tag};
use crate::target::request_set::RequestId;

/// Limit of pending bytes for adding a body. The rest of the body follows when they are gone.
const BODIES_AHEAD: usize = 128 * 1024;

/// Writes the trace id of an arrival over the placeholder in a field block, which has it as a plain literal.
fn write_trace_id(ids: TraceIds, index: u64, block: &mut [u8]) {
    let placeholder = ids.format().placeholder();
    if let Some(at) = memmem::find(block, placeholder.as_bytes()) {
        ids.write(index, &mut block[at..at + placeholder.len()]);
    }
}

impl Http2Conversation {
    pub(super) fn open<F: FieldSource>(&mut self, protocol: &Http2<F>, begins: Beginning) -> u32 {
        let Beginning { tag, request, .. } = begins;
        let id = self.next;
        let block = protocol.blocks.get(request);
        let body = block.body();
        let message_gap = self.message_gap();
        let due = if message_gap.is_some() { end_of_message(body, 0) } else { body.len() };
        self.next += 2;
        let stream = Stream {
            body_left: body.len(),
            held_back: body.len() - due,
            paced_from: (due < body.len()).then_some(begins.now),
            answer: AnswerState { to_head_request: block.is_head_request(), ..AnswerState::default() },
            ..self.new_stream(tag, request)
        };
        self.streams.insert(id, stream);
        self.put_fields(id, block, body.is_empty(), protocol.trace_ids.map(|ids| (ids, begins.arrival.index)));
        if !body.is_empty() && !self.put_body(id, body) {
            self.streams.waiting.push(id);
        }
        if let Some(gap) = message_gap.filter(|_| due < body.len()) {
            self.streams.pace(begins.arrival.intended_start + gap, id);
        }
        self.room_changed |= self.is_full();
        id
    }

    /// Returns a stream whose request begins with the next byte of the output.
    fn new_stream(&self, tag: Tag, request: RequestId) -> Stream {
        Stream {
            tag,
            request,
            begins_at: self.out.end(),
            send_window: self.peer.window,
            body_left: 0,
            held_back: 0,
            paced_from: None,
            receive_window: OUR_WINDOW,
            received: 0,
            answer: AnswerState::default(),
        }
    }

    /// Opens a request without an end to its body, whose bytes [`Http2Conversation::put_content`] appends.
    pub(super) fn open_endless<'a>(&mut self, tag: Tag, request: RequestId, block: impl RequestBlock<'a>) -> u32 {
        let id = self.next;
        self.next += 2;
        let stream = Stream { body_left: usize::MAX, held_back: usize::MAX, ..self.new_stream(tag, request) };
        self.streams.insert(id, stream);
        self.put_fields(id, block, false, None);
        id
    }

    /// Appends a HEADERS frame, and CONTINUATION frames if the block exceeds one frame. `is_all`: no body follows.
    /// `trace` is the index of the arrival, if requests have trace ids.
    fn put_fields<'a>(&mut self, id: u32, block: impl RequestBlock<'a>, is_all: bool, trace: Option<(TraceIds, u64)>) {
        let out = &mut self.out.bytes;
        let begin = out.len();
        let ends = if is_all { flag::END_STREAM } else { 0 };
        FrameHeader { length: 0, kind: kind::HEADERS, flags: ends | flag::END_HEADERS, stream: id }.put(out);
        if std::mem::take(&mut self.encoding.gives_up_table) {
            out.push(0x20);
        }
        self.encoding.table = block.put(self.encoding.table, out);
        if let Some((ids, index)) = trace {
            write_trace_id(ids, index, &mut out[begin..]);
        }
        let length = out.len() - begin - frame::HEAD;
        if length <= LONGEST {
            let [_, a, b, c] = (length as u32).to_be_bytes();
            return out[begin..begin + 3].copy_from_slice(&[a, b, c]);
        }
        split_fields(out, id, begin, ends);
    }

    /// Appends as much of a body as may be sent now. Returns true if nothing that is due is left, or the stream is
    /// closed.
    fn put_body(&mut self, id: u32, body: &[u8]) -> bool {
        loop {
            let room = self.room();
            let Some(stream) = self.streams.get(id) else { return true };
            let due = stream.body_left - stream.held_back;
            let length = stream.use_window(due.min(room));
            if length == 0 {
                return due == 0;
            }
            let at = body.len() - stream.body_left;
            stream.body_left -= length;
            let is_last = stream.body_left == 0;
            let ends = if is_last { flag::END_STREAM } else { 0 };
            self.put_data(id, ends, &body[at..at + length]);
            if is_last {
                self.streams.ends_at(id, self.out.end());
            }
        }
    }

    /// Returns the number of bytes that a DATA frame may have now, besides the window of its stream.
    fn room(&self) -> usize {
        let ahead = BODIES_AHEAD.saturating_sub(self.out.pending().len());
        (self.send_window.clamp(0, LONGEST as i64) as usize).min(ahead)
    }

    fn put_data(&mut self, id: u32, flags: u8, bytes: &[u8]) {
        self.send_window -= bytes.len() as i64;
        frame::put(&mut self.out.bytes, kind::DATA, flags, id, bytes);
    }

    /// Appends a DATA frame with as many of these bytes as may be sent now. Returns their number, and the position of
    /// the first in the output of the connection; `None` if nothing may be sent.
    pub(super) fn put_content(&mut self, id: u32, bytes: &[u8]) -> Option<(usize, u64)> {
        let wanted = self.room().min(bytes.len());
        let length = self.streams.get(id)?.use_window(wanted);
        if length == 0 {
            return None;
        }
        let at = self.out.end() + frame::HEAD as u64;
        self.put_data(id, 0, &bytes[..length]);
        Some((length, at))
    }

    /// Ends the body of a request without an end.
    pub(super) fn end_content(&mut self, id: u32) {
        self.put_data(id, flag::END_STREAM, &[]);
    }

    pub(super) fn continue_bodies<F: FieldSource>(&mut self, protocol: &Http2<F>) {
        if self.streams.waiting.is_empty() {
            return;
        }
        let mut waiting = std::mem::take(&mut self.streams.waiting);
        waiting.retain(|id| match self.streams.get(*id).map(|stream| stream.request) {
            Some(request) => !self.put_body(*id, protocol.blocks.get(request).body()),
            None => false,
        });
        self.streams.waiting = waiting;
    }

    fn message_gap(&self) -> Option<Nanos> {
        self.calls.and_then(|calls| calls.message_gap_ns).map(Nanos)
    }

    /// Sends the messages that are due at `now`. Each is due one gap after the one before it.
    pub(super) fn send_due_messages<F: FieldSource>(
        &mut self,
        protocol: &Http2<F>,
        now: Timestamp,
        events: &mut Events,
    ) {
        let Some(gap) = self.message_gap() else { return };
        while let Some((due, id)) = self.streams.take_due(now) {
            let Some(stream) = self.streams.get(id) else { continue };
            let body = protocol.blocks.get(stream.request).body();
            // Whatever is due and not in the output waits for a window or for room.
            let waits = stream.body_left > stream.held_back;
            stream.held_back = body.len() - end_of_message(body, body.len() - stream.held_back);
            // A call cannot send before it begins, and how late it began is known.
            let late = now.since(stream.paced_from.map_or(due, |began| began.max(due)));
            events.push(Event::Late(stream.tag, late));
            if stream.held_back > 0 {
                self.streams.pace(due + gap, id);
            }
            if !self.put_body(id, body) && !waits {
                self.streams.waiting.push(id);
            }
        }
    }

    /// Closes a stream and tells the peer. Later frames on it are ignored.
    pub(super) fn reset(&mut self, id: u32, code: u32) -> Option<Stream> {
        let stream = self.streams.cancel(id)?;
        self.room_changed |= self.is_full();
        frame::put_number(&mut self.out.bytes, kind::RST_STREAM, id, code);
        Some(stream)
    }

    /// Takes back the frames of unsent streams above `last`, and the connection window that their bodies used. The peer
    /// can decode the remaining field blocks without them: all later blocks are above `last` too, and no further stream
    /// is opened.
    pub(super) fn take_back(&mut self, last: u32) {
        let Some(first) = self.streams.first_unsent(last, self.out.taken()) else { return };
        let behind = self.out.split_off(first);
        self.streams.forget_ends_after(first);
        let mut rest = &behind[..];
        while let Some(head) = FrameHeader::read(rest) {
            let (frame, after) = rest.split_at(frame::HEAD + head.length);
            // The rest of a body above `last` is dropped too, because the peer resets its stream.
            if head.stream <= last {
                self.out.bytes.extend_from_slice(frame);
                if head.kind == kind::DATA && head.has(flag::END_STREAM) {
                    self.streams.ends_at(head.stream, self.out.end());
                }
            } else if head.kind == kind::DATA {
                self.send_window += head.length as i64;
            }
            rest = after;
        }
    }

    /// Counts a reply of this number of bytes.
    ///
    /// # Errors
    /// If too many replies wait, because the peer keeps asking and does not read.
    pub(super) fn count_reply(&mut self, bytes: usize) -> Result<(), ConnectionError> {
        self.out.replies += bytes;
        if self.out.replies > MAX_REPLIES {
            return Err(ConnectionError::new(Cause::Http2Protocol, code::ENHANCE_YOUR_CALM));
        }
        Ok(())
    }
}

#[cold]
fn split_fields(out: &mut Vec<u8>, id: u32, begin: usize, ends: u8) {
    let block = out.split_off(begin + frame::HEAD);
    out.truncate(begin);
    let pieces = block.chunks(LONGEST).enumerate();
    let count = pieces.len();
    for (nth, piece) in pieces {
        let last = if nth + 1 == count { flag::END_HEADERS } else { 0 };
        let (kind, flags) = if nth == 0 { (kind::HEADERS, ends | last) } else { (kind::CONTINUATION, last) };
        frame::put(out, kind, flags, id, piece);
    }
}
