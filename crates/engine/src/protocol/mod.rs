//! The interface between a worker and the protocols of its connections.
//!
//! A protocol is a state machine without I/O. A worker gives it requests to begin and received bytes, and sends the
//! bytes that the protocol has ready. The protocol reports the outcome of requests as [`Event`]s. The worker handles
//! time, sockets, TLS, timeouts and the books.
//!
//! To add a protocol, add a folder that implements [`Protocol`] and [`Conversation`], and a branch in `choice`, which
//! selects the protocol and the placement of a run. The test suites in `tests` run over every protocol.

pub(crate) mod canceller;
pub(crate) mod choice;
mod events;
pub(crate) mod fields;
pub mod http1;
pub mod http2;
mod made_in_run;
pub(crate) mod messages;
pub(crate) mod observer;
pub(crate) mod push_reader;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt::Debug;

use truetail_model::arrival::Arrival;
use truetail_model::record::Cause;
use truetail_model::time::Timestamp;
use truetail_run::{MessageBooks, SkippedLines};

use crate::target::request_parts::RequestParts;
use crate::target::request_set::RequestId;

pub(crate) use events::{Ended, Event, Events, Retry};

/// A request in flight, by its slot in the worker's table.
pub(crate) type Tag = u32;

/// Protocol state that all connections of one worker share.
pub(crate) trait Protocol: Debug + Sized {
    type Conversation: Conversation<Self>;

    fn conversation(&self) -> Self::Conversation;

    /// Returns true if a connection carries several requests at once.
    fn carries_several(&self) -> bool {
        false
    }

    /// Returns true if the stamp of a read is that of an answer while one request is in flight, because little else
    /// arrives: each [`Event::Unasked`] tells of it. Answers may then lie unread.
    fn hears_only_answers(&self) -> bool {
        true
    }

    /// Returns true if a connection has state of its session, such as a login, so that no other one can replace it.
    fn has_session_state(&self) -> bool {
        false
    }

    /// Returns the ALPN protocol that the server must have agreed to over TLS, and the cause of the failure if it did
    /// not.
    fn required_alpn(&self) -> Option<(&'static [u8], Cause)> {
        None
    }

    /// Returns the place of the request that begins next, which has this row, to be overwritten. Must only be called if
    /// requests are made during the run.
    fn request_of(&mut self, row: u32) -> &mut RequestParts {
        unreachable!("requests were made before the run, and row {row} has none of its own")
    }

    /// Returns true if the requests in flight on a connection are streams, as HTTP/2 has them.
    fn has_streams(&self) -> bool {
        false
    }

    /// Takes the books of messages, if requests are messages.
    fn take_message_books(&mut self) -> Option<MessageBooks> {
        None
    }

    /// Takes the count of answers with skipped lines, if there were any.
    fn take_skipped_lines(&mut self) -> Option<SkippedLines> {
        None
    }
}

/// One connection: its requests in flight, and the state of both directions. Time comes in as a value.
pub(crate) trait Conversation<P>: Debug {
    /// Begins a request. Its bytes are part of [`Conversation::output`] from now on. Must only be called if
    /// [`Conversation::has_room`]. Returns the key of the request, for [`Conversation::cancel`].
    fn begin(&mut self, protocol: &P, begins: Beginning, events: &mut Events) -> u32;

    /// Called once, when the connection is open at `now`, before its first request.
    fn opened(&mut self, now: Timestamp, events: &mut Events) {
        let _ = (now, events);
    }

    fn output<'a>(&'a self, protocol: &'a P) -> &'a [u8];

    /// Records that one call of the transport, which began at `now`, took the first `count` bytes of the output. Also
    /// called with 0, after receiving something that may allow more to be sent.
    fn sent(&mut self, protocol: &P, count: usize, now: Timestamp, events: &mut Events);

    /// Handles received bytes. `at` is the instant when they were read; if a reader needs it, the arrival of the last
    /// of them. On [`Flow::Close`] every request has ended, and the output is the last message.
    fn receive(&mut self, protocol: &mut P, bytes: &[u8], at: Timestamp, events: &mut Events) -> Flow;

    /// Returns the instant of the next call of [`Conversation::on_deadline`]; [`Timestamp::NEVER`]: there is none.
    /// Asked after each other call.
    #[inline]
    fn next_deadline(&self) -> Timestamp {
        Timestamp::NEVER
    }

    /// Does what is due at `now`, such as a ping or giving up a handshake. The next deadline is later than `now`
    /// afterwards. On [`Flow::Close`] every request has ended, and the output is the last message.
    fn on_deadline(&mut self, protocol: &mut P, now: Timestamp, events: &mut Events) -> Flow {
        let _ = (protocol, now, events);
        Flow::Continue
    }

    /// Returns true once the conversation may carry requests. Before, its output is its own opening, such as a
    /// handshake or a login, and no request begins. [`Flow::Close`] then means that the opening failed.
    #[inline]
    fn is_open(&self) -> bool {
        true
    }

    /// Says what the opening waits for and what came instead, for an error.
    fn complaint(&self) -> Option<String> {
        None
    }

    /// Ends every open request, because the connection is gone.
    fn close(&mut self, how: Closed, events: &mut Events);

    /// Gives up a request that has not ended, without an event. Returns the bytes received of its answer.
    fn cancel(&mut self, key: u32, events: &mut Events) -> u64;

    /// Adds to the output the protocol's last message before the connection is closed, if it has one.
    fn say_goodbye(&mut self, events: &mut Events) {
        let _ = events;
    }

    /// Returns true if answers are matched to requests only by order. An answer that arrived before its request is then
    /// not the answer to it.
    fn answers_in_order(&self) -> bool {
        true
    }

    /// Returns true if there may be more to send than a request that has just begun: a reply to received bytes, or the
    /// rest of a body. [`Conversation::sent`] is called then.
    fn may_send(&self) -> bool {
        false
    }

    /// Returns true if something waits that the peer does not accept yet, although the transport would take it.
    #[inline]
    fn waits_for_window(&self) -> bool {
        false
    }

    /// Returns true if another request may begin. Without multiplexing: if none is in flight.
    fn has_room(&self) -> bool {
        self.in_flight() == 0 && !self.is_closing()
    }

    /// Returns the number of requests that may be in flight at once. Without multiplexing: one.
    fn capacity(&self) -> u64 {
        1
    }

    /// Returns the number of requests that the peer allows at once, if it has set a limit.
    fn peer_limit(&self) -> Option<u32> {
        None
    }

    fn in_flight(&self) -> usize;

    /// Returns true if no request may begin any more. The connection is closed when its last request has ended.
    fn is_closing(&self) -> bool;
}

/// A request that begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Beginning {
    pub(crate) tag: Tag,
    pub(crate) request: RequestId,
    pub(crate) arrival: Arrival,
    pub(crate) now: Timestamp,
}

/// Decision whether to continue reading from a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(crate) enum Flow {
    Continue,
    /// Close the connection, because the peer broke the rules.
    Close(Cause),
}

/// Kind of end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closed {
    EndOfStream {
        /// True if no third party can have cut the connection: it has no TLS, or TLS's own end arrived before.
        authentic: bool,
    },
    Reset,
    /// The bytes cannot be decrypted, or are an alert.
    Tls {
        /// True if the peer sent an alert, and so gave up.
        alert: bool,
    },
}
