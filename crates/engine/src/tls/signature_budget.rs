//! A limit on the signatures that are verified for one chain of certificates. Verifying one takes up to a millisecond,
//! and a server may send many certificates with one name that may have signed each other.

use std::cell::Cell;
use std::sync::LazyLock;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm};

pub(super) const MAX_SIGNATURES: u32 = 16;

thread_local! {
    /// Signatures that may still be verified for this thread's current chain.
    static LEFT: Cell<u32> = const { Cell::new(MAX_SIGNATURES) };
}

/// Verifies a chain with `verify`. Returns its result, and true if the budget was used up.
pub(super) fn within_budget<T>(verify: impl FnOnce() -> T) -> (T, bool) {
    LEFT.set(MAX_SIGNATURES);
    (verify(), LEFT.get() == 0)
}

/// Returns a provider whose algorithms verify signatures of chains within the budget.
pub(super) fn provider() -> CryptoProvider {
    static BUDGETED: LazyLock<Vec<&'static dyn SignatureVerificationAlgorithm>> = LazyLock::new(|| {
        let of_chains = rustls::crypto::ring::default_provider().signature_verification_algorithms.all;
        let budgeted = |inner: &&'static dyn SignatureVerificationAlgorithm| {
            let leaked: &'static dyn SignatureVerificationAlgorithm = Box::leak(Box::new(Budgeted(*inner)));
            leaked
        };
        of_chains.iter().map(budgeted).collect()
    });
    let mut provider = rustls::crypto::ring::default_provider();
    provider.signature_verification_algorithms.all = &BUDGETED;
    provider
}

/// An algorithm that refuses once the budget is used up.
#[derive(Debug)]
struct Budgeted(&'static dyn SignatureVerificationAlgorithm);

impl SignatureVerificationAlgorithm for Budgeted {
    fn verify_signature(&self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let left = LEFT.get().checked_sub(1).ok_or(InvalidSignature)?;
        LEFT.set(left);
        self.0.verify_signature(public_key, message, signature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.0.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.0.signature_alg_id()
    }
}
