//! Verification of server certificates. Accepts any certificate ([`insecure`](super::TlsOptions::insecure)), those
//! backed by the user's certificates ([`authorities`](super::TlsOptions::authorities)), or those signed by the system's
//! authorities.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::options::TlsError;
use super::signature_budget::{MAX_SIGNATURES, within_budget};

/// Limit on the certificates after the server's own that are searched for a chain. They are the first that are sent,
/// because each vouches for the one before it. `n` certificates with one name form more than `n` factorial chains.
const MAX_INTERMEDIATES: usize = 6;

/// Verifies servers. During the handshake, each server must prove that it has the key of its certificate, in all modes.
#[derive(Debug)]
pub(super) struct ServerVerifier {
    algorithms: WebPkiSupportedAlgorithms,
    /// The trusted certificates; `None`: every certificate is accepted.
    trusted: Option<NamedCertificates>,
}

/// Trusts what a named certificate has signed, and a server that presents a named certificate itself, byte for byte.
/// Names and dates are verified in both cases.
///
/// The second case is for self-signed certificates that are marked as an authority's, as `openssl req -x509` makes
/// them, and for a server's certificate without its authority. webpki refuses both. OpenSSL with partial chains, and
/// therefore curl, accepts them.
#[derive(Debug)]
struct NamedCertificates {
    by_signature: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
}

impl ServerVerifier {
    /// Returns a verifier that accepts every certificate.
    pub(super) fn accept_all(provider: &CryptoProvider) -> ServerVerifier {
        ServerVerifier { algorithms: provider.signature_verification_algorithms, trusted: None }
    }

    /// Returns a verifier that trusts the named certificates.
    ///
    /// # Errors
    /// [`TlsError::Authorities`].
    pub(super) fn trusting(
        named: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
    ) -> Result<ServerVerifier, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in &named {
            roots.add(certificate.clone()).map_err(|error| TlsError::Authorities(error.to_string()))?;
        }
        ServerVerifier::with_roots(roots, named, provider)
    }

    /// Returns a verifier that trusts what `roots` have signed, and the named certificates themselves.
    ///
    /// # Errors
    /// [`TlsError::Authorities`].
    pub(super) fn with_roots(
        roots: RootCertStore,
        named: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
    ) -> Result<ServerVerifier, TlsError> {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
        let by_signature = verifier.map_err(|error| TlsError::Authorities(error.to_string()))?;
        Ok(ServerVerifier { trusted: Some(NamedCertificates { by_signature, named }), ..Self::accept_all(provider) })
    }
}

/// Returns true if a refusal is about the signer of a certificate. `BadSignature` is included, because the signer may
/// have the same name as the certificate. webpki verifies dates before signers, so the dates are valid (tested below).
fn is_about_the_signer(problem: &CertificateError) -> bool {
    matches!(problem, CertificateError::UnknownIssuer | CertificateError::BadSignature)
        || is_authority_as_server(problem)
}

