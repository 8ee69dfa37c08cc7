//! The options of TLS, and the errors in them.

/// The options of TLS. By default, the system's certificate authorities are trusted, without a client certificate.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TlsOptions {
    /// Accept any certificate, by any signer, for any name and date. A third party can then read and change everything.
    pub insecure: bool,
    /// Trusted certificates in PEM, both as authorities and as the server's own; `None`: the system's authorities.
    pub authorities: Option<Vec<u8>>,
    /// The client certificate for servers that ask for one.
    pub identity: Option<Identity>,
}

/// A client certificate and its key.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate, then the chain from it to an authority, in PEM.
    pub certificates: Vec<u8>,
    /// The private key of the certificate, in PEM.
    pub key: Vec<u8>,
}

/// Leaves out the key, which must not get into logs.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

/// Reason why TLS cannot be set up.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TlsError {
    /// The host is neither a DNS name nor an address.
    #[error("'{0}' is not a host name that a certificate can hold")]
    Name(String),
    /// No certificate authorities were found. Holds the system's errors, if any.
    #[error("this system has no certificate authorities{}", after_colon(.0))]
    NoAuthorities(String),
    /// The given authorities cannot be read.
    #[error("the certificate authorities: {0}")]
    Authorities(String),
    /// The client certificate cannot be read.
    #[error("the client certificate: {0}")]
    Certificate(String),
    /// The private key cannot be read.
    #[error("the private key: {0}")]
    Key(String),
    /// Certificate and key do not belong together.
    #[error("the client certificate and its key: {0}")]
    Identity(String),
}

fn after_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}
