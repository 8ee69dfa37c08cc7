//! The target of a run: its origins, the endpoints that reach them, TLS, and the requests.

pub(crate) mod base_url;
pub(crate) mod credentials;
pub(crate) mod destination;
pub(crate) mod endpoint;
pub(crate) mod error;
mod facts;
pub(crate) mod fields;
pub(crate) mod framing;
mod http_version;
pub(crate) mod method;
pub(crate) mod origin;
pub(crate) mod request;
pub(crate) mod request_set;
pub(crate) mod resolve;
pub(crate) mod target_requests;

use crate::tls::{TlsError, TlsOptions};
use destination::{Destination, Way};
use endpoint::Endpoint;
use error::TargetError;
use fields::Fields;
use method::Method;
use origin::Origin;
use request::Request;
use request_set::RequestSet;
use resolve::AddressOverrides;
use target_requests::TargetRequests;

pub use http_version::HttpVersion;

/// The requests of a run, and the servers that they are sent to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// At least one; requests say by its number which is theirs.
    destinations: Vec<Destination>,
    requests: RequestSet,
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
        Target::of_origins(requests, vec![origin], overrides)
    }

    /// Requests to these origins, at least one, in HTTP/1.1. Which is whose, [`TargetRequests::at_origin`] says, or the script
    /// of the sessions. Their hosts are looked up unless `overrides` say where connections lead.
    ///
    /// # Errors
    /// As [`Target::of`].
    ///
    /// # Panics
    /// Without an origin, or where a request is for one that there is not.
    pub fn of_origins(
        requests: RequestSet,
        origins: Vec<Origin>,
        overrides: &AddressOverrides,
    ) -> Result<Target, TargetError> {
        let highest = requests.targets().iter().map(|target| target.origin() as usize).max().unwrap_or(0);
        assert!(highest < origins.len(), "origin {highest} of {}", origins.len());
        let endpoints = overrides.endpoints(&origins)?;
        let destinations = origins.into_iter().zip(endpoints);
        let destinations = destinations.map(|(origin, endpoints)| Destination::new(origin, endpoints)).collect();
        Ok(Target { destinations, requests, version: HttpVersion::Http1 })
    }

    /// Uses HTTP/2 from now on. Over TLS the server has to agree to it; over TCP it has to be known to speak it.
    ///
    /// # Errors
    /// [`TargetError::NotInHttp2`] and [`TargetError::SchemesInHttp2`].
    pub fn use_http2(&mut self) -> Result<(), TargetError> {
        let scheme = &self.origin().scheme;
        if let Some(other) = self.origins().find(|origin| origin.scheme != *scheme) {
            let (one, other) = (self.origin().to_string(), other.to_string());
            return Err(TargetError::SchemesInHttp2 { one, other });
        }
        let of_target = |target: &TargetRequests| {
            let refused = target.iter().find_map(|request| Fields::of(request, scheme).err());
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
        self.destinations.iter_mut().try_for_each(|destination| destination.secure(options))
    }

    /// How each origin is connected to. TLS is set up as [`Target::secure`] was told, else with the system's certificate
    /// authorities.
    pub(crate) fn ways(&self) -> Result<Vec<Way>, TlsError> {
        let way = |destination: &Destination| {
            let tls = destination.tls(self.version)?;
            Ok(Way { endpoints: destination.endpoints().to_vec(), tls })
        };
        self.destinations.iter().map(way).collect()
    }

    /// The server that the requests are for; of several, the first.
    pub fn origin(&self) -> &Origin {
        &self.destinations[0].origin
    }

    /// Every server that requests are for.
    pub fn origins(&self) -> impl ExactSizeIterator<Item = &Origin> {
        self.destinations.iter().map(|destination| &destination.origin)
    }

    /// Connections to some origin use TLS.
    pub fn uses_tls(&self) -> bool {
        self.origins().any(Origin::is_https)
    }

    pub(crate) fn destinations(&self) -> &[Destination] {
        &self.destinations
    }

    pub(crate) fn destination_mut(&mut self, nth: usize) -> &mut Destination {
        &mut self.destinations[nth]
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

    /// Where the connections of the run lead; with several origins, those to the first.
    pub fn endpoint(&self) -> &Endpoint {
        &self.destinations[0].endpoints()[0]
    }

    /// The requests of the target that arrival 0 gets, which the preflight asks for too.
    pub fn first_requests(&self) -> &TargetRequests {
        &self.requests.targets()[self.requests.choose(0).target as usize]
    }

    /// The method, if there is only one target.
    pub fn method(&self) -> Option<&Method> {
        self.requests.only().map(|only| only.method())
    }

    /// The URL with its placeholders if there is only one target, else the origins.
    pub fn url(&self) -> String {
        let only = self.requests.only().filter(|_| self.destinations.len() == 1);
        only.map_or_else(|| self.origin_names(), |only| only.url().to_owned())
    }

    /// The origins for people: `http://a, http://b and https://c`.
    pub fn origin_names(&self) -> String {
        let names: Vec<_> = self.origins().map(Origin::to_string).collect();
        match &names[..] {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            names => names.concat(),
        }
    }
}
