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

/// What came cannot be read, or is an alert, by which the other side says that it gives up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TlsFailure {
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
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self, Transport::Tls(session) if session.ended || session.broken)
    }

    /// The other side has said, over TLS, that nothing more comes.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self, Transport::Tls(session) if session.ended)
    }

    /// This protocol may be spoken on it: over TLS that has to be agreed on by ALPN, else it has to be known.
    pub(crate) fn may_speak(&self, alpn: &[u8]) -> bool {
        match self {
            Transport::Plain => true,
            Transport::Tls(session) => session.alpn() == Some(alpn),
        }
    }

    /// The end of the connection can be believed: whoever cuts a connection cannot send TLS's own end (close_notify), and
    /// without it nobody knows whether something is missing.
    pub(crate) fn end_is_authentic(&self) -> bool {
        matches!(self, Transport::Plain) || self.has_ended()
    }

    /// Takes bytes that came through the socket and adds what was in them to `decrypted`; sends what TLS itself has to
    /// answer. Does nothing without TLS.
    pub(crate) fn decrypt(&mut self, socket: &Socket, read: &[u8], decrypted: &mut Vec<u8>) -> Result<(), TlsFailure> {
        let Transport::Tls(session) = self else { return Ok(()) };
        // The last message of a handshake waits for the request, to go out with it.
        let established = !session.is_handshaking();
        let result = session.open(read, decrypted);
        if result.is_err() || (established && session.has_more_to_send()) {
            // Whether the other side hears it or not, the connection goes on or ends as it does.
            let _ = session.flush(socket);
        }
        result.map_err(|error| TlsFailure {
            alert: matches!(error, rustls::Error::AlertReceived(_)),
            heard: session.heard,
        })
    }

    /// Ends TLS, before the connection is closed.
    pub(crate) fn say_goodbye(&mut self, socket: &Socket) {
        if let Transport::Tls(session) = self {
            session.say_goodbye(socket);
        }
    }
}
