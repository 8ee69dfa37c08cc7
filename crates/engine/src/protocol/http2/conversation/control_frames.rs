//! Frames about the connection: settings, pings, windows, going away.

use truetail_model::record::{Cause, Outcome};

use super::error::{ConnectionError, FRAME_SIZE, PROTOCOL, WINDOW};
use super::{Http2Conversation, LARGEST_WINDOW};
use crate::protocol::http2::field_blocks::TableUse;
use crate::protocol::http2::frame::{self, FrameHeader, HEAD, LONGEST, code, flag, kind, setting};
use crate::protocol::http2::hpack::TABLE_SIZE;
use crate::protocol::{Ended, Event, Events, Retry};

impl Http2Conversation {
    pub(super) fn settings(&mut self, head: FrameHeader, payload: &[u8]) -> Result<(), ConnectionError> {
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
        self.room_changed = true;
        self.peer.known = true;
        frame::put(&mut self.out.bytes, kind::SETTINGS, flag::ACK, 0, &[]);
        self.count_reply(HEAD)
    }

    fn setting(&mut self, id: u16, value: u32) -> Result<(), ConnectionError> {
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
            // The table is used with its default size, or not at all.
            setting::HEADER_TABLE_SIZE if (value as usize) < TABLE_SIZE && self.encoding.table != TableUse::Unused => {
                self.encoding.table = TableUse::Unused;
                self.encoding.gives_up_table = true;
            }
            setting::ENABLE_CONNECT_PROTOCOL if value > 1 || self.peer.accepts_connect && value == 0 => {
                return Err(PROTOCOL);
            }
            setting::ENABLE_CONNECT_PROTOCOL => self.peer.accepts_connect = value == 1,
            setting::ENABLE_PUSH if value != 0 => return Err(PROTOCOL),
            setting::MAX_FRAME_SIZE if !(LONGEST..1 << 24).contains(&(value as usize)) => return Err(PROTOCOL),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn ping(&mut self, head: FrameHeader, payload: &[u8]) -> Result<(), ConnectionError> {
        match (head.stream, payload.len(), head.has(flag::ACK)) {
            (0, 8, true) => Ok(()),
            (0, 8, false) => {
                frame::put(&mut self.out.bytes, kind::PING, flag::ACK, 0, payload);
                self.count_reply(HEAD + payload.len())
            }
            (0, ..) => Err(FRAME_SIZE),
            _ => Err(PROTOCOL),
        }
    }

    /// Handles a GOAWAY: the peer has not processed streams above the last one.
    pub(super) fn goaway(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        events: &mut Events,
    ) -> Result<(), ConnectionError> {
        if head.stream != 0 {
            return Err(PROTOCOL);
        }
        let last = payload.first_chunk::<4>().filter(|_| payload.len() >= 8).ok_or(FRAME_SIZE)?;
        let last = u32::from_be_bytes(*last) & 0x7fff_ffff;
        self.peer.last_stream = Some(self.peer.last_stream.map_or(last, |before| before.min(last)));
        events.push(Event::GoingAway);
        self.take_back(last);
        let taken = self.out.taken();
        for id in self.streams.above(last) {
            let Some(stream) = self.streams.cancel(id) else { continue };
            // The request may be sent again, even if it is not idempotent (RFC 9113, section 6.8).
            let retry = match stream.begins_at >= taken {
                true => Retry::Unsent,
                false if stream.received == 0 => Retry::Unprocessed,
                false => Retry::No,
            };
            let ended = Ended::new(stream.tag, Outcome::Reset(Cause::GoneAway), stream.received);
            events.end(Ended { retry, ..ended });
        }
        Ok(())
    }

    pub(super) fn window_update(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        events: &mut Events,
    ) -> Result<(), ConnectionError> {
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
