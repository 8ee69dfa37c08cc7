//! TLS: trusted certificates, client certificates, and the sessions of connections.

mod config;
mod fault;
mod options;
mod session;
mod signature_budget;
mod verifier;

pub(crate) use config::HTTP2;
pub use config::Tls;
pub use fault::TlsFault;
pub use options::{Identity, TlsError, TlsOptions};
pub(crate) use session::TlsSession;
