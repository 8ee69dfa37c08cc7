//! What lies between a socket and the bytes of HTTP: nothing, or TLS.

use socket2::Socket;

use crate::tls::TlsSession;

/// What lies between a socket and the bytes of HTTP.
#[derive(Debug)]
pub(crate) enum Transport {
    /// Nothing.
    Plain,
    /// TLS.
    Tls(Box<TlsSession>),
}

/// Where the bytes for the parser are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    /// They are those that were read.
    AsRead,
    /// They were opened.
    Opened,
}

/// What came cannot be read, or is an alert, by which the other side says that it gives up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Broken {
    /// It is an alert.
    pub(crate) alert: bool,
    /// Something else had been heard on this connection before.
    pub(crate) heard: bool,
}

impl Transport {
    /// There are bytes that were sealed and that the socket has not taken.
    pub(crate) fn has_more_to_send(&self) -> bool {
        match self {
            Transport::Plain => false,
            Transport::Tls(session) => session.has_more_to_send(),
        }
    }

    /// Nothing is known against another request.
    pub(crate) fn goes_on(&self) -> bool {
        !matches!(self, Transport::Tls(session) if session.ended || session.broken)
    }

    /// The other side has said, over TLS, that nothing more comes.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self, Transport::Tls(session) if session.ended)
    }

    /// HTTP/2 may be spoken on it: over TLS that has to be agreed on, else it has to be known.
    pub(crate) fn speaks_http2(&self) -> bool {
        match self {
            Transport::Plain => true,
            Transport::Tls(session) => session.speaks_http2(),
        }
    }

    /// The end of the connection is to be believed: whoever can cut a connection cannot say the goodbye of TLS, and without
    /// it nobody knows whether something is missing.
    pub(crate) fn may_end(&self) -> bool {
        matches!(self, Transport::Plain) || self.has_ended()
    }

    /// Takes bytes that came through the socket and puts what was in them at the end of `opened`; answers what TLS itself
    /// has to answer. Of no use without TLS.
    pub(crate) fn open(&mut self, socket: &Socket, read: &[u8], opened: &mut Vec<u8>) -> Result<(), Broken> {
        let Transport::Tls(session) = self else { return Ok(()) };
        // The last message of a handshake waits for the request, to go out with it.
        let established = !session.is_handshaking();
        let result = session.open(read, opened);
        if result.is_err() || (established && session.has_more_to_send()) {
            // Whether the other side hears it or not, the connection goes on or ends as it does.
            let _ = session.flush(socket);
        }
        result.map_err(|error| Broken { alert: matches!(error, rustls::Error::AlertReceived(_)), heard: session.heard })
    }

    /// Ends TLS, before the connection is closed.
    pub(crate) fn say_goodbye(&mut self, socket: &Socket) {
        if let Transport::Tls(session) = self {
            session.say_goodbye(socket);
        }
    }
}
