//! The target of a run: its origins, their endpoints, TLS, and the requests.

pub(crate) mod base_url;
pub(crate) mod channel_url;
pub(crate) mod credentials;
pub(crate) mod destination;
pub(crate) mod endpoint;
pub(crate) mod error;
mod facts;
pub(crate) mod fields;
pub(crate) mod framing;
pub(crate) mod method;
pub(crate) mod origin;
pub(crate) mod request;
pub(crate) mod request_parts;
pub(crate) mod request_set;
pub(crate) mod resolve;
pub(crate) mod target_requests;
mod wire_protocol;

use truetail_run::{GrpcConfig, TraceFacts};

use crate::protocol::messages::MessageOptions;
use crate::tls::{TlsError, TlsOptions};
use destination::{Destination, DestinationSettings};
use endpoint::Endpoint;
use error::TargetError;
use fields::Fields;
use method::Method;
use origin::Origin;
use request::Request;
use request_parts::RequestView;
use request_set::{FeedOrder, RequestSet};
use resolve::AddressOverrides;
use target_requests::TargetRequests;

pub use wire_protocol::{HttpVersion, WireProtocol};

/// The requests of a run, and their servers.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// The servers, at least one. Requests name theirs by index.
    destinations: Vec<Destination>,
    requests: RequestSet,
    protocol: WireProtocol,
    trace: Option<TraceFacts>,
}

impl Target {
    /// Creates a target with one request for all arrivals, and looks up its host. For `headers` see [`Request::new`].
    ///
    /// # Errors
    /// See [`TargetError`].
    pub fn resolve(method: Method, url: &str, headers: &[String], body: Vec<u8>) -> Result<Target, TargetError> {
        let request = Request::new(method, url, headers, body)?;
        Target::for_origin(RequestSet::single(&request), request.origin(), &AddressOverrides::default())
    }

    /// Creates a target with requests to one origin, in HTTP/1.1. Looks up its host unless `overrides` applies to it.
    ///
    /// # Errors
    /// [`TargetError::Resolve`], [`TargetError::UnusedResolve`] and [`TargetError::UnixSocket`].
    pub fn for_origin(
        requests: RequestSet,
        origin: Origin,
        overrides: &AddressOverrides,
    ) -> Result<Target, TargetError> {
        Target::for_origins(requests, vec![origin], overrides)
    }

    /// Creates a target with requests to these origins, at least one, in HTTP/1.1. [`TargetRequests::at_origin`] or the
    /// script of the sessions assigns requests to origins. Looks up the hosts unless `overrides` applies to them.
    ///
    /// # Errors
    /// [`TargetError::Resolve`], [`TargetError::UnusedResolve`] and [`TargetError::UnixSocket`].
    ///
    /// # Panics
    /// If there is no origin, or a request is for a missing one.
    pub fn for_origins(
        requests: RequestSet,
        origins: Vec<Origin>,
        overrides: &AddressOverrides,
    ) -> Result<Target, TargetError> {
        let highest = requests.targets().iter().map(|target| target.origin() as usize).max().unwrap_or(0);
        assert!(highest < origins.len(), "origin {highest} of {}", origins.len());
        let endpoints = overrides.endpoints(&origins)?;
        let destinations = origins.into_iter().zip(endpoints);
        let destinations = destinations.map(|(origin, endpoints)| Destination::new(origin, endpoints)).collect();
        Ok(Target { destinations, requests, protocol: WireProtocol::Http(HttpVersion::Http1), trace: None })
    }

    /// Uses HTTP/2 from now on. Over TLS the server must agree to it; without TLS the server must be known to speak it.
    ///
    /// # Errors
    /// [`TargetError::NotInHttp2`] and [`TargetError::SchemesInHttp2`].
    pub fn use_http2(&mut self) -> Result<(), TargetError> {
        let scheme = &self.origin().scheme;
        if let Some(other) = self.origins().find(|origin| origin.scheme != *scheme) {
            let one = self.origin().to_string();
            let other = other.to_string();
            return Err(TargetError::SchemesInHttp2 { one, other });
        }
        let of_target = |target: &TargetRequests| {
            let refused = target.iter().find_map(|request| Fields::of(request, scheme).err());
            refused.map(|header| TargetError::NotInHttp2 { target: target.to_string(), header })
        };
        match self.made_before_run().iter().find_map(of_target) {
            Some(error) => Err(error),
            None => {
                self.protocol = WireProtocol::Http(HttpVersion::Http2);
                Ok(())
            }
        }
    }

    /// Returns the targets whose requests were made already: only the first of several steps.
    fn made_before_run(&self) -> &[TargetRequests] {
        let made = if self.requests.are_steps() { 1 } else { self.requests.targets().len() };
        &self.requests.targets()[..made]
    }

