//! A connection, in the version of HTTP that its client speaks.

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

/// An open connection.
#[derive(Debug)]
pub(crate) enum AcceptedConnection {
    /// Until its client begins with the preface of HTTP/2.
    Http1(Http1Connection),
    #[cfg(feature = "http2")]
    Http2(Box<Http2Connection>),
}

/// Calls a method that both have.
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
    /// A new connection. Its socket is non-blocking, and the reactor watches it as `token`.
    pub(crate) fn new(transport: Transport, token: u64) -> AcceptedConnection {
        AcceptedConnection::Http1(Http1Connection::new(transport, token))
    }

    /// Its socket.
    pub(crate) fn stream(&self) -> &TcpStream {
        either!(self, one => one.stream())
    }

    /// Reads what has come, through `buffer`. Returns true when there may be more, so that another turn is wanted.
    pub(crate) fn read(&mut self, shared: &mut SharedState, buffer: &mut [u8]) -> Result<bool, CloseReason> {
        either!(self, one => one.read(shared, buffer))
    }

    /// Goes on in the version of HTTP that its client has turned out to speak.
    pub(crate) fn in_its_version(self) -> AcceptedConnection {
        match self {
            #[cfg(feature = "http2")]
            AcceptedConnection::Http1(one) if one.speaks_http2() => {
                AcceptedConnection::Http2(Box::new(one.into_http2()))
            }
            other => other,
        }
    }

    /// It has turned out that its client speaks another version.
    pub(crate) fn changes_version(&self) -> bool {
        matches!(self, AcceptedConnection::Http1(one) if one.speaks_http2())
    }

    /// True when there may be something to read that was left for lack of room, and there is room now.
    pub(crate) fn wants_reading(&self) -> bool {
        either!(self, one => one.wants_reading())
    }

    /// The system takes bytes again.
    pub(crate) fn on_writable(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        either!(self, one => one.on_writable(shared))
    }

    /// Called when an instant has come that this connection had added to the timers.
    pub(crate) fn on_timer(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        either!(self, one => one.on_timer(shared, now))
    }

    /// A stream of this connection has an event, which is to be sent.
    pub(crate) fn on_step(&mut self, shared: &mut SharedState, event: &BatchEvent<StreamKey>) {
        either!(self, one => one.on_step(shared, event));
    }

    /// Ends every unanswered request with `ending`.
    pub(crate) fn abandon(&mut self, shared: &mut SharedState, ending: Ending) {
        either!(self, one => one.abandon(shared, ending));
    }
}
