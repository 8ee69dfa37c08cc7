//! What a session hears.

use truetail_model::record::{Cause, Outcome};

use super::super::blocks::Form;
use super::super::frame::{self, HEAD, Head, LONGEST, code, flag, kind, setting};
use super::super::hpack::{self, TABLE_SIZE};
use super::streams::Stream;
use super::{Broken, Ended, LARGEST_WINDOW, OUR_WINDOW, Session};

/// Longest block of fields.
const BLOCK_LIMIT: usize = 64 * 1024;
/// Most frames of one block.
const BLOCK_FRAMES: u32 = 64;
/// Most interim (1xx) answers before the final one.
const INTERIM_LIMIT: u8 = 32;

/// A block of fields whose end has not come.
#[derive(Debug)]
pub(super) struct Assembling {
    stream: u32,
    ends: bool,
    frames: u32,
    block: Vec<u8>,
}

impl Assembling {
    /// Bytes that it keeps.
    pub(super) fn size(&self) -> usize {
        self.block.capacity()
    }
}

/// The other side broke the rules.
const PROTOCOL: Broken = Broken { cause: Cause::Http2Protocol, code: code::PROTOCOL_ERROR, stream: 0 };
const FRAME_SIZE: Broken = Broken { cause: Cause::Http2Protocol, code: code::FRAME_SIZE_ERROR, stream: 0 };
const CLOSED: Broken = Broken { cause: Cause::Http2Protocol, code: code::STREAM_CLOSED, stream: 0 };
const WINDOW: Broken = Broken { cause: Cause::Http2Window, code: code::FLOW_CONTROL_ERROR, stream: 0 };
const TOO_LARGE: Broken = Broken { cause: Cause::HeadTooLarge, code: code::ENHANCE_YOUR_CALM, stream: 0 };
const COMPRESSION: Broken = Broken { cause: Cause::BadHead, code: code::COMPRESSION_ERROR, stream: 0 };

impl Session {
    /// Takes bytes of the connection and adds to `events` what ended by them.
    ///
    /// # Errors
    /// When the connection is of no use any more. What had ended before is among the events.
    pub(crate) fn feed(&mut self, bytes: &[u8], events: &mut Vec<Ended>) -> Result<(), Broken> {
        self.feed_frames(bytes, events).map_err(|broken| match self.peer.known {
            true => broken,
            false => Broken { cause: Cause::NoHttp2, ..broken },
        })
    }

    fn feed_frames(&mut self, bytes: &[u8], events: &mut Vec<Ended>) -> Result<(), Broken> {
        let mut rest = bytes;
        if !self.partial.is_empty() {
            match self.complete(rest)? {
                None => return Ok(()),
                Some(after) => rest = after,
            }
            let frame = std::mem::take(&mut self.partial);
            let fed = whole(&frame)?.map_or(Ok(()), |(head, payload, _)| self.frame(head, payload, events));
            // Its room is used again.
            self.partial = frame;
            self.partial.clear();
            fed?;
        }
        while let Some((head, payload, after)) = whole(rest)? {
            self.frame(head, payload, events)?;
            rest = after;
        }
        self.partial.extend_from_slice(rest);
        Ok(())
    }

