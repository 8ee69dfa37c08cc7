//! The requests of one target.

use std::fmt;

use super::method::Method;

/// The requests of one target: one that is always the same, or one for each row of data.
#[derive(Clone, PartialEq, Eq)]
pub struct TargetRequests {
    pub(super) method: Method,
    url: String,
    pub(super) weight: u32,
    /// The number of the origin that they are sent to.
    origin: u32,
    name: Option<String>,
    pub(super) bytes: Vec<u8>,
    /// Where each request ends in `bytes`.
    pub(super) ends: Vec<usize>,
}

impl TargetRequests {
    /// A target that has no request yet. `url` is for people and may have placeholders. A weight of 0 counts as 1.
    pub fn new(method: Method, url: String, weight: u32) -> TargetRequests {
        TargetRequests {
            method,
            url,
            weight: weight.max(1),
            origin: 0,
            name: None,
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The same, called by this name and not by method and path.
    #[must_use]
    pub fn named(self, name: String) -> TargetRequests {
        TargetRequests { name: Some(name), ..self }
    }

    /// The same, sent to origin number `origin` of the run; without this it is the first, number 0.
    #[must_use]
    pub fn at_origin(self, origin: u32) -> TargetRequests {
        TargetRequests { origin, ..self }
    }

    /// The number of the origin that they are sent to.
    pub fn origin(&self) -> u32 {
        self.origin
    }

    /// What its user calls it; `None`: by method and path.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Adds the request of the next row, head and body.
    pub fn push(&mut self, request: &[u8]) {
        self.bytes.extend_from_slice(request);
        self.ends.push(self.bytes.len());
    }

    /// The method of all its requests.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The URL for people, with its placeholders.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its share of the arrivals is its weight divided by the sum of all weights.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// The number of its requests.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// It has no request.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Gives back room that was kept for more requests.
    pub(super) fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// The bytes of each request, in the order of the rows.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len() as u32).map(|row| self.request(row))
    }

    /// The bytes of the request of a row.
    pub(super) fn request(&self, row: u32) -> &[u8] {
        let row = row as usize;
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[start..self.ends[row]]
    }
}

/// `GET http://127.0.0.1/`.
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
