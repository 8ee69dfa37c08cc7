//! Splits the bytes of a channel into messages, however they are cut.

use memchr::memchr;
use truetail_model::record::Cause;

use super::fix::FixReader;
use super::framing::Framing;
use super::limits::MAX_MESSAGE;
use super::redis::{self, Redis, Reply};
use super::websocket::{DeflateTerms, FrameReader, Happened};
use crate::protocol::http2::MessageReader;

/// A part of the bytes that a channel received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part<'a> {
    /// The first byte of a message arrived, or of its frame.
    Begin {
        /// True if the message is no reply.
        is_push: bool,
    },
    /// Content of the message, without its frame. Of Redis, FIX and gRPC, the bytes as sent.
    Bytes(&'a [u8]),
    End {
        kind: Reply,
        /// Bytes of the message and its frame.
        wire_bytes: u64,
    },
}

/// Progress within the message that is being received.
#[derive(Debug)]
pub(super) struct Splitter {
    /// Bytes received of it, with its frame.
    wire_bytes: u64,
    at: At,
    control: Option<Control>,
}

/// What a peer says about the channel itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Control {
    /// It wants these bytes back.
    Ping(Vec<u8>),
    /// It closes the channel, with this code.
    Close(u16),
}

#[derive(Debug)]
enum At {
    /// In the message of a delimiter. The first `held` bytes of the delimiter have arrived, and may be content.
    Content {
        held: usize,
    },
    /// In the length: the number so far, and the bytes of it that are missing.
    Length {
        value: u64,
        missing: u8,
    },
    /// In a message; this many of its bytes are missing.
    Missing(u64),
    Redis(Box<Redis>),
    Fix(Box<FixReader>),
    Grpc(MessageReader),
    WebSocket(Box<FrameReader>),
}

impl Splitter {
    pub(super) fn new(framing: &Framing) -> Splitter {
        Splitter { wire_bytes: 0, at: At::new(framing), control: None }
    }

    /// Returns the bytes of the message that is being received, with its frame.
    pub(super) fn wire_bytes(&self) -> u64 {
        self.wire_bytes
    }

    /// Lets the peer of a WebSocket compress messages on these terms.
    pub(super) fn inflate(&mut self, terms: DeflateTerms) {
        if let At::WebSocket(reader) = &mut self.at {
            reader.inflate(terms);
        }
    }

    /// Returns true in WebSocket.
    pub(super) fn has_frames(&self) -> bool {
        matches!(self.at, At::WebSocket(_))
    }

    /// Takes what the peer said about the channel in the bytes before.
    pub(super) fn take_control(&mut self) -> Option<Control> {
        self.control.take()
    }

