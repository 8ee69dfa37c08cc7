//! A connection, in the protocol that its client uses.

use std::net::TcpStream;

use truetail_model::service::BatchEvent;
use truetail_model::time::Timestamp;

use crate::answer_queue::AnswerQueue;
use crate::close_reason::CloseReason;
use crate::http1_connection::Http1Connection;
#[cfg(feature = "http2")]
use crate::http2::Http2Connection;
use crate::messages::{MessageConnection, MessageFraming};
use crate::shared_state::SharedState;
use crate::stream::StreamKey;
use crate::transport::Transport;
use crate::truth::Ending;

#[derive(Debug)]
pub(crate) enum AcceptedConnection {
    /// HTTP/1, and any connection until its client sends the preface of HTTP/2 or asks for WebSocket.
    Http1(Http1Connection),
    Messages(MessageConnection),
    #[cfg(feature = "http2")]
    Http2(Box<Http2Connection>),
}

/// Calls a method of any kind of connection.
macro_rules! each {
    ($connection:expr, $one:ident => $call:expr) => {
        match $connection {
            AcceptedConnection::Http1($one) => $call,
            AcceptedConnection::Messages($one) => $call,
            #[cfg(feature = "http2")]
            AcceptedConnection::Http2($one) => $call,
        }
    };
}

/// Calls a method of the answers of a connection, or of a connection in HTTP/2, which sends answers in any order.
macro_rules! answers {
    ($connection:expr, $one:ident => $call:expr) => {
        match $connection {
            AcceptedConnection::Http1(Http1Connection { answers: $one, .. }) => $call,
            AcceptedConnection::Messages(messages) => {
                let $one = &mut messages.answers;
                $call
            }
            #[cfg(feature = "http2")]
            AcceptedConnection::Http2($one) => $call,
        }
    };
}

impl AcceptedConnection {
    /// Creates a connection, with messages if there is a framing. Its socket is non-blocking. The reactor watches it as
    /// `token`.
    pub(crate) fn new(transport: Transport, token: u64, framing: Option<MessageFraming>) -> AcceptedConnection {
        let answers = AnswerQueue::new(transport, token);
        match framing {
            Some(framing) => AcceptedConnection::Messages(MessageConnection::framed(answers, framing)),
            None => AcceptedConnection::Http1(Http1Connection::new(answers)),
        }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        match self {
            AcceptedConnection::Http1(one) => one.answers.transport.stream(),
            AcceptedConnection::Messages(one) => one.answers.transport.stream(),
            #[cfg(feature = "http2")]
            AcceptedConnection::Http2(one) => one.stream(),
        }
    }

    /// Reads the received bytes, through `buffer`. Returns true if more bytes may wait for another turn.
    pub(crate) fn read(&mut self, shared: &mut SharedState, buffer: &mut [u8]) -> Result<bool, CloseReason> {
        each!(self, one => one.read(shared, buffer))
    }

    /// Changes to the protocol that the client uses.
    pub(crate) fn in_its_protocol(self) -> AcceptedConnection {
        match self {
            #[cfg(feature = "http2")]
            AcceptedConnection::Http1(one) if one.speaks_http2() => {
                AcceptedConnection::Http2(Box::new(one.into_http2()))
            }
            AcceptedConnection::Http1(mut one) => match one.take_upgrade() {
                Some((upgrade, route)) => AcceptedConnection::Messages(one.into_websocket(&upgrade, route)),
                None => AcceptedConnection::Http1(one),
            },
            other => other,
        }
    }

    /// Returns true if the client uses another protocol than this connection.
    pub(crate) fn changes_protocol(&self) -> bool {
        matches!(self, AcceptedConnection::Http1(one) if one.speaks_http2() || one.speaks_websocket())
    }

    /// Returns true if bytes were left unread for lack of room, and there is room now.
    pub(crate) fn wants_reading(&self) -> bool {
        each!(self, one => one.wants_reading())
    }

    /// Continues to send when the system accepts bytes again.
    pub(crate) fn on_writable(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        answers!(self, one => one.on_writable(shared))
    }

    /// Handles a timer of this connection that is due.
    pub(crate) fn on_timer(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        match self {
            AcceptedConnection::Http1(one) => one.on_timer(shared, now),
            AcceptedConnection::Messages(one) => one.answers.on_timer(shared, now),
            #[cfg(feature = "http2")]
            AcceptedConnection::Http2(one) => one.on_timer(shared, now),
        }
    }

    /// Adds an event of a batch to its stream, to be sent when it is due.
    pub(crate) fn on_step(&mut self, shared: &mut SharedState, event: &BatchEvent<StreamKey>) {
        answers!(self, one => one.on_step(shared, event));
    }

    /// Ends every unanswered request with `ending`.
    pub(crate) fn abandon(&mut self, shared: &mut SharedState, ending: Ending) {
        answers!(self, one => one.abandon(shared, ending));
    }
}