    /// Gives each request a trace id when it begins. Requests that were made before the run must have the placeholder as
    /// the value of the trace header.
    ///
    /// # Errors
    /// [`TargetError::HasTraceHeader`] if a request has another value.
    ///
    /// # Panics
    /// If the facts were damaged.
    pub fn trace(&mut self, facts: TraceFacts) -> Result<(), TargetError> {
        let ids = facts.ids().expect("facts that were made for this run");
        let header = ids.format().header();
        let has_place = |request: RequestView<'_>| {
            let mut values = request.fields().filter(|(name, _)| *name == header.as_bytes()).map(|(_, value)| value);
            values.any(|value| value == ids.format().placeholder().as_bytes())
        };
        if let Some(other) = self.made_before_run().iter().find(|target| !target.iter().all(has_place)) {
            return Err(TargetError::HasTraceHeader { target: other.to_string(), header });
        }
        self.requests = self.requests.clone().traced(ids);
        self.trace = Some(facts);
        Ok(())
    }

    /// Returns the facts of the trace ids, if requests get any.
    pub fn trace_facts(&self) -> Option<&TraceFacts> {
        self.trace.as_ref()
    }

    /// Sends the requests as gRPC calls over HTTP/2 from now on. Each body has messages with their prefixes: one, or any
    /// number if the client streams.
    ///
    /// # Errors
    /// As [`Target::use_http2`].
    pub fn use_calls(&mut self, calls: GrpcConfig) -> Result<(), TargetError> {
        self.use_http2()?;
        self.protocol = WireProtocol::Calls(calls);
        Ok(())
    }

    /// Sends the requests as messages from now on.
    pub fn use_messages(&mut self, options: MessageOptions) {
        self.protocol = WireProtocol::Messages(options);
    }

    /// Returns the protocol of the requests.
    pub fn protocol(&self) -> &WireProtocol {
        &self.protocol
    }

    /// Sets the TLS options. Has no effect on http origins.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn secure(&mut self, options: &TlsOptions) -> Result<(), TlsError> {
        self.destinations.iter_mut().try_for_each(|destination| destination.secure(options))
    }

    /// Returns endpoints and TLS settings of each origin. TLS uses the options of [`Target::secure`], or else the
    /// system's certificate authorities.
    pub(crate) fn destination_settings(&self) -> Result<Vec<DestinationSettings>, TlsError> {
        let way = |destination: &Destination| {
            let tls = destination.tls(self.protocol.version_below())?;
            Ok(DestinationSettings { endpoints: destination.endpoints().to_vec(), tls })
        };
        self.destinations.iter().map(way).collect()
    }

    /// Returns the server of the requests; if there are several, the first.
    pub fn origin(&self) -> &Origin {
        &self.destinations[0].origin
    }

    /// Returns the servers of the requests.
    pub fn origins(&self) -> impl ExactSizeIterator<Item = &Origin> {
        self.destinations.iter().map(|destination| &destination.origin)
    }

    /// Returns true if connections to some origin use TLS.
    pub fn uses_tls(&self) -> bool {
        self.origins().any(Origin::uses_tls)
    }

    pub(crate) fn destinations(&self) -> &[Destination] {
        &self.destinations
    }

    pub(crate) fn destination_mut(&mut self, nth: usize) -> &mut Destination {
        &mut self.destinations[nth]
    }

    /// Returns the requests.
    pub fn requests(&self) -> &RequestSet {
        &self.requests
    }

    /// Lets the first arrival use this row of data, so that a run goes on where another one ended.
    pub fn begin_at_row(&mut self, row: u64) {
        self.requests = self.requests.clone().beginning_at_row(row);
    }

    /// Gives the requests the hash of `others`, so that they count as the same. Used if each run puts something into
    /// them, such as a token, that does not change the load.
    pub fn same_requests_as(&mut self, others: &RequestSet) {
        self.requests = self.requests.clone().hashed_as(others);
    }

    /// Makes the hash of the requests depend on `bytes` too, such as a script that makes requests during the run.
    pub fn depend_on(&mut self, bytes: &[u8]) {
        self.requests = self.requests.clone().hashed_with(bytes);
    }

    /// Says which of `rows` rows each session takes. The hash of the requests stays.
    pub fn choose_rows_of_sessions(&mut self, rows: u32, order: FeedOrder, seed: u64) {
        self.requests = self.requests.clone().choosing_rows(rows, order, seed);
    }

    /// Returns all endpoints of the first origin.
    pub fn endpoints(&self) -> &[Endpoint] {
        self.destinations[0].endpoints()
    }

    /// Returns the endpoint in use; with several origins, that of the first.
    pub fn endpoint(&self) -> &Endpoint {
        &self.destinations[0].endpoints()[0]
    }

    /// Returns the requests of the target of arrival 0, which the preflight uses too.
    pub fn first_requests(&self) -> &TargetRequests {
        &self.requests.targets()[self.requests.choose(0).target as usize]
    }

    /// Returns the method, if there is only one target.
    pub fn method(&self) -> Option<&Method> {
        self.requests.only().map(|only| only.method())
    }

    /// Returns the URL with its placeholders if there is only one target, otherwise the origins.
    pub fn url(&self) -> String {
        let only = self.requests.only().filter(|_| self.destinations.len() == 1);
        only.map_or_else(|| self.origin_names(), |only| only.url().to_owned())
    }

    /// Returns the origins for people: `http://a, http://b and https://c`.
    pub fn origin_names(&self) -> String {
        let names: Vec<_> = self.origins().map(Origin::to_string).collect();
        match &names[..] {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            names => names.concat(),
        }
    }
}
