//! TLS settings of the connections to an origin: trusted authorities, client certificate, offered protocol.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::options::{Identity, TlsError, TlsOptions};
use super::signature_budget;
use super::verifier::ServerVerifier;
use crate::target::origin::Origin;

const HTTP1: &[u8] = b"http/1.1";
/// ALPN offer for HTTP/2. Nothing else is offered, because only HTTP/2 should be measured.
pub(crate) const HTTP2: &[u8] = b"h2";

/// Sessions that a worker can resume. rustls keeps up to eight tickets for each server.
const RESUMABLE_SESSIONS: usize = 32;

/// TLS settings of the connections to one origin. Clones share everything, including resumable sessions.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    verifies: bool,
}

/// Only clones of one value are equal.
impl PartialEq for Tls {
    fn eq(&self, other: &Tls) -> bool {
        Arc::ptr_eq(&self.config, &other.config) && self.name == other.name
    }
}

impl Eq for Tls {}

impl Tls {
    /// Creates the settings for connections to `origin`. Its host must be in the server's certificate, and is sent by
    /// SNI if it is a name. Reads the system's certificate authorities unless `options` names others.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn new(origin: &Origin, options: &TlsOptions) -> Result<Tls, TlsError> {
        let name = ServerName::try_from(origin.bare_host().to_owned());
        let name = name.map_err(|_| TlsError::Name(origin.bare_host().to_owned()))?;
        let provider = Arc::new(signature_budget::provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("the provider has suites for TLS 1.2 and 1.3");
        let verifier = match (options.insecure, &options.authorities) {
            (true, _) => ServerVerifier::accept_all(&provider),
            (false, Some(pem)) => {
                ServerVerifier::trusting(certificates(pem).map_err(TlsError::Authorities)?, &provider)?
            }
            (false, None) => ServerVerifier::with_roots(authorities_of_the_system()?, Vec::new(), &provider)?,
        };
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &options.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let (chain, key) = parts_of(identity, &provider)?;
                builder.with_client_auth_cert(chain, key).map_err(|error| TlsError::Identity(error.to_string()))?
            }
        };
        config.alpn_protocols = vec![HTTP1.to_vec()];
        Ok(Tls { config: Arc::new(config), name, verifies: !options.insecure })
    }

    /// Returns true if the server's certificate is verified.
    pub fn verifies(&self) -> bool {
        self.verifies
    }

    pub(crate) fn for_http2(&self) -> Tls {
        self.with_alpn(vec![HTTP2.to_vec()])
    }

    /// Returns these settings for a protocol that TLS does not agree on.
    pub(crate) fn without_alpn(&self) -> Tls {
        self.with_alpn(Vec::new())
    }

    fn with_alpn(&self, protocols: Vec<Vec<u8>>) -> Tls {
        let mut config = ClientConfig::clone(&self.config);
        config.alpn_protocols = protocols;
        Tls { config: Arc::new(config), ..self.clone() }
    }

    /// Returns these settings with separate resumable sessions, so that workers share no lock. If not `resumes`, no
    /// session is resumed, because each connection belongs to another user.
    pub(crate) fn for_one_worker(&self, resumes: bool) -> Tls {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption =
            if resumes { Resumption::in_memory_sessions(RESUMABLE_SESSIONS) } else { Resumption::disabled() };
        Tls { config: Arc::new(config), ..self.clone() }
    }

    /// Returns a connection whose handshake has not begun.
    ///
    /// # Errors
    /// If the system provides no random numbers.
    pub(crate) fn connection(&self) -> Result<ClientConnection, rustls::Error> {
        ClientConnection::new(Arc::clone(&self.config), self.name.clone())
    }
}

fn authorities_of_the_system() -> Result<RootCertStore, TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Unreadable authorities do not stop the others from being trusted.
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added > 0 {
        return Ok(roots);
    }
    let problems: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
    Err(TlsError::NoAuthorities(problems.join("; ")))
}

fn parts_of(
    identity: &Identity,
    provider: &CryptoProvider,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
    let chain = certificates(&identity.certificates).map_err(TlsError::Certificate)?;
    let key =
        PrivateKeyDer::from_pem_slice(&identity.key).map_err(|_| TlsError::Key("it holds no private key".into()))?;
    provider.key_provider.load_private_key(key.clone_key()).map_err(|error| TlsError::Key(error.to_string()))?;
    Ok((chain, key))
}

/// Returns all certificates of a PEM text, at least one.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|error| format!("it is not a PEM file: {error}"))?;
    if found.is_empty() { Err("it holds no certificate".to_owned()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(host: &str) -> Origin {
        Origin { scheme: "https".to_owned(), host: host.to_owned(), port: 443 }
    }

    fn pem() -> (Vec<u8>, Vec<u8>) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (made.cert.pem().into_bytes(), made.signing_key.serialize_pem().into_bytes())
    }

    #[test]
    fn what_is_no_identity_and_no_authority() {
        let (certificate, key) = pem();
        let (other, _) = pem();
        let error = |options: TlsOptions| Tls::new(&origin("localhost"), &options).unwrap_err();
        let authorities = |text: &[u8]| error(TlsOptions { authorities: Some(text.to_vec()), ..TlsOptions::default() });
        assert!(matches!(authorities(b"nothing"), TlsError::Authorities(_)));
        assert!(matches!(authorities(&key), TlsError::Authorities(_)));
        assert!(matches!(
            authorities(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            TlsError::Authorities(_)
        ));
        let identity = |certificates: &[u8], key: &[u8]| {
            let identity = Identity { certificates: certificates.to_vec(), key: key.to_vec() };
            error(TlsOptions { insecure: true, identity: Some(identity), ..TlsOptions::default() })
        };
        assert!(matches!(identity(b"", &key), TlsError::Certificate(_)));
        assert!(matches!(identity(&certificate, &certificate), TlsError::Key(_)));
        assert!(matches!(identity(&other, &key), TlsError::Identity(_)), "the key of another certificate");
        let insecure = TlsOptions { insecure: true, ..TlsOptions::default() };
        assert!(matches!(Tls::new(&origin("a_b..c"), &insecure), Err(TlsError::Name(_))));
    }

    #[test]
    fn a_name_and_addresses_can_be_asked_for() {
        let (certificate, _) = pem();
        let options = TlsOptions { authorities: Some(certificate), ..TlsOptions::default() };
        for host in ["localhost", "127.0.0.1", "[::1]"] {
            let tls = Tls::new(&origin(host), &options).unwrap();
            assert!(tls.verifies() && tls.connection().is_ok() && tls.for_one_worker(true) != tls, "{host}");
        }
    }
}
