//! The layer between a socket and the bytes of HTTP: none, or TLS.

use socket2::Socket;

use crate::tls::TlsSession;

#[derive(Debug)]
pub(crate) enum Transport {
    Plain,
    Tls(Box<TlsSession>),
}

/// Failure to read TLS: unreadable bytes, or an alert of the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TlsFailure {
    /// True if the peer sent an alert.
    pub(crate) alert: bool,
    /// True if plain bytes were received on this connection before.
    pub(crate) heard: bool,
}

impl Transport {
    /// Returns true if the socket has not taken all encrypted bytes.
    pub(crate) fn has_more_to_send(&self) -> bool {
        match self {
            Transport::Plain => false,
            Transport::Tls(session) => session.has_more_to_send(),
        }
    }

    /// Returns true if another request can be sent, as far as TLS knows.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self, Transport::Tls(session) if session.ended || session.broken)
    }

    /// Returns true if the peer has said over TLS that it sends nothing more.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self, Transport::Tls(session) if session.ended)
    }

    /// Returns true if this protocol may be used: over TLS it must have been agreed on by ALPN.
    pub(crate) fn may_speak(&self, alpn: &[u8]) -> bool {
        match self {
            Transport::Plain => true,
            Transport::Tls(session) => session.alpn() == Some(alpn),
        }
    }

    /// Returns true if the end of the connection can be trusted. A third party that cuts a connection cannot forge
    /// TLS's close_notify, and without it bytes may be missing.
    pub(crate) fn end_is_authentic(&self) -> bool {
        matches!(self, Transport::Plain) || self.has_ended()
    }

    /// Decrypts bytes from the socket, appends the plain bytes to `decrypted`, and sends TLS's replies. Without TLS,
    /// does nothing.
    pub(crate) fn decrypt(&mut self, socket: &Socket, read: &[u8], decrypted: &mut Vec<u8>) -> Result<(), TlsFailure> {
        let Transport::Tls(session) = self else { return Ok(()) };
        // The last handshake message waits for the request, to be sent with it.
        let established = !session.is_handshaking();
        let result = session.open(read, decrypted);
        if result.is_err() || (established && session.has_more_to_send()) {
            // Ignored, because the connection continues or ends regardless of this reply.
            let _ = session.flush(socket);
        }
        result.map_err(|error| TlsFailure {
            alert: matches!(error, rustls::Error::AlertReceived(_)),
            heard: session.heard,
        })
    }

    pub(crate) fn say_goodbye(&mut self, socket: &Socket) {
        if let Transport::Tls(session) = self {
            session.say_goodbye(socket);
        }
    }
}
