//! Frames that a conversation receives.

use truetail_model::record::{Cause, GrpcStatus, Outcome};

use super::error::{CLOSED, COMPRESSION, ConnectionError, FRAME_SIZE, PROTOCOL, TOO_LARGE, WINDOW};
use super::reassembly::PartialBlock;
use super::streams::Stream;
use super::{Http2Conversation, OUR_WINDOW};
use crate::protocol::http2::frame::{self, FrameHeader, HEAD, LONGEST, code, flag, kind};
use crate::protocol::http2::hpack;
use crate::protocol::observer::{AnswerHead, HeadFields, Trailers};
use crate::protocol::{Ended, Event, Events};

const BLOCK_LIMIT: usize = 64 * 1024;
const BLOCK_FRAMES: u32 = 64;
/// Limit on the interim (1xx) answers before the final one.
const INTERIM_LIMIT: u8 = 32;

impl Http2Conversation {
    /// Handles bytes of the connection.
    ///
    /// # Errors
    /// If the connection is unusable. Requests that had ended before are among the events.
    pub(super) fn receive_frames(&mut self, bytes: &[u8], events: &mut Events) -> Result<(), ConnectionError> {
        self.try_frames(bytes, events).map_err(|error| match self.peer.known {
            true => error,
            false => ConnectionError { cause: Cause::NoHttp2, ..error },
        })
    }

    fn try_frames(&mut self, bytes: &[u8], events: &mut Events) -> Result<(), ConnectionError> {
        let mut rest = bytes;
        if !self.incoming.partial_frame.is_empty() {
            match self.incoming.complete(rest)? {
                None => return Ok(()),
                Some(after) => rest = after,
            }
            let frame = std::mem::take(&mut self.incoming.partial_frame);
            let taken = whole(&frame)?.map_or(Ok(()), |(head, payload, _)| self.frame(head, payload, events));
            // Keeps the buffer's memory.
            self.incoming.partial_frame = frame;
            self.incoming.partial_frame.clear();
            taken?;
        }
        while let Some((head, payload, after)) = whole(rest)? {
            self.frame(head, payload, events)?;
            rest = after;
        }
        self.incoming.partial_frame.extend_from_slice(rest);
        Ok(())
    }

