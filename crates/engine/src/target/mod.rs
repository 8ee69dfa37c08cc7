//! The target of a run: an origin, the endpoints that reach it, TLS, and the requests.

pub(crate) mod credentials;
pub(crate) mod endpoint;
pub(crate) mod error;
mod facts;
pub(crate) mod fields;
pub(crate) mod method;
pub(crate) mod origin;
pub(crate) mod request;
pub(crate) mod request_set;
pub(crate) mod resolve;

use std::fmt;

use crate::tls::{Tls, TlsError, TlsOptions};
use endpoint::Endpoint;
use error::TargetError;
use fields::Fields;
use method::Method;
use origin::Origin;
use request::Request;
use request_set::{RequestSet, TargetRequests};
use resolve::AddressOverrides;

/// The version of HTTP that a run uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HttpVersion {
    /// HTTP/1.1: one request at a time on a connection.
    Http1,
    /// HTTP/2: many requests at a time on a connection.
    Http2,
}

/// `HTTP/1.1` or `HTTP/2`.
impl fmt::Display for HttpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HttpVersion::Http1 => "HTTP/1.1",
            HttpVersion::Http2 => "HTTP/2",
        })
    }
}

/// The requests of a run, and the server that they are sent to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    origin: Origin,
    endpoints: Vec<Endpoint>,
    requests: RequestSet,
    tls: Option<Tls>,
    version: HttpVersion,
}

impl Target {
    /// One request for all arrivals. Reads the URL and looks its host up. For `headers` see [`Request::new`].
    ///
    /// # Errors
    /// See [`TargetError`].
    pub fn resolve(method: Method, url: &str, headers: &[String], body: Vec<u8>) -> Result<Target, TargetError> {
        let request = Request::new(method, url, headers, body)?;
        Target::of(RequestSet::single(&request), request.origin(), &AddressOverrides::default())
    }

    /// Requests to one origin, in HTTP/1.1. Its host is looked up unless `overrides` say where connections lead.
    ///
    /// # Errors
    /// [`TargetError::Resolve`], [`TargetError::UnusedResolve`] and [`TargetError::UnixSocket`].
    pub fn of(requests: RequestSet, origin: Origin, overrides: &AddressOverrides) -> Result<Target, TargetError> {
        let endpoints = overrides.endpoints(&origin)?;
        Ok(Target { origin, endpoints, requests, tls: None, version: HttpVersion::Http1 })
    }

    /// Uses HTTP/2 from now on. Over TLS the server has to agree to it; over TCP it has to be known to speak it.
    ///
    /// # Errors
    /// [`TargetError::NotInHttp2`].
    pub fn use_http2(&mut self) -> Result<(), TargetError> {
        let of_target = |target: &TargetRequests| {
            let refused = target.iter().find_map(|request| Fields::of(request, &self.origin.scheme).err());
            refused.map(|header| TargetError::NotInHttp2 { target: target.to_string(), header })
        };
        // Of steps only the first has a request by now.
        let made = if self.requests.are_steps() { 1 } else { self.requests.targets().len() };
        match self.requests.targets()[..made].iter().find_map(of_target) {
            Some(error) => Err(error),
            None => {
                self.version = HttpVersion::Http2;
                Ok(())
            }
        }
    }

    /// The version of HTTP that is used.
    pub fn http_version(&self) -> HttpVersion {
        self.version
    }

    /// Sets how connections are secured. Without effect on an http origin.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn secure(&mut self, options: &TlsOptions) -> Result<(), TlsError> {
        if self.origin.is_https() {
            self.tls = Some(Tls::new(&self.origin, options)?);
        }
        Ok(())
    }

    /// How connections are secured: as [`Target::secure`] was told, else with the system's certificate authorities. `None`
    /// for an http origin.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn tls(&self) -> Result<Option<Tls>, TlsError> {
        let tls = match &self.tls {
            None if self.origin.is_https() => Some(Tls::new(&self.origin, &TlsOptions::default())?),
            tls => tls.clone(),
        };
        Ok(match self.version {
            HttpVersion::Http1 => tls,
            HttpVersion::Http2 => tls.map(|tls| tls.for_http2()),
        })
    }

    /// The server that the requests are for.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The requests.
    pub fn requests(&self) -> &RequestSet {
        &self.requests
    }

    /// From now on its requests count as the same as `others`, whatever bytes they have: where what is put into them before
    /// each run, such as a token, makes no other load of them.
    pub fn same_requests_as(&mut self, others: &RequestSet) {
        self.requests = self.requests.clone().hashed_as(others);
    }

    /// Where the connections of the run lead.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoints[0]
    }

    /// Every place where connections can lead, the one in use first.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// Uses this one of the endpoints from now on.
    pub(crate) fn prefer(&mut self, endpoint: &Endpoint) {
        self.endpoints.retain(|other| other != endpoint);
        self.endpoints.insert(0, endpoint.clone());
    }

    /// The requests of the target that arrival 0 gets, which the preflight asks for too.
    pub fn first_requests(&self) -> &TargetRequests {
        &self.requests.targets()[self.requests.choose(0).target as usize]
    }

    /// The method, if there is only one target.
    pub fn method(&self) -> Option<&Method> {
        self.requests.only().map(|only| only.method())
    }

    /// The URL with its placeholders if there is only one target, else the origin.
    pub fn url(&self) -> String {
        self.requests.only().map_or_else(|| self.origin.to_string(), |only| only.url().to_owned())
    }
}
