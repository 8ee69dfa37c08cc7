//! One of the servers that the requests of a run go to, and how connections to it are made.

use crate::tls::{Tls, TlsError, TlsOptions};

use super::endpoint::Endpoint;
use super::http_version::HttpVersion;
use super::origin::Origin;

/// An origin, the endpoints that reach it, and TLS.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Destination {
    pub(crate) origin: Origin,
    /// At least one, the one in use first.
    pub(super) endpoints: Vec<Endpoint>,
    tls: Option<Tls>,
}

/// How a worker connects to one origin.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// At least one, the one to be tried first at first.
    pub(crate) endpoints: Vec<Endpoint>,
    /// How connections are secured, if they are.
    pub(crate) tls: Option<Tls>,
}

impl Way {
    /// The same for one worker. `resumes`: TLS takes up sessions of earlier connections.
    pub(crate) fn for_one_worker(&self, resumes: bool) -> Way {
        Way { endpoints: self.endpoints.clone(), tls: self.tls.as_ref().map(|tls| tls.for_one_worker(resumes)) }
    }
}

impl Destination {
    pub(super) fn new(origin: Origin, endpoints: Vec<Endpoint>) -> Destination {
        Destination { origin, endpoints, tls: None }
    }

    /// Sets how connections are secured. Without effect on an http origin.
    pub(super) fn secure(&mut self, options: &TlsOptions) -> Result<(), TlsError> {
        if self.origin.is_https() {
            self.tls = Some(Tls::new(&self.origin, options)?);
        }
        Ok(())
    }

    /// How connections are secured: as was said, else with the system's certificate authorities. `None` for an http origin.
    pub(crate) fn tls(&self, version: HttpVersion) -> Result<Option<Tls>, TlsError> {
        let tls = match &self.tls {
            None if self.origin.is_https() => Some(Tls::new(&self.origin, &TlsOptions::default())?),
            tls => tls.clone(),
        };
        Ok(match version {
            HttpVersion::Http1 => tls,
            HttpVersion::Http2 => tls.map(|tls| tls.for_http2()),
        })
    }

    /// Every place where connections can lead, the one in use first.
    pub(crate) fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// Uses this one of the endpoints from now on.
    pub(crate) fn prefer(&mut self, endpoint: &Endpoint) {
        self.endpoints.retain(|other| other != endpoint);
        self.endpoints.insert(0, endpoint.clone());
    }
}
