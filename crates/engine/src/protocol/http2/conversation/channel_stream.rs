//! A connection with one stream, which stays open and carries a channel: bytes each way.

use std::collections::VecDeque;

use truetail_model::record::{Cause, GrpcStatus, Outcome};
use truetail_run::{GrpcConfig, GrpcKind};

use super::Http2Conversation;
use crate::protocol::fields::FieldList;
use crate::protocol::http2::field_blocks::{FieldBlocks, PlainBlock};
use crate::protocol::http2::frame::code;
use crate::protocol::{Closed, Event, Events, Flow};
use crate::target::request_set::RequestId;

/// The only request of the connection.
const ONLY: RequestId = RequestId { target: 0, row: 0 };

/// Bytes of the channel in a frame of the output.
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

/// End of a stream that carried a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StreamEnd {
    pub(crate) cause: Cause,
    /// The status that the server gave a call; `None` without one.
    pub(crate) status: Option<GrpcStatus>,
    /// The server kept the rules of HTTP/2, and of gRPC.
    pub(crate) is_in_order: bool,
}

impl From<Cause> for StreamEnd {
    fn from(cause: Cause) -> StreamEnd {
        StreamEnd { cause, status: None, is_in_order: false }
    }
}

/// Progress of the opening of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Opening {
    /// A call of gRPC. It was begun at once, and is open when the server has stated its windows.
    Call,
    /// A WebSocket (RFC 8441), begun with these fields once the server has said that it accepts it.
    Offered(Vec<u8>),
    /// The request for a WebSocket was begun, and its answer is awaited.
    Asked,
    /// The answer to it has arrived, with a status of success.
    Answered,
    /// The WebSocket is open.
    Accepted,
}

/// A stream that carries a channel, and the connection that only it uses.
#[derive(Debug)]
pub(crate) struct ChannelStream {
    connection: Http2Conversation,
    /// Number of the stream, 0 until it was begun.
    id: u32,
    opening: Opening,
    pieces: VecDeque<Piece>,
}

impl ChannelStream {
    /// Begins a call with the only request of `fields`.
    pub(crate) fn call(fields: &FieldBlocks) -> ChannelStream {
        let calls = GrpcConfig { kind: GrpcKind::Bidirectional, message_gap_ns: None };
        let mut stream = ChannelStream::new(false, Opening::Call);
        stream.connection.calls = Some(calls);
        stream.id = stream.connection.open_endless(0, ONLY, fields.get(ONLY));
        stream
    }

    /// Asks for a WebSocket with these fields, encoded by [`PlainBlock::encode`], once the server accepts it.
    pub(crate) fn websocket(fields: Vec<u8>) -> ChannelStream {
        ChannelStream::new(true, Opening::Offered(fields))
    }

    fn new(keeps_fields: bool, opening: Opening) -> ChannelStream {
        let mut connection = Http2Conversation::new(u32::MAX, keeps_fields);
        connection.incoming.content = Some(Vec::new());
        ChannelStream { connection, id: 0, opening, pieces: VecDeque::new() }
    }

