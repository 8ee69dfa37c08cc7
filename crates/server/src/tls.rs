//! TLS: the certificate of the server.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

/// Protocols that the server accepts by ALPN, in order of preference.
#[cfg(feature = "http2")]
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];
#[cfg(not(feature = "http2"))]
const PROTOCOLS: [&[u8]; 1] = [b"http/1.1"];

/// A certificate and its key. Clones share them.
#[derive(Clone, Debug)]
pub struct Certificate(Arc<ServerConfig>);

impl Certificate {
    /// Parses a certificate with its chain to an authority, and its private key, both in PEM. Supports TLS 1.2 and 1.3.
    ///
    /// # Errors
    /// A sentence that says which of the two cannot be read, or that they do not belong together.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Certificate, String> {
        let certificates = CertificateDer::pem_slice_iter(chain).collect::<Result<Vec<_>, _>>();
        let certificates = certificates.map_err(|error| format!("the certificate is not a PEM file: {error}"))?;
        if certificates.is_empty() {
            return Err("there is no certificate in the file of the certificate".to_owned());
        }
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| "there is no private key in the file of the key".to_owned())?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has suites for TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .map_err(|error| format!("the certificate and its key cannot be used together: {error}"))?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(Certificate(Arc::new(config)))
    }

    pub(crate) fn session(&self) -> Result<ServerConnection, rustls::Error> {
        ServerConnection::new(Arc::clone(&self.0))
    }
}