    fn frame(&mut self, head: FrameHeader, payload: &[u8], events: &mut Events) -> Result<(), ConnectionError> {
        if !self.peer.known && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
            return Err(PROTOCOL);
        }
        if let Some(block) = &self.incoming.partial_block
            && (head.kind != kind::CONTINUATION || head.stream != block.stream)
        {
            return Err(PROTOCOL.on(block.stream));
        }
        match head.kind {
            kind::DATA => self.data(head, payload, events),
            kind::HEADERS => self.headers(head, payload, events),
            kind::CONTINUATION => self.continuation(head, payload, events),
            kind::RST_STREAM => self.rst_stream(head, payload, events),
            kind::SETTINGS => self.settings(head, payload),
            kind::PING => self.ping(head, payload),
            kind::GOAWAY => self.goaway(head, payload, events),
            kind::WINDOW_UPDATE => self.window_update(head, payload, events),
            kind::PUSH_PROMISE => Err(PROTOCOL),
            kind::PRIORITY if head.stream == 0 => Err(PROTOCOL),
            kind::PRIORITY if payload.len() != 5 => Err(FRAME_SIZE),
            // Frames of unknown types are ignored.
            _ => Ok(()),
        }
    }

    fn data(&mut self, head: FrameHeader, payload: &[u8], events: &mut Events) -> Result<(), ConnectionError> {
        let content = unpadded(head, payload)?;
        let ends = head.has(flag::END_STREAM);
        self.consume(payload.len())?;
        let Some(stream) = self.streams.get(head.stream) else { return self.late(head.stream, ends) };
        count(stream, payload, events);
        stream.receive_window -= payload.len() as i64;
        stream.answer.data += content.len() as u64;
        let answer = &stream.answer;
        let wrong = match answer.status {
            None => Some((Cause::Http2Protocol, code::PROTOCOL_ERROR)),
            _ if stream.receive_window < 0 => Some((Cause::Http2Window, code::FLOW_CONTROL_ERROR)),
            Some(_) if answer.to_head_request && answer.data > 0 => Some((Cause::LeftoverBytes, code::PROTOCOL_ERROR)),
            Some(_) if answer.length.is_some_and(|length| answer.data > length) => {
                Some((Cause::BadLength, code::PROTOCOL_ERROR))
            }
            Some(_) => None,
        };
        if let Some((cause, code)) = wrong {
            self.refuse(head.stream, cause, code, events);
            return Ok(());
        }
        if let Some(kept) = &mut self.incoming.content {
            // What comes instead of a call is the page of something else.
            let is_of_channel = self.calls.is_none() || stream.answer.call.is_grpc();
            kept.extend_from_slice(if is_of_channel { content } else { &[] });
        } else if stream.answer.call.is_grpc() {
            let tag = stream.tag;
            let told = stream.answer.call.take(content, |part| events.message_part(tag, part.bytes, part.ends));
            if let Err(cause) = told {
                self.refuse(head.stream, cause, code::CANCEL, events);
                return Ok(());
            }
        } else {
            events.body(stream.tag, content);
        }
        if !content.is_empty() {
            events.chunk_ended(stream.tag);
        }
        if ends {
            self.end(head.stream, events);
        } else if stream.receive_window < OUR_WINDOW / 2 {
            let more = OUR_WINDOW - std::mem::replace(&mut stream.receive_window, OUR_WINDOW);
            frame::put_number(&mut self.out.bytes, kind::WINDOW_UPDATE, head.stream, more as u32);
        }
        Ok(())
    }

    /// Reduces the connection's receive window, and reopens it when half of it is used.
    fn consume(&mut self, bytes: usize) -> Result<(), ConnectionError> {
        self.receive_window -= bytes as i64;
        if self.receive_window < 0 {
            return Err(WINDOW);
        }
        if self.receive_window < OUR_WINDOW / 2 {
            let more = OUR_WINDOW - std::mem::replace(&mut self.receive_window, OUR_WINDOW);
            frame::put_number(&mut self.out.bytes, kind::WINDOW_UPDATE, 0, more as u32);
        }
        Ok(())
    }

    /// Handles a frame for a stream that is not open.
    fn late(&mut self, id: u32, last: bool) -> Result<(), ConnectionError> {
        match () {
            _ if self.never_was(id) => Err(PROTOCOL),
            _ if self.streams.may_be_late(id, last) => Ok(()),
            _ => Err(CLOSED),
        }
    }

    /// Returns true if we have not opened this stream. The peer's streams have even numbers, and it may open none.
    pub(super) fn never_was(&self, id: u32) -> bool {
        id >= self.next || id & 1 == 0
    }

    fn headers(&mut self, head: FrameHeader, payload: &[u8], events: &mut Events) -> Result<(), ConnectionError> {
        let content = unpadded(head, payload)?;
        let skip = if head.has(flag::PRIORITY) { 5 } else { 0 };
        let block = content.get(skip..).ok_or(FRAME_SIZE)?;
        if let Some(stream) = self.streams.get(head.stream) {
            count(stream, payload, events);
        }
        let ends = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.block(head.stream, ends, block, events);
        }
        let partial = PartialBlock { stream: head.stream, ends, frames: 1, bytes: block.to_vec() };
        self.incoming.partial_block = Some(partial);
        Ok(())
    }

    fn continuation(&mut self, head: FrameHeader, payload: &[u8], events: &mut Events) -> Result<(), ConnectionError> {
        let mut block = self.incoming.partial_block.take().ok_or(PROTOCOL)?;
        if let Some(stream) = self.streams.get(head.stream) {
            count(stream, payload, events);
        }
        block.frames += 1;
        if block.frames > BLOCK_FRAMES || block.bytes.len() + payload.len() > BLOCK_LIMIT {
            return Err(TOO_LARGE.on(head.stream));
        }
        block.bytes.extend_from_slice(payload);
        if head.has(flag::END_HEADERS) {
            return self.block(head.stream, block.ends, &block.bytes, events);
        }
        self.incoming.partial_block = Some(block);
        Ok(())
    }

    fn block(&mut self, id: u32, ends: bool, block: &[u8], events: &mut Events) -> Result<(), ConnectionError> {
        let fields = self.incoming.decoder.read(block).map_err(|_| COMPRESSION.on(id))?;
        let Some(stream) = self.streams.get(id) else { return self.late(id, ends) };
        let had_head = stream.answer.status.is_some();
        if let Err(cause) = take_fields(stream, fields, ends) {
            self.refuse(id, cause, code::PROTOCOL_ERROR, events);
            return Ok(());
        }
        let fields = self.incoming.decoder.fields();
        match stream.answer.status {
            Some(_) if had_head => fields.into_iter().for_each(|fields| {
                events.trailers(stream.tag, Trailers::with_fields(fields));
            }),
            Some(status) => {
                let fields = fields.map_or(HeadFields::None, HeadFields::Decoded);
                events.head(stream.tag, AnswerHead::new(status, fields));
            }
            None => {}
        }
        if ends {
            self.end(id, events);
        }
        Ok(())
    }

    /// Ends a request whose answer has ended. No frame follows on its stream, so nothing of it is remembered.
    fn end(&mut self, id: u32, events: &mut Events) {
        let Some(stream) = self.streams.remove(id) else { return };
        self.room_changed |= self.is_full();
        let (outcome, reset) = match stream.answer.settle(self.calls.map(|calls| calls.kind)) {
            // A server that answers before it has the whole request does not want the rest of it.
            Ok(status) => (Outcome::response(status), (stream.body_left > 0).then_some(code::NO_ERROR)),
            Err((cause, code)) => (Outcome::Malformed(cause), Some(code)),
        };
        if let Some(code) = reset {
            frame::put_number(&mut self.out.bytes, kind::RST_STREAM, id, code);
        }
        events.end(Ended::new(stream.tag, outcome, stream.received));
    }

    /// Ends a request with a malformed answer. The connection continues.
    pub(super) fn refuse(&mut self, id: u32, cause: Cause, code: u32, events: &mut Events) {
        if let Some(stream) = self.reset(id, code) {
            events.end(Ended::new(stream.tag, Outcome::Malformed(cause), stream.received));
        }
    }

    fn rst_stream(&mut self, head: FrameHeader, payload: &[u8], events: &mut Events) -> Result<(), ConnectionError> {
        let code = frame::number(payload).ok_or(FRAME_SIZE)?;
        if self.never_was(head.stream) {
            return Err(PROTOCOL);
        }
        let Some(stream) = self.streams.remove(head.stream) else {
            self.streams.may_be_late(head.stream, true);
            return Ok(());
        };
        self.room_changed |= self.is_full();
        let outcome = match code {
            // The server ended the call, and the code says how.
            _ if self.calls.is_some() => Outcome::response(GrpcStatus::of_reset(code).recorded()),
            _ if stream.received > 0 => Outcome::Malformed(Cause::StreamReset),
            code::REFUSED_STREAM => Outcome::Reset(Cause::StreamRefused),
            _ => Outcome::Reset(Cause::StreamReset),
        };
        events.end(Ended::new(stream.tag, outcome, stream.received));
        Ok(())
    }
}