    /// Adds to the part of a frame what belongs to it; what is behind it is returned, once it is whole.
    fn complete<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<&'a [u8]>, Broken> {
        let (head, rest) = bytes.split_at(HEAD.saturating_sub(self.partial.len()).min(bytes.len()));
        self.partial.extend_from_slice(head);
        let Some(head) = Head::read(&self.partial) else { return Ok(None) };
        if head.length > LONGEST {
            return Err(FRAME_SIZE);
        }
        let missing = HEAD + head.length - self.partial.len();
        let (payload, after) = rest.split_at(missing.min(rest.len()));
        self.partial.extend_from_slice(payload);
        Ok((payload.len() == missing).then_some(after))
    }

    fn frame(&mut self, head: Head, payload: &[u8], events: &mut Vec<Ended>) -> Result<(), Broken> {
        if !self.peer.known && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
            return Err(PROTOCOL);
        }
        if let Some(assembling) = &self.assembling
            && (head.kind != kind::CONTINUATION || head.stream != assembling.stream)
        {
            return Err(PROTOCOL.by(assembling.stream));
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
            // What is not known is to be let pass.
            _ => Ok(()),
        }
    }

    fn data(&mut self, head: Head, payload: &[u8], events: &mut Vec<Ended>) -> Result<(), Broken> {
        let content = unpadded(head, payload)?;
        let ends = head.has(flag::END_STREAM);
        self.consume(payload.len())?;
        let Some(stream) = self.streams.get(head.stream) else { return self.late(head.stream, ends) };
        stream.received += (HEAD + payload.len()) as u64;
        stream.receive_window -= payload.len() as i64;
        stream.data += content.len() as u64;
        let wrong = match stream.status {
            None => Some((Cause::Http2Protocol, code::PROTOCOL_ERROR)),
            _ if stream.receive_window < 0 => Some((Cause::Http2Window, code::FLOW_CONTROL_ERROR)),
            Some(_) if stream.is_head_request && stream.data > 0 => Some((Cause::LeftoverBytes, code::PROTOCOL_ERROR)),
            Some(_) if stream.length.is_some_and(|length| stream.data > length) => {
                Some((Cause::BadLength, code::PROTOCOL_ERROR))
            }
            Some(_) => None,
        };
        if let Some((cause, code)) = wrong {
            self.refuse(head.stream, cause, code, events);
        } else if ends {
            self.end(head.stream, events);
        } else if stream.receive_window < OUR_WINDOW / 2 {
            let more = OUR_WINDOW - std::mem::replace(&mut stream.receive_window, OUR_WINDOW);
            frame::put_number(&mut self.out, kind::WINDOW_UPDATE, head.stream, more as u32);
        }
        Ok(())
    }

    /// The window of the connection shrinks by what came, and is opened again when half of it is gone.
    fn consume(&mut self, bytes: usize) -> Result<(), Broken> {
        self.receive_window -= bytes as i64;
        if self.receive_window < 0 {
            return Err(WINDOW);
        }
        if self.receive_window < OUR_WINDOW / 2 {
            let more = OUR_WINDOW - std::mem::replace(&mut self.receive_window, OUR_WINDOW);
            frame::put_number(&mut self.out, kind::WINDOW_UPDATE, 0, more as u32);
        }
        Ok(())
    }

    /// Something for a stream that is not open.
    fn late(&mut self, id: u32, last: bool) -> Result<(), Broken> {
        match () {
            _ if self.never_was(id) => Err(PROTOCOL),
            _ if self.streams.is_forgiven(id, last) => Ok(()),
            _ => Err(CLOSED),
        }
    }

    /// A stream that we have not opened: those of the other side have even numbers, and it may open none.
    fn never_was(&self, id: u32) -> bool {
        id >= self.next || id & 1 == 0
    }

    fn headers(&mut self, head: Head, payload: &[u8], events: &mut Vec<Ended>) -> Result<(), Broken> {
        let content = unpadded(head, payload)?;
        let skip = if head.has(flag::PRIORITY) { 5 } else { 0 };
        let block = content.get(skip..).ok_or(FRAME_SIZE)?;
        if let Some(stream) = self.streams.get(head.stream) {
            stream.received += (HEAD + payload.len()) as u64;
        }
        let ends = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.block(head.stream, ends, block, events);
        }
        self.assembling = Some(Assembling { stream: head.stream, ends, frames: 1, block: block.to_vec() });
        Ok(())
    }

    fn continuation(&mut self, head: Head, payload: &[u8], events: &mut Vec<Ended>) -> Result<(), Broken> {
        let mut assembling = self.assembling.take().ok_or(PROTOCOL)?;
        if let Some(stream) = self.streams.get(head.stream) {
            stream.received += (HEAD + payload.len()) as u64;
        }
        assembling.frames += 1;
        if assembling.frames > BLOCK_FRAMES || assembling.block.len() + payload.len() > BLOCK_LIMIT {
            return Err(TOO_LARGE.by(head.stream));
        }
        assembling.block.extend_from_slice(payload);
        if head.has(flag::END_HEADERS) {
            return self.block(head.stream, assembling.ends, &assembling.block, events);
        }
        self.assembling = Some(assembling);
        Ok(())
    }

    /// A block of fields is whole.
    fn block(&mut self, id: u32, ends: bool, block: &[u8], events: &mut Vec<Ended>) -> Result<(), Broken> {
        let fields = self.decoder.read(block).map_err(|_| COMPRESSION.by(id))?;
        let Some(stream) = self.streams.get(id) else { return self.late(id, ends) };
        match judge(stream, fields, ends) {
            Err(cause) => self.refuse(id, cause, code::PROTOCOL_ERROR, events),
            Ok(()) if ends => self.end(id, events),
            Ok(()) => {}
        }
        Ok(())
    }

    /// The answer is whole.
    fn end(&mut self, id: u32, events: &mut Vec<Ended>) {
        let Some(stream) = self.streams.get(id) else { return };
        let (status, unsent) = (stream.status.unwrap_or_default(), stream.sent < stream.body);
        if stream.length.is_some_and(|length| length != stream.data && !stream.has_no_body(status)) {
            return self.refuse(id, Cause::BadLength, code::PROTOCOL_ERROR, events);
        }
        // Whoever answers before it has the whole request does not want the rest of it.
        let stream = if unsent { self.reset(id, code::NO_ERROR) } else { self.streams.remove(id) };
        self.changed |= self.is_full();
        let outcome = Outcome::Response { status };
        events.extend(stream.map(|stream| Ended { tag: stream.tag, outcome, received: stream.received }));
    }

    /// The answer is none: the request ends, and the connection goes on.
    fn refuse(&mut self, id: u32, cause: Cause, code: u32, events: &mut Vec<Ended>) {
        let outcome = Outcome::Malformed(cause);
        let stream = self.reset(id, code);
        events.extend(stream.map(|stream| Ended { tag: stream.tag, outcome, received: stream.received }));
    }

    fn rst_stream(&mut self, head: Head, payload: &[u8], events: &mut Vec<Ended>) -> Result<(), Broken> {
        let code = frame::number(payload).ok_or(FRAME_SIZE)?;
        if self.never_was(head.stream) {
            return Err(PROTOCOL);
        }
        let Some(stream) = self.streams.remove(head.stream) else {
            self.streams.is_forgiven(head.stream, true);
            return Ok(());
        };
        self.changed |= self.is_full();
        let outcome = match code {
            _ if stream.received > 0 => Outcome::Malformed(Cause::StreamReset),
            code::REFUSED_STREAM => Outcome::Reset(Cause::StreamRefused),
            _ => Outcome::Reset(Cause::StreamReset),
        };
        events.push(Ended { tag: stream.tag, outcome, received: stream.received });
        Ok(())
    }

    fn settings(&mut self, head: Head, payload: &[u8]) -> Result<(), Broken> {
        match (head.stream, head.has(flag::ACK), payload.len()) {
            (0, true, 0) => return Ok(()),
            (0, false, length) if length % 6 == 0 => {}
            (0, ..) => return Err(FRAME_SIZE),
            _ => return Err(PROTOCOL),
        }
        for one in payload.chunks_exact(6) {
            let value = u32::from_be_bytes([one[2], one[3], one[4], one[5]]);
            self.setting(u16::from_be_bytes([one[0], one[1]]), value)?;
        }
        self.changed = true;
        self.peer.known = true;
        frame::put(&mut self.out, kind::SETTINGS, flag::ACK, 0, &[]);
        self.replied(HEAD)
    }

    fn setting(&mut self, id: u16, value: u32) -> Result<(), Broken> {
        match id {
            setting::MAX_CONCURRENT_STREAMS => self.peer.streams = value,
            setting::INITIAL_WINDOW_SIZE if i64::from(value) > LARGEST_WINDOW => return Err(WINDOW),
            setting::INITIAL_WINDOW_SIZE => {
                let more = i64::from(value) - std::mem::replace(&mut self.peer.window, value.into());
                self.streams.iter_mut().for_each(|stream| stream.send_window += more);
                if self.streams.iter_mut().any(|stream| stream.send_window > LARGEST_WINDOW) {
                    return Err(WINDOW);
                }
            }
            // The table is used as everybody may, or not at all.
            setting::HEADER_TABLE_SIZE if (value as usize) < TABLE_SIZE && self.form != Form::Plain => {
                self.form = Form::Plain;
                self.give_up_table = true;
            }
            setting::ENABLE_PUSH if value != 0 => return Err(PROTOCOL),
            setting::MAX_FRAME_SIZE if !(LONGEST..1 << 24).contains(&(value as usize)) => return Err(PROTOCOL),
            _ => {}
        }
        Ok(())
    }

    fn ping(&mut self, head: Head, payload: &[u8]) -> Result<(), Broken> {
        match (head.stream, payload.len(), head.has(flag::ACK)) {
            (0, 8, true) => Ok(()),
            (0, 8, false) => {
                frame::put(&mut self.out, kind::PING, flag::ACK, 0, payload);
                self.replied(HEAD + payload.len())
            }
            (0, ..) => Err(FRAME_SIZE),
            _ => Err(PROTOCOL),
        }
    }

    /// What lies above the last stream was not taken up.
    fn goaway(&mut self, head: Head, payload: &[u8], events: &mut Vec<Ended>) -> Result<(), Broken> {
        if head.stream != 0 {
            return Err(PROTOCOL);
        }
        let last = payload.first_chunk::<4>().filter(|_| payload.len() >= 8).ok_or(FRAME_SIZE)?;
        let last = u32::from_be_bytes(*last) & 0x7fff_ffff;
        self.last_taken = Some(self.last_taken.map_or(last, |before| before.min(last)));
        self.changed = true;
        self.take_back(last);
        for id in self.streams.above(last) {
            let stream = self.streams.forgive(id);
            let outcome = Outcome::Reset(Cause::GoneAway);
            events.extend(stream.map(|stream| Ended { tag: stream.tag, outcome, received: stream.received }));
        }
        Ok(())
    }

    fn window_update(&mut self, head: Head, payload: &[u8], events: &mut Vec<Ended>) -> Result<(), Broken> {
        let more = i64::from(frame::number(payload).ok_or(FRAME_SIZE)? & 0x7fff_ffff);
        if head.stream == 0 {
            self.send_window += more;
            return match more {
                0 => Err(PROTOCOL),
                _ if self.send_window > LARGEST_WINDOW => Err(WINDOW),
                _ => Ok(()),
            };
        }
        let Some(stream) = self.streams.get(head.stream) else {
            return if self.never_was(head.stream) { Err(PROTOCOL) } else { Ok(()) };
        };
        stream.send_window += more;
        if more == 0 {
            self.refuse(head.stream, Cause::Http2Protocol, code::PROTOCOL_ERROR, events);
        } else if stream.send_window > LARGEST_WINDOW {
            self.refuse(head.stream, Cause::Http2Window, code::FLOW_CONTROL_ERROR, events);
        }
        Ok(())
    }
}

