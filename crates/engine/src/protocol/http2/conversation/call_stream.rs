//! A connection with one call, which stays open: a stream of bytes each way.

use std::collections::VecDeque;

use truetail_model::record::{Cause, GrpcStatus, Outcome};
use truetail_run::{GrpcConfig, GrpcKind};

use super::Http2Conversation;
use crate::protocol::http2::field_blocks::FieldBlocks;
use crate::protocol::http2::frame::code;
use crate::protocol::{Closed, Event, Events, Flow};
use crate::target::request_set::RequestId;

/// The only request of the connection.
const CALL: RequestId = RequestId { target: 0, row: 0 };

/// Bytes of the call in a frame of the output.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Position of the first in the output.
    at: u64,
    length: usize,
    /// Number of them that the transport took.
    taken: usize,
    /// They are counted for the caller.
    is_counted: bool,
}

/// End of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CallEnd {
    pub(crate) cause: Cause,
    /// The status that the server gave the call; `None` if it gave none.
    pub(crate) status: Option<GrpcStatus>,
    /// The server kept the rules of HTTP/2 and gRPC.
    pub(crate) is_in_order: bool,
}

/// A call, and the connection that only it uses.
#[derive(Debug)]
pub(crate) struct CallStream {
    connection: Http2Conversation,
    id: u32,
    pieces: VecDeque<Piece>,
}

impl CallStream {
    /// Begins a call with the only request of `fields`.
    pub(crate) fn open(fields: &FieldBlocks) -> CallStream {
        let calls = GrpcConfig { kind: GrpcKind::Bidirectional, message_gap_ns: None };
        let mut connection = Http2Conversation::new(u32::MAX, false);
        connection.calls = Some(calls);
        connection.incoming.content = Some(Vec::new());
        let id = connection.open_endless(0, CALL, fields.get(CALL));
        CallStream { connection, id, pieces: VecDeque::new() }
    }

    /// Returns true once the server has shown that it speaks HTTP/2, and has stated its windows.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.connection.peer.known
    }

    #[inline]
    pub(crate) fn output(&self) -> &[u8] {
        self.connection.out.pending()
    }

    /// Appends as many of these bytes to the output as the server accepts now. Returns their number. `is_counted`:
    /// [`CallStream::sent`] tells when the transport took them.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8], is_counted: bool) -> usize {
        let mut put = 0;
        while put < bytes.len()
            && let Some((length, at)) = self.connection.put_content(self.id, &bytes[put..])
        {
            self.pieces.push_back(Piece { at, length, taken: 0, is_counted });
            put += length;
        }
        put
    }

    /// Records that the transport took the first `count` bytes of the output. Returns the number of counted bytes among
    /// them.
    #[inline]
    pub(crate) fn sent(&mut self, count: usize) -> usize {
        self.connection.out.take(count);
        let taken = self.connection.out.taken();
        let mut counted = 0;
        while let Some(piece) = self.pieces.front_mut() {
            let before =
                std::mem::replace(&mut piece.taken, taken.saturating_sub(piece.at).min(piece.length as u64) as usize);
            counted += if piece.is_counted { piece.taken - before } else { 0 };
            if piece.taken < piece.length {
                break;
            }
            self.pieces.pop_front();
        }
        counted
    }

    /// Handles received bytes. [`CallStream::take_content`] has what they bring. Returns the end of the call, if it has
    /// ended.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Option<CallEnd> {
        let mut events = Events::default();
        let flow = self.connection.take_bytes(bytes, &mut events);
        let outcome = |event| if let Event::Ended(ended) = event { Some(ended.outcome) } else { None };
        let ended = events.take().into_iter().find_map(outcome);
        let end = |outcome: Outcome| match outcome {
            // The reset of a stream has the status that gRPC gives it.
            Outcome::Response { .. } => CallEnd {
                cause: Cause::CallEnded,
                status: outcome.status().and_then(GrpcStatus::of_recorded),
                is_in_order: true,
            },
            outcome => {
                let cause = outcome.cause().unwrap_or(Cause::CallEnded);
                CallEnd { cause, status: None, is_in_order: cause == Cause::GoneAway }
            }
        };
        match flow {
            Flow::Close(cause) => Some(ended.map_or(CallEnd { cause, status: None, is_in_order: false }, end)),
            Flow::Continue => ended.map(end),
        }
    }

    /// Takes the content that has arrived since the last time.
    pub(crate) fn take_content(&mut self) -> Vec<u8> {
        self.connection.incoming.content.take().unwrap_or_default()
    }

    /// Gives back the memory of [`CallStream::take_content`].
    pub(crate) fn restore_content(&mut self, mut content: Vec<u8>) {
        content.clear();
        self.connection.incoming.content = Some(content);
    }

    /// Records that the connection is gone.
    pub(crate) fn close(&mut self, how: Closed) {
        self.connection.closed(how, &mut Events::default());
    }

    /// Ends the call from this side, and adds the goodbye to the output. `is_whole`: all messages were appended.
    pub(crate) fn say_goodbye(&mut self, is_whole: bool) {
        if self.connection.is_closed {
            return;
        }
        if is_whole && self.connection.streams.get(self.id).is_some() {
            self.connection.end_content(self.id);
        } else {
            self.connection.reset(self.id, code::CANCEL);
        }
        self.connection.put_goaway(code::NO_ERROR);
    }
}