pub(super) fn is_authority_as_server(problem: &CertificateError) -> bool {
    // Only webpki has a variant for it, below rustls, and truetail does not depend on webpki directly.
    matches!(problem, CertificateError::Other(_)) && problem.to_string().contains("CaUsedAsEndEntity")
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(NamedCertificates { by_signature, named }) = &self.trusted else {
            return Ok(ServerCertVerified::assertion());
        };
        let considered = &intermediates[..intermediates.len().min(MAX_INTERMEDIATES)];
        let (verified, is_used_up) =
            within_budget(|| by_signature.verify_server_cert(end_entity, considered, server_name, ocsp_response, now));
        match verified {
            Err(_) if is_used_up => Err(Error::General(format!(
                "its certificates can be put into a chain in too many ways: more than {MAX_SIGNATURES} signatures to verify"
            ))),
            Err(Error::InvalidCertificate(CertificateError::UnknownIssuer))
                if considered.len() < intermediates.len() && named.iter().all(|named| named != end_entity) =>
            {
                Err(Error::General(format!(
                    "its certificate is not signed by a trusted authority, as far as the first {MAX_INTERMEDIATES} of the {} \
                     certificates that it sends say",
                    intermediates.len()
                )))
            }
            Err(Error::InvalidCertificate(problem))
                if is_about_the_signer(&problem) && named.iter().any(|named| named == end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};

    use super::super::signature_budget;
    use super::*;

    /// Seconds from 1970 to the first day of 2030 and of 2050.
    const IN_2030: u64 = 1_893_456_000;
    const IN_2050: u64 = 2_524_608_000;

    fn params(authority: bool) -> CertificateParams {
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2040, 1, 1);
        params.is_ca = if authority { IsCa::Ca(BasicConstraints::Unconstrained) } else { IsCa::NoCa };
        params
    }

    fn self_signed(authority: bool) -> CertificateDer<'static> {
        params(authority).self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    /// Returns the certificate of a server, signed by an authority that the test does not have.
    fn signed_by_another() -> CertificateDer<'static> {
        let issuer = CertifiedIssuer::self_signed(params(true), KeyPair::generate().unwrap()).unwrap();
        params(false).signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap().der().clone()
    }

    fn verify(named: &CertificateDer<'static>, shown: &CertificateDer<'_>, name: &str, at: u64) -> Result<(), Error> {
        let provider = Arc::new(signature_budget::provider());
        let verifier = ServerVerifier::trusting(vec![named.clone()], &provider).unwrap();
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(at));
        verifier.verify_server_cert(shown, &[], &name, &[], now).map(drop)
    }

    #[test]
    fn a_named_certificate_is_trusted_by_its_name_and_within_its_dates() {
        for own in [self_signed(true), self_signed(false), signed_by_another()] {
            assert_eq!(verify(&own, &own, "localhost", IN_2030), Ok(()));
            let of = |name: &str, at: u64| match verify(&own, &own, name, at) {
                Err(Error::InvalidCertificate(problem)) => problem,
                other => panic!("{other:?}"),
            };
            assert!(matches!(of("localhost", IN_2050), CertificateError::ExpiredContext { .. }));
            assert!(matches!(of("localhost", 0), CertificateError::NotValidYetContext { .. }));
            assert!(matches!(of("other.test", IN_2030), CertificateError::NotValidForNameContext { .. }));
        }
    }

    /// Authorities of one name; the last has signed the server's certificate. The trusted one is another of this name.
    #[test]
    fn a_maze_of_certificates_is_not_searched() {
        let same_name = || {
            let mut params = params(true);
            params.distinguished_name.push(DnType::CommonName, "same");
            CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
        };
        let maze: Vec<_> = (0..30).map(|_| same_name()).collect();
        let shown = params(false).signed_by(&KeyPair::generate().unwrap(), &maze[29]).unwrap();
        let certificates: Vec<CertificateDer<'_>> = maze.iter().map(|issuer| issuer.der().clone()).collect();
        let provider = Arc::new(signature_budget::provider());
        let name = ServerName::try_from("localhost").unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(IN_2030));
        let verify = |trusted: CertificateDer<'static>, sent: &[CertificateDer<'_>]| {
            let verifier = ServerVerifier::trusting(vec![trusted], &provider).unwrap();
            verifier.verify_server_cert(shown.der(), sent, &name, &[], now).map(drop)
        };
        let refused = verify(same_name().der().clone(), &certificates).unwrap_err().to_string();
        assert!(refused.contains("more than 16 signatures"), "{refused}");
        let refused = verify(self_signed(true), &certificates).unwrap_err().to_string();
        assert!(refused.contains("the first 6 of the 30 certificates"), "{refused}");
        // The budget applies to one verification.
        assert_eq!(verify(certificates[29].clone(), &[]), Ok(()));
        assert_eq!(verify(self_signed(true), &certificates[..3]), Err(CertificateError::UnknownIssuer.into()));
    }

    #[test]
    fn another_certificate_of_the_same_name_is_not_trusted() {
        for authority in [true, false] {
            assert!(verify(&self_signed(authority), &self_signed(authority), "localhost", IN_2030).is_err());
        }
        assert!(verify(&self_signed(true), &signed_by_another(), "localhost", IN_2030).is_err());
    }
}