impl Stream {
    /// Its answer has none, whatever it states.
    fn has_no_body(&self, status: u16) -> bool {
        self.is_head_request || status == 204 || status == 304
    }
}

/// Takes up the head of an answer, or its trailers. `Err`: why it is none.
fn judge(stream: &mut Stream, fields: hpack::Head, ends: bool) -> Result<(), Cause> {
    if let Some(cause) = fields.wrong {
        return Err(cause);
    }
    match (stream.status, fields.status) {
        (Some(_), None) if ends => Ok(()),
        (Some(_), _) => Err(Cause::Http2Protocol),
        (None, Some(101)) => Err(Cause::UnexpectedUpgrade),
        (None, Some(100..200)) if ends => Err(Cause::Http2Protocol),
        (None, Some(100..200)) if stream.interim == INTERIM_LIMIT => Err(Cause::TooManyInterim),
        (None, Some(100..200)) => {
            stream.interim += 1;
            Ok(())
        }
        (None, Some(status @ 200..)) => {
            stream.status = Some(status);
            stream.length = fields.length;
            Ok(())
        }
        (None, _) => Err(Cause::BadHead),
    }
}

/// A frame with its payload, and what is behind it.
type Whole<'a> = (Head, &'a [u8], &'a [u8]);

/// The frame at the beginning of `bytes`; `None`: it is not whole.
#[inline]
fn whole(bytes: &[u8]) -> Result<Option<Whole<'_>>, Broken> {
    let Some(head) = Head::read(bytes) else { return Ok(None) };
    if head.length > LONGEST {
        return Err(FRAME_SIZE);
    }
    let rest = &bytes[HEAD..];
    Ok(rest.split_at_checked(head.length).map(|(payload, after)| (head, payload, after)))
}

/// A payload without its padding.
fn unpadded(head: Head, payload: &[u8]) -> Result<&[u8], Broken> {
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
