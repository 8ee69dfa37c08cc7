//! Reasons why a TLS handshake failed, in words for people.

use std::io;

use rustls::{AlertDescription, CertificateError, Error};

use super::verifier::is_authority_as_server;

/// Reason why a TLS handshake failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TlsFault {
    /// No trusted authority has signed the server's certificate.
    #[error("its certificate is not signed by a trusted authority")]
    UnknownIssuer,
    /// The server's certificate has expired.
    #[error("its certificate has expired")]
    Expired,
    /// The server's certificate is not valid yet.
    #[error("its certificate is not valid yet")]
    NotYetValid,
    /// The server's certificate is for another name.
    #[error("its certificate is {}", wrong_name(.wanted, .names))]
    WrongName {
        /// The requested name; empty if unknown.
        wanted: String,
        /// The names in the certificate; empty if it has no names.
        names: Vec<String>,
    },
    /// The server's certificate is an authority's own, as self-signed ones often are, and is not trusted itself.
    #[error("its certificate is a certificate authority's own, as self-signed ones often are, and is not trusted")]
    OfAnAuthority,
    /// Any other problem of the server's certificate.
    #[error("its certificate cannot be trusted: {0}")]
    Certificate(String),
    /// The server did not answer in TLS.
    #[error("its answer is not TLS")]
    NotTls,
    /// The server requires a client certificate, or does not accept the given one.
    #[error("it wants another client certificate, or any at all ({0})")]
    ClientCertificate(String),
    /// The connection ended during the handshake.
    #[error("the connection ended during the handshake")]
    Ended,
    /// HTTP/2 was offered and the server did not accept it.
    #[error("it does not speak HTTP/2")]
    NoHttp2,
    /// HTTP/1.1 was offered and the server did not accept it.
    #[error("it does not speak HTTP/1.1")]
    NoHttp1,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// Returns a text such as `for a.test and b.test, not for c.test`.
fn wrong_name(wanted: &str, names: &[String]) -> String {
    let not = if wanted.is_empty() { "the name in the URL" } else { wanted };
    match names {
        [] => format!("not for {not}: it has no subjectAltName, and a common name alone does not count"),
        [only] => format!("for {only}, not for {not}"),
        [first @ .., last] => format!("for {} and {last}, not for {not}", first.join(", ")),
    }
}

/// Returns a name of a certificate in plain form. webpki writes `DnsName("a.test")` or `IpAddress(127.0.0.1)`.
fn plain_name(presented: &str) -> String {
    let inner = presented.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.map_or(presented, |inner| inner.trim_matches('"')).to_owned()
}

impl From<&Error> for TlsFault {
    fn from(error: &Error) -> TlsFault {
        match error {
            Error::InvalidCertificate(problem) => from_certificate_error(problem),
            Error::InvalidMessage(_) => TlsFault::NotTls,
            Error::AlertReceived(alert) => from_alert(*alert),
            other => TlsFault::Other(other.to_string()),
        }
    }
}

fn from_certificate_error(problem: &CertificateError) -> TlsFault {
    match problem {
        CertificateError::UnknownIssuer => TlsFault::UnknownIssuer,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsFault::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => TlsFault::NotYetValid,
        CertificateError::NotValidForName => TlsFault::WrongName { wanted: String::new(), names: Vec::new() },
        CertificateError::NotValidForNameContext { expected, presented } => TlsFault::WrongName {
            wanted: expected.to_str().into_owned(),
            names: presented.iter().map(|name| plain_name(name)).collect(),
        },
        other if is_authority_as_server(other) => TlsFault::OfAnAuthority,
        other => TlsFault::Certificate(other.to_string()),
    }
}

fn from_alert(alert: AlertDescription) -> TlsFault {
    use AlertDescription as Alert;
    match alert {
        Alert::CertificateRequired
        | Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateExpired
        | Alert::CertificateUnknown
        | Alert::UnknownCA
        | Alert::AccessDenied => TlsFault::ClientCertificate(format!("TLS alert {}", alert_name(alert))),
        // The server refuses the offered protocol, which is usually HTTP/2.
        Alert::NoApplicationProtocol => TlsFault::NoHttp2,
        other => TlsFault::Other(format!("it refused the handshake with TLS alert {}", alert_name(other))),
    }
}

/// Returns the alert's name as in RFC 8446, section 6, such as `unknown_ca`; rustls writes `UnknownCA`.
fn alert_name(alert: AlertDescription) -> String {
    let name = format!("{alert:?}");
    let mut words = String::new();
    let mut after_small = false;
    for c in name.chars() {
        if c.is_uppercase() && after_small {
            words.push('_');
        }
        after_small = c.is_lowercase();
        words.push(c.to_ascii_lowercase());
    }
    words
}

impl TlsFault {
    /// Returns the TLS error inside an I/O error of a stream over TLS, if there is one.
    pub(crate) fn inside(error: &io::Error) -> Option<TlsFault> {
        error.get_ref()?.downcast_ref::<Error>().map(TlsFault::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_alerts_in_words() {
        let told = |names: &[&str]| {
            let names = names.iter().map(|name| plain_name(name)).collect();
            TlsFault::WrongName { wanted: "c.test".to_owned(), names }.to_string()
        };
        assert_eq!(told(&[r#"DnsName("a.test")"#]), "its certificate is for a.test, not for c.test");
        assert_eq!(
            told(&[r#"DnsName("a.test")"#, r#"DnsName("*.b.test")"#, "IpAddress(127.0.0.1)"]),
            "its certificate is for a.test, *.b.test and 127.0.0.1, not for c.test"
        );
        assert_eq!(
            told(&[]),
            "its certificate is not for c.test: it has no subjectAltName, and a common name alone does not count"
        );
        assert_eq!(alert_name(AlertDescription::UnknownCA), "unknown_ca");
        assert_eq!(alert_name(AlertDescription::HandshakeFailure), "handshake_failure");
    }
}
