//! Who is asked, and for what.

use std::path::PathBuf;
use std::sync::Arc;

use crate::endpoint::{AddressOverrides, Endpoint};
use crate::http2::Blocks;
use crate::request::{Method, Origin, Request};
use crate::requests::{RequestSet, TargetRequests};
use crate::tls::{Tls, TlsError, TlsOptions};

/// Why a target is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TargetError {
    /// Not a URL.
    #[error("'{url}' is not a URL: {problem}; write http://HOST[:PORT]/PATH or https://HOST[:PORT]/PATH")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A scheme that is not spoken here.
    #[error("'{url}': unknown scheme '{scheme}'; truetail speaks http:// and https://")]
    Scheme {
        /// What was given.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// The host has no address.
    #[error("host '{host}' does not resolve: {problem}")]
    Resolve {
        /// What was looked up.
        host: String,
        /// What the system said.
        problem: String,
    },
    /// A name was given an address and it is not the one that is asked.
    #[error("an address is given for {given}, and {wanted} is asked")]
    UnusedResolve {
        /// The names that were given one.
        given: String,
        /// Host and port of the URL.
        wanted: String,
    },
    /// There is no such socket.
    #[error("the socket {}: {problem}", path.display())]
    UnixSocket {
        /// Where it should be.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Not a method.
    #[error("'{0}' is not a method; write GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS")]
    Method(String),
    /// Not a header.
    #[error("'{0}' is not a header; write 'Name: value'")]
    Header(String),
    /// A header that says something of its connection.
    #[error("'{header}' of {target} is about a connection of its own, and HTTP/2 has no place for it; leave it out")]
    NotInHttp2 {
        /// The target, for people.
        target: String,
        /// The header.
        header: String,
    },
}

/// Who is asked, and for what: an origin, where connections to it lead, and the requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    origin: Origin,
    endpoints: Vec<Endpoint>,
    requests: RequestSet,
    tls: Option<Tls>,
    /// The requests in HTTP/2, where that is what is to be spoken.
    http2: Option<Arc<Blocks>>,
}

impl Target {
    /// One request for all arrivals. Reads the URL and looks its host up; for `headers` see [`Request::new`].
    ///
    /// # Errors
    /// See [`TargetError`].
    pub fn resolve(method: Method, url: &str, headers: &[String], body: Vec<u8>) -> Result<Target, TargetError> {
        let request = Request::new(method, url, headers, body)?;
        Target::of(RequestSet::single(&request), request.origin(), &AddressOverrides::default())
    }

    /// Several requests of one origin, which is reached by `way`.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn of(requests: RequestSet, origin: Origin, way: &AddressOverrides) -> Result<Target, TargetError> {
        Ok(Target { endpoints: way.endpoints(&origin)?, origin, requests, tls: None, http2: None })
    }

    /// Asks in HTTP/2 from now on: over TLS if the server agrees to it, over TCP because it is known to speak it.
    ///
    /// # Errors
    /// [`TargetError::NotInHttp2`].
    pub fn use_http2(&mut self) -> Result<(), TargetError> {
        let blocks = Blocks::new(&self.requests, &self.origin.scheme).map_err(|no_place| TargetError::NotInHttp2 {
            target: self.requests.targets()[no_place.target].to_string(),
            header: no_place.header,
        })?;
        self.http2 = Some(Arc::new(blocks));
        Ok(())
    }

    /// It is HTTP/2 that is spoken.
    pub fn uses_http2(&self) -> bool {
        self.http2.is_some()
    }

    /// The requests in HTTP/2, where that is what is spoken.
    pub(crate) fn blocks(&self) -> Option<&Arc<Blocks>> {
        self.http2.as_ref()
    }

    /// Secures connections as `options` say, where the requests are for https; else nothing changes.
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
    /// where the requests are for http.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn tls(&self) -> Result<Option<Tls>, TlsError> {
        let tls = match &self.tls {
            None if self.origin.is_https() => Some(Tls::new(&self.origin, &TlsOptions::default())?),
            tls => tls.clone(),
        };
        Ok(if self.uses_http2() { tls.map(|tls| tls.for_http2()) } else { tls })
    }

    /// Whom the requests are for.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// What is asked for.
    pub fn requests(&self) -> &RequestSet {
        &self.requests
    }

    /// Where connections lead.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoints[0]
    }

    /// Every place where they could lead, the one in use first.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// Uses another one of them from now on.
    pub(crate) fn prefer(&mut self, endpoint: &Endpoint) {
        self.endpoints.retain(|other| other != endpoint);
        self.endpoints.insert(0, endpoint.clone());
    }

    /// The target of arrival 0, which is asked before the load too.
    pub fn first_requests(&self) -> &TargetRequests {
        &self.requests.targets()[self.requests.choose(0).target as usize]
    }

    /// The method, where there is one for all.
    pub fn method(&self) -> Option<&Method> {
        self.requests.only().map(|only| only.method())
    }

    /// The URL as it was given, with its placeholders; of several targets their origin.
    pub fn url(&self) -> String {
        self.requests.only().map_or_else(|| self.origin.to_string(), |only| only.url().to_owned())
    }
}
