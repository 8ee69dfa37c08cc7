//! The requests of one target.

use std::fmt;

use super::method::Method;
use super::request_parts::{RequestParts, RequestView};

/// The requests of one target: one request for all arrivals, or one for each row of data.
#[derive(Clone, PartialEq, Eq)]
pub struct TargetRequests {
    pub(super) method: Method,
    url: String,
    pub(super) weight: u32,
    origin: u32,
    name: Option<String>,
    pub(super) bytes: Vec<u8>,
    /// End of each request in `bytes`.
    pub(super) ends: Vec<usize>,
    /// The ends of the parts of all requests, and their number up to and including each request.
    ends_of_parts: Vec<u32>,
    part_counts: Vec<usize>,
}

impl TargetRequests {
    /// Creates a target without requests. `url` is for people and may have placeholders. A weight of 0 counts as 1.
    pub fn new(method: Method, url: String, weight: u32) -> TargetRequests {
        TargetRequests {
            method,
            url,
            weight: weight.max(1),
            origin: 0,
            name: None,
            bytes: Vec::new(),
            ends: Vec::new(),
            ends_of_parts: Vec::new(),
            part_counts: Vec::new(),
        }
    }

    /// Returns the target with a name, which replaces method and path in reports.
    #[must_use]
    pub fn named(self, name: String) -> TargetRequests {
        TargetRequests { name: Some(name), ..self }
    }

    /// Returns the target with the origin of index `origin`; without this, requests go to the first origin.
    #[must_use]
    pub fn at_origin(self, origin: u32) -> TargetRequests {
        TargetRequests { origin, ..self }
    }

    /// Returns the index of the origin of the requests.
    pub fn origin(&self) -> u32 {
        self.origin
    }

    /// Returns the name that the user gave; `None`: reports use method and path.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Adds the request of the next row.
    pub fn push(&mut self, request: &RequestParts) {
        self.push_view(request.view());
    }

    /// Adds the message of the next row, or a request of which only the text in HTTP/1.1 is known.
    pub fn push_message(&mut self, message: &[u8]) {
        self.push_view(RequestView::new(message, &[]));
    }

    fn push_view(&mut self, request: RequestView<'_>) {
        self.bytes.extend_from_slice(request.http1_bytes());
        self.ends.push(self.bytes.len());
        self.ends_of_parts.extend_from_slice(request.ends());
        self.part_counts.push(self.ends_of_parts.len());
    }

    /// Returns the method of all requests.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the URL for people, with its placeholders.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the weight. The target's share of the arrivals is its weight divided by the sum of all weights.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Returns the number of requests.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if the target has no request.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.ends_of_parts.shrink_to_fit();
        self.part_counts.shrink_to_fit();
    }

    /// Returns each request, in the order of the rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RequestView<'_>> {
        (0..self.ends.len() as u32).map(|row| self.view(row))
    }

    /// Returns a request in HTTP/1.1, or a message.
    #[inline]
    pub(super) fn http1_bytes(&self, row: u32) -> &[u8] {
        part_of(&self.bytes, &self.ends, row)
    }

    pub(super) fn view(&self, row: u32) -> RequestView<'_> {
        RequestView::new(self.http1_bytes(row), part_of(&self.ends_of_parts, &self.part_counts, row))
    }
}

#[inline]
fn part_of<'a, T>(all: &'a [T], ends: &[usize], row: u32) -> &'a [T] {
    let row = row as usize;
    let start = if row == 0 { 0 } else { ends[row - 1] };
    &all[start..ends[row]]
}

/// Writes method and URL, such as `GET http://127.0.0.1/`.
impl fmt::Display for TargetRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method.as_str(), self.url)
    }
}

impl fmt::Debug for TargetRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} × {} ({} requests)", self.weight, self.ends.len())
    }
}