    /// Takes the bytes up to the end of the next part, or all, and tells `sink` the parts in them. Returns true at the
    /// end of a message.
    ///
    /// # Errors
    /// [`Cause::BadMessage`] and [`Cause::MessageTooLarge`].
    pub(super) fn feed(
        &mut self,
        framing: &Framing,
        bytes: &mut &[u8],
        sink: &mut impl FnMut(Part<'_>),
    ) -> Result<bool, Cause> {
        if bytes.is_empty() {
            return Ok(false);
        }
        if let At::WebSocket(_) = self.at {
            return self.feed_frames(bytes, sink);
        }
        if self.wire_bytes == 0 {
            sink(Part::Begin { is_push: *framing == Framing::Redis && redis::is_push(bytes[0]) });
        }
        let all = *bytes;
        let mut kind = Reply::Good;
        let (taken, is_over) = match (&mut self.at, framing) {
            (At::Content { held }, Framing::Delimiter(end)) => content(all, end, held, sink),
            (At::Length { value, missing }, Framing::Length { bytes, big_endian }) => {
                let read = all.len().min(usize::from(*missing));
                for byte in &all[..read] {
                    let done = u32::from(*bytes - *missing);
                    *value = if *big_endian {
                        *value << 8 | u64::from(*byte)
                    } else {
                        *value | u64::from(*byte) << (8 * done)
                    };
                    *missing -= 1;
                }
                let is_empty = *value == 0;
                let is_known = *missing == 0;
                if is_known {
                    if *value > MAX_MESSAGE {
                        return Err(Cause::MessageTooLarge);
                    }
                    self.at = At::Missing(*value);
                }
                (read, is_known && is_empty)
            }
            (At::Missing(missing), _) => {
                let read = (all.len() as u64).min(*missing) as usize;
                *missing -= read as u64;
                sink(Part::Bytes(&all[..read]));
                (read, *missing == 0)
            }
            (At::Fix(reader), _) => {
                let (read, is_over) = reader.feed(all)?;
                sink(Part::Bytes(&all[..read]));
                (read, is_over)
            }
            (At::Grpc(reader), _) => {
                // Nothing that is sent says that replies may be compressed.
                let (read, is_over) = reader.feed(all, false)?;
                sink(Part::Bytes(&all[..read]));
                (read, is_over)
            }
            (At::Redis(redis), _) => {
                let (read, reply) = redis.feed(all)?;
                sink(Part::Bytes(&all[..read]));
                kind = reply.unwrap_or(Reply::Good);
                (read, reply.is_some())
            }
            (At::Content { .. } | At::Length { .. } | At::WebSocket(_), _) => {
                unreachable!("a splitter keeps its framing")
            }
        };
        self.wire_bytes += taken as u64;
        *bytes = &all[taken..];
        if is_over {
            sink(Part::End { kind, wire_bytes: self.wire_bytes });
            self.wire_bytes = 0;
            self.at.begin_again(framing);
        }
        Ok(is_over)
    }

    /// Does the work of [`Splitter::feed`] in WebSocket, where frames about the channel come between those of messages.
    fn feed_frames(&mut self, bytes: &mut &[u8], sink: &mut impl FnMut(Part<'_>)) -> Result<bool, Cause> {
        let At::WebSocket(reader) = &mut self.at else { return Ok(false) };
        let all = *bytes;
        let was_in_message = reader.is_in_message();
        let mut has_begun = was_in_message;
        let (taken, happened) = reader.feed(all, &mut |content| {
            if !std::mem::replace(&mut has_begun, true) {
                sink(Part::Begin { is_push: false });
            }
            sink(Part::Bytes(content));
        })?;
        *bytes = &all[taken..];
        let is_over = happened == Some(Happened::MessageEnded);
        let is_in_message = was_in_message || reader.is_in_message() || is_over;
        if is_in_message && !has_begun {
            sink(Part::Begin { is_push: false });
        }
        self.wire_bytes += if is_in_message { taken as u64 } else { 0 };
        match happened {
            Some(Happened::MessageEnded) => {
                sink(Part::End { kind: Reply::Good, wire_bytes: std::mem::take(&mut self.wire_bytes) });
            }
            Some(Happened::Ping) => self.control = Some(Control::Ping(reader.control().to_vec())),
            Some(Happened::Close(code)) => self.control = Some(Control::Close(code)),
            None => {}
        }
        Ok(is_over)
    }
}

impl At {
    /// Expects the next message. What the last one needed is kept for it.
    #[inline]
    fn begin_again(&mut self, framing: &Framing) {
        match self {
            At::Redis(redis) => redis.begin_again(),
            At::Fix(reader) => **reader = FixReader::default(),
            _ => *self = At::new(framing),
        }
    }

    fn new(framing: &Framing) -> At {
        match framing {
            Framing::Delimiter(_) => At::Content { held: 0 },
            Framing::Length { bytes, .. } => At::Length { value: 0, missing: *bytes },
            Framing::Fixed(bytes) => At::Missing(u64::from(*bytes)),
            Framing::Fix => At::Fix(Box::default()),
            Framing::Redis => At::Redis(Box::default()),
            Framing::Grpc => At::Grpc(MessageReader::default()),
            Framing::WebSocket { .. } => At::WebSocket(Box::default()),
        }
    }
}

/// Takes bytes up to the end of the delimiter, or all. `held`: bytes of the delimiter that have matched so far.
fn content(all: &[u8], end: &[u8], held: &mut usize, sink: &mut impl FnMut(Part<'_>)) -> (usize, bool) {
    let mut at = 0;
    while at < all.len() {
        if *held == 0 {
            let found = memchr(end[0], &all[at..]).map_or(all.len(), |found| at + found);
            if found > at {
                sink(Part::Bytes(&all[at..found]));
            }
            at = found;
            if at == all.len() {
                break;
            }
        }
        if all[at] == end[*held] {
            *held += 1;
            at += 1;
            if *held == end.len() {
                return (at, true);
            }
        } else {
            // The held bytes are content, but for those that may begin the delimiter anew.
            let kept = (0..*held).rev().find(|kept| end[..*kept] == end[*held - kept..*held]).unwrap_or(0);
            sink(Part::Bytes(&end[..*held - kept]));
            *held = kept;
        }
    }
    (all.len(), false)
}
