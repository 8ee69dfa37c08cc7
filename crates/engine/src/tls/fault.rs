//! Why a TLS handshake failed, in words for people.

use std::io;

use rustls::{AlertDescription, CertificateError, Error};

/// Why a TLS handshake failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TlsFault {
    /// No trusted authority has signed the server's certificate.
    #[error("nobody who is trusted has signed its certificate")]
    UnknownIssuer,
    /// The server's certificate has expired.
    #[error("its certificate has expired")]
    Expired,
    /// The server's certificate is not valid yet.
    #[error("its certificate is not valid yet")]
    NotYetValid,
    /// The server's certificate is for another name.
    #[error("its certificate is for another name{}", valid_for(.names))]
    WrongName {
        /// The names in the certificate; empty where they are not known.
        names: Vec<String>,
    },
    /// The server's certificate is that of an authority, as self-signed ones often are.
    #[error("its certificate is that of an authority, which a server may not show; self-signed ones often are")]
    OfAnAuthority,
    /// Any other problem of the server's certificate.
    #[error("its certificate cannot be trusted: {0}")]
    Certificate(String),
    /// What the server sent is not TLS.
    #[error("what it answers is not TLS")]
    NotTls,
    /// The server wants a client certificate, or does not accept the one it was given.
    #[error("it does not accept the client's certificate, or there was none to show ({0})")]
    ClientCertificate(String),
    /// The connection ended in mid-handshake.
    #[error("the connection ended in mid-handshake")]
    Ended,
    /// HTTP/2 was offered and the server did not accept it.
    #[error("it does not speak HTTP/2")]
    NoHttp2,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

fn valid_for(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
}

impl From<&Error> for TlsFault {
    fn from(error: &Error) -> TlsFault {
        match error {
            Error::InvalidCertificate(problem) => of_certificate(problem),
            Error::InvalidMessage(_) => TlsFault::NotTls,
            Error::AlertReceived(alert) => of_alert(*alert),
            other => TlsFault::Other(other.to_string()),
        }
    }
}

fn of_certificate(problem: &CertificateError) -> TlsFault {
    match problem {
        CertificateError::UnknownIssuer => TlsFault::UnknownIssuer,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsFault::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => TlsFault::NotYetValid,
        CertificateError::NotValidForName => TlsFault::WrongName { names: Vec::new() },
        CertificateError::NotValidForNameContext { presented, .. } => TlsFault::WrongName { names: presented.clone() },
        // Only webpki, below rustls, has a variant for it, and we do not depend on webpki.
        other if other.to_string().contains("CaUsedAsEndEntity") => TlsFault::OfAnAuthority,
        other => TlsFault::Certificate(other.to_string()),
    }
}

fn of_alert(alert: AlertDescription) -> TlsFault {
    use AlertDescription as Alert;
    match alert {
        Alert::CertificateRequired
        | Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateExpired
        | Alert::CertificateUnknown
        | Alert::UnknownCA
        | Alert::AccessDenied => TlsFault::ClientCertificate(format!("it says {alert:?}")),
        // Servers refuse HTTP/2 with it; none refuses HTTP/1.1.
        Alert::NoApplicationProtocol => TlsFault::NoHttp2,
        other => TlsFault::Other(format!("it says {other:?}")),
    }
}

impl TlsFault {
    /// The TLS error inside an I/O error of a stream over TLS, if there is one.
    pub(crate) fn inside(error: &io::Error) -> Option<TlsFault> {
        error.get_ref()?.downcast_ref::<Error>().map(TlsFault::from)
    }
}
