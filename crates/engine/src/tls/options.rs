//! What the user says about TLS.

/// What the user says about TLS. The default: the system's certificate authorities, and no certificate of one's own.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TlsOptions {
    /// Any certificate will do, whoever signed it, for whatever name and time. What is sent can be read and changed by
    /// whoever stands between.
    pub insecure: bool,
    /// The only certificate authorities that are trusted, in PEM; `None` for those of the system.
    pub authorities: Option<Vec<u8>>,
    /// What is shown to a server that asks who its client is.
    pub identity: Option<Identity>,
}

/// A certificate of one's own.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate and what leads from it to an authority, in this order, in PEM.
    pub certificates: Vec<u8>,
    /// Its private key, in PEM.
    pub key: Vec<u8>,
}

/// A key is not for logs.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

/// Why there can be no TLS.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TlsError {
    /// Neither a name nor an address as certificates have them.
    #[error("'{0}' is no host that a certificate could name")]
    Name(String),
    /// Nobody can be trusted; what the system said, if anything.
    #[error("no certificate authorities were found on this system{}", after_colon(.0))]
    NoAuthorities(String),
    /// The authorities that were given.
    #[error("the certificate authorities: {0}")]
    Authorities(String),
    /// The certificate of one's own.
    #[error("the client certificate: {0}")]
    Certificate(String),
    /// The key of one's own.
    #[error("the private key: {0}")]
    Key(String),
    /// Certificate and key do not belong together.
    #[error("the client certificate and its key: {0}")]
    Identity(String),
}

fn after_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}