#[inline]
fn count(stream: &mut Stream, payload: &[u8], events: &mut Events) {
    if stream.received == 0 {
        events.push(Event::FirstByte(stream.tag));
    }
    stream.received += (HEAD + payload.len()) as u64;
}

/// Takes the head of an answer, or its trailers. `Err` holds the reason why the fields are neither.
fn take_fields(stream: &mut Stream, fields: hpack::DecodedFields, ends: bool) -> Result<(), Cause> {
    if let Some(cause) = fields.wrong {
        return Err(cause);
    }
    let answer = &mut stream.answer;
    match (answer.status, fields.status) {
        (Some(_), None) if ends => {
            answer.call.add_fields(fields.call);
            Ok(())
        }
        (Some(_), _) => Err(Cause::Http2Protocol),
        (None, Some(101)) => Err(Cause::UnexpectedUpgrade),
        (None, Some(100..200)) if ends => Err(Cause::Http2Protocol),
        (None, Some(100..200)) if answer.interim == INTERIM_LIMIT => Err(Cause::TooManyInterim),
        (None, Some(100..200)) => {
            answer.interim += 1;
            Ok(())
        }
        (None, Some(status @ 200..)) => {
            answer.status = Some(status);
            answer.length = fields.length;
            answer.call.add_fields(fields.call);
            Ok(())
        }
        (None, _) => Err(Cause::BadHead),
    }
}

/// A frame header, its payload, and the bytes after it.
type Whole<'a> = (FrameHeader, &'a [u8], &'a [u8]);

/// Returns the frame at the start of `bytes`; `None`: it is incomplete.
#[inline]
fn whole(bytes: &[u8]) -> Result<Option<Whole<'_>>, ConnectionError> {
    let Some(head) = FrameHeader::read(bytes) else { return Ok(None) };
    if head.length > LONGEST {
        return Err(FRAME_SIZE);
    }
    let rest = &bytes[HEAD..];
    Ok(rest.split_at_checked(head.length).map(|(payload, after)| (head, payload, after)))
}

fn unpadded(head: FrameHeader, payload: &[u8]) -> Result<&[u8], ConnectionError> {
    if head.stream == 0 {
        return Err(PROTOCOL);
    }
    if !head.has(flag::PADDED) {
        return Ok(payload);
    }
    let (padding, rest) = payload.split_first().ok_or(FRAME_SIZE)?;
    let length = rest.len().checked_sub(usize::from(*padding)).ok_or(PROTOCOL)?;
    Ok(&rest[..length])
}