    /// Returns true once the stream carries the channel. A call does when the server has shown that it speaks HTTP/2,
    /// and has stated its windows.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        match self.opening {
            Opening::Call => self.connection.peer.known,
            Opening::Accepted => true,
            Opening::Offered(_) | Opening::Asked | Opening::Answered => false,
        }
    }

    /// Returns true if content may be sent. A call takes some before it is open.
    #[inline]
    pub(crate) fn takes_content(&self) -> bool {
        matches!(self.opening, Opening::Call | Opening::Accepted)
    }

    /// Returns the header fields of the answer that opens a WebSocket, until [`ChannelStream::accept`].
    pub(crate) fn answer(&self) -> Option<&FieldList> {
        if self.opening == Opening::Answered { self.connection.incoming.decoder.fields() } else { None }
    }

    /// Lets the stream carry the channel.
    pub(crate) fn accept(&mut self) {
        self.opening = Opening::Accepted;
    }

    /// Asks for a WebSocket if the server has said that it accepts it. Called when all frames that came together are
    /// handled: an answer among them would be one before the request.
    ///
    /// # Errors
    /// [`Cause::NoExtendedConnect`] and [`Cause::GoneAway`].
    pub(crate) fn ask(&mut self) -> Result<(), Cause> {
        let Opening::Offered(fields) = &mut self.opening else { return Ok(()) };
        if !self.connection.peer.known {
            return Ok(());
        }
        if self.connection.is_closing() {
            return Err(Cause::GoneAway);
        }
        if !self.connection.peer.accepts_connect {
            return Err(Cause::NoExtendedConnect);
        }
        let fields = std::mem::take(fields);
        self.id = self.connection.open_endless(0, ONLY, PlainBlock(&fields));
        self.opening = Opening::Asked;
        Ok(())
    }

    /// Notes the answer to the request for a WebSocket, if it has arrived.
    ///
    /// # Errors
    /// [`Cause::NoWebSocket`] for another answer than success.
    fn note_answer(&mut self) -> Result<(), Cause> {
        if self.opening == Opening::Asked
            && let Some(status) = self.connection.streams.get(self.id).and_then(|stream| stream.answer.status)
        {
            if !(200..300).contains(&status) {
                return Err(Cause::NoWebSocket);
            }
            self.opening = Opening::Answered;
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn output(&self) -> &[u8] {
        self.connection.out.pending()
    }

    /// Appends as many of these bytes to the output as the server accepts now. Returns their number. `is_counted`:
    /// [`ChannelStream::sent`] tells when the transport took them.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8], is_counted: bool) -> usize {
        let mut put = 0;
        while put < bytes.len()
            && self.takes_content()
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

    /// Splits received bytes after the frame that they continue or begin. To handle what each frame brings before the
    /// next one is received makes no difference between frames that come together and frames that do not.
    #[inline]
    pub(crate) fn split_frame<'a>(&self, bytes: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        self.connection.incoming.split_frame(bytes)
    }

    /// Handles received bytes of one frame. [`ChannelStream::take_content`] has what they bring. Returns the end of the
    /// stream, if it has ended.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Option<StreamEnd> {
        let mut events = Events::default();
        let flow = self.connection.take_bytes(bytes, &mut events);
        let outcome = |event| if let Event::Ended(ended) = event { Some(ended.outcome) } else { None };
        let ended = events.take().into_iter().find_map(outcome);
        let ended = ended.map(|outcome| self.end_of(outcome));
        match flow {
            Flow::Close(cause) => Some(ended.unwrap_or(cause.into())),
            Flow::Continue => ended.or_else(|| self.note_answer().err().map(StreamEnd::from)),
        }
    }

    /// Returns the end that the outcome of the only request means.
    fn end_of(&mut self, outcome: Outcome) -> StreamEnd {
        // A server may accept a channel and end it at once.
        if self.opening == Opening::Asked && outcome.status().is_some_and(|status| (200..300).contains(&status)) {
            self.opening = Opening::Answered;
        }
        let is_open = matches!(self.opening, Opening::Answered | Opening::Accepted);
        match outcome {
            // The reset of a stream has the status that gRPC gives it.
            Outcome::Response { .. } if self.opening == Opening::Call => StreamEnd {
                cause: Cause::CallEnded,
                status: outcome.status().and_then(GrpcStatus::of_recorded),
                is_in_order: true,
            },
            // The end of a stream stands for that of a connection (RFC 8441, section 5).
            Outcome::Response { .. } if is_open => StreamEnd { is_in_order: true, ..Cause::ClosedBeforeAnswer.into() },
            Outcome::Response { .. } => Cause::NoWebSocket.into(),
            outcome => {
                let cause = outcome.cause().unwrap_or(Cause::CallEnded);
                StreamEnd { is_in_order: cause == Cause::GoneAway, ..cause.into() }
            }
        }
    }

    /// Takes the content that has arrived since the last time.
    pub(crate) fn take_content(&mut self) -> Vec<u8> {
        self.connection.incoming.content.take().unwrap_or_default()
    }

    /// Gives back the memory of [`ChannelStream::take_content`].
    pub(crate) fn restore_content(&mut self, mut content: Vec<u8>) {
        content.clear();
        self.connection.incoming.content = Some(content);
    }

    /// Records that the connection is gone.
    pub(crate) fn close(&mut self, how: Closed) {
        self.connection.closed(how, &mut Events::default());
    }

    /// Ends the stream from this side, and adds the goodbye to the output. `is_whole`: all messages were appended.
    pub(crate) fn say_goodbye(&mut self, is_whole: bool) {
        if self.connection.is_closed {
            return;
        }
        // It may not have begun, or have ended.
        let is_there = self.connection.streams.get(self.id).is_some();
        if is_there && is_whole {
            self.connection.end_content(self.id);
        } else if is_there {
            self.connection.reset(self.id, code::CANCEL);
        }
        self.connection.put_goaway(code::NO_ERROR);
    }
}
