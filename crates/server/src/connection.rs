//! A connection, in the version of HTTP that its client uses.

use std::net::TcpStream;

use truetail_model::service::BatchEvent;
use truetail_model::time::Timestamp;

use crate::close_reason::CloseReason;
use crate::http1_connection::Http1Connection;
#[cfg(feature = "http2")]
use crate::http2::Http2Connection;
use crate::shared_state::SharedState;
use crate::stream::StreamKey;
use crate::transport::Transport;
use crate::truth::Ending;

#[derive(Debug)]
pub(crate) enum AcceptedConnection {
    /// HTTP/1, and any connection until its client sends the preface of HTTP/2.
    Http1(Http1Connection),
    #[cfg(feature = "http2")]
    Http2(Box<Http2Connection>),
}

/// Calls a method of either kind of connection.
macro_rules! either {
    ($connection:expr, $one:ident => $call:expr) => {
        match $connection {
            AcceptedConnection::Http1($one) => $call,
            #[cfg(feature = "http2")]
            AcceptedConnection::Http2($one) => $call,
        }
    };
}

impl AcceptedConnection {
    /// Creates a connection. Its socket is non-blocking, and the reactor watches it as `token`.
    pub(crate) fn new(transport: Transport, token: u64) -> AcceptedConnection {
        AcceptedConnection::Http1(Http1Connection::new(transport, token))
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        either!(self, one => one.stream())
    }

    /// Reads the received bytes, through `buffer`. Returns true if more bytes may wait for another turn.
    pub(crate) fn read(&mut self, shared: &mut SharedState, buffer: &mut [u8]) -> Result<bool, CloseReason> {
        either!(self, one => one.read(shared, buffer))
    }

    /// Changes to the version of HTTP that the client uses.
    pub(crate) fn in_its_version(self) -> AcceptedConnection {
        match self {
            #[cfg(feature = "http2")]
            AcceptedConnection::Http1(one) if one.speaks_http2() => {
                AcceptedConnection::Http2(Box::new(one.into_http2()))
            }
            other => other,
        }
    }

    /// Returns true if the client uses another version of HTTP than this connection.
    pub(crate) fn changes_version(&self) -> bool {
        matches!(self, AcceptedConnection::Http1(one) if one.speaks_http2())
    }

    /// Returns true if bytes were left unread for lack of room, and there is room now.
    pub(crate) fn wants_reading(&self) -> bool {
        either!(self, one => one.wants_reading())
    }

    /// Continues to send when the system accepts bytes again.
    pub(crate) fn on_writable(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        either!(self, one => one.on_writable(shared))
    }

    /// Handles a timer of this connection that is due.
    pub(crate) fn on_timer(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        either!(self, one => one.on_timer(shared, now))
    }

    /// Adds an event of a batch to its stream, to be sent when it is due.
    pub(crate) fn on_step(&mut self, shared: &mut SharedState, event: &BatchEvent<StreamKey>) {
        either!(self, one => one.on_step(shared, event));
    }

    /// Ends every unanswered request with `ending`.
    pub(crate) fn abandon(&mut self, shared: &mut SharedState, ending: Ending) {
        either!(self, one => one.abandon(shared, ending));
    }
}
