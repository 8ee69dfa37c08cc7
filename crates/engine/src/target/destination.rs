//! One of the servers of a run, and the way to connect to it.

use crate::tls::{Tls, TlsError, TlsOptions};

use super::HttpVersion;
use super::endpoint::Endpoint;
use super::origin::Origin;

/// An origin, the endpoints that reach it, and TLS.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Destination {
    pub(crate) origin: Origin,
    /// Endpoints, at least one. The one in use is first.
    pub(super) endpoints: Vec<Endpoint>,
    tls: Option<Tls>,
}

/// Endpoints and TLS settings of one origin, for one worker.
#[derive(Clone, Debug)]
pub(crate) struct DestinationSettings {
    /// Endpoints, at least one. The first is tried first at the start of the run.
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) tls: Option<Tls>,
}

impl DestinationSettings {
    /// Returns a copy for one worker. `resumes`: TLS resumes sessions of earlier connections.
    pub(crate) fn for_one_worker(&self, resumes: bool) -> DestinationSettings {
        DestinationSettings {
            endpoints: self.endpoints.clone(),
            tls: self.tls.as_ref().map(|tls| tls.for_one_worker(resumes)),
        }
    }
}

impl Destination {
    pub(super) fn new(origin: Origin, endpoints: Vec<Endpoint>) -> Destination {
        Destination { origin, endpoints, tls: None }
    }

    /// Sets the TLS options. Has no effect on an http origin.
    pub(super) fn secure(&mut self, options: &TlsOptions) -> Result<(), TlsError> {
        if self.origin.uses_tls() {
            self.tls = Some(Tls::new(&self.origin, options)?);
        }
        Ok(())
    }

    /// Returns the TLS settings, by default with the system's certificate authorities. `None` for an origin without TLS.
    /// With a version of HTTP, the server is asked for it.
    pub(crate) fn tls(&self, version: Option<HttpVersion>) -> Result<Option<Tls>, TlsError> {
        let tls = match &self.tls {
            None if self.origin.uses_tls() => Some(Tls::new(&self.origin, &TlsOptions::default())?),
            tls => tls.clone(),
        };
        Ok(match version {
            Some(HttpVersion::Http1) => tls,
            Some(HttpVersion::Http2) => tls.map(|tls| tls.for_http2()),
            None => tls.map(|tls| tls.without_alpn()),
        })
    }

    /// Returns all endpoints; the one in use is first.
    pub(crate) fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// Uses this endpoint from now on.
    pub(crate) fn prefer(&mut self, endpoint: &Endpoint) {
        self.endpoints.retain(|other| other != endpoint);
        self.endpoints.insert(0, endpoint.clone());
    }
}
