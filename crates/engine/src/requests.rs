//! Which request an arrival gets. All requests are bytes before the run, shared by all workers, and the choice is a pure
//! function of the arrival's index and a seed: so the stripes of a schedule ask together for what the whole asks for, and
//! a run can be replayed.

use std::fmt;
use std::sync::Arc;

use truetail_model::random::mix64;

use crate::request::{Method, Request};

/// The bytes of all requests of a run are at most this much: 1 GiB.
pub const MAX_REQUEST_SET_BYTES: u64 = 1 << 30;

/// The requests of one target: one that never changes, or one for each row of data.
#[derive(Clone, PartialEq, Eq)]
pub struct TargetRequests {
    method: Method,
    url: String,
    weight: u32,
    bytes: Vec<u8>,
    /// Where each request ends in `bytes`.
    ends: Vec<usize>,
}

impl TargetRequests {
    /// A target without a request yet; `url` is for people and may have placeholders. A weight of 0 counts as 1.
    pub fn new(method: Method, url: String, weight: u32) -> TargetRequests {
        TargetRequests { method, url, weight: weight.max(1), bytes: Vec::new(), ends: Vec::new() }
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

    /// Its URL, for people.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its share of the arrivals is this part of the sum of all weights.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// How many requests it has.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// It has none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Nothing is added any more: without room for more.
    fn shrunk(mut self) -> TargetRequests {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
        self
    }

    fn request(&self, row: u32) -> &[u8] {
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

/// In which order rows of data fill the requests in.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum FeedOrder {
    /// Arrival k gets row k modulo their number.
    #[default]
    InOrder,
    /// Each arrival draws one, by the seed.
    Random,
}

impl FeedOrder {
    /// `in-order` or `random`.
    pub const fn name(self) -> &'static str {
        match self {
            FeedOrder::InOrder => "in-order",
            FeedOrder::Random => "random",
        }
    }
}

/// Which request, as [`RequestSet::choose`] found it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RequestId {
    /// Its target.
    pub target: u32,
    /// Its row; 0 where the target has one request for all rows.
    pub row: u32,
}

/// All requests of a run, and which arrival gets which. Clones share the bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestSet {
    targets: Arc<[TargetRequests]>,
    choice: Choice,
    hash: u64,
}

/// What is wrong with a set of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RequestSetError {
    /// There is no target, or one without a request.
    #[error("there is nothing to ask for")]
    Nothing,
    /// A target has neither one request nor one for each row.
    #[error("a target has {found} requests for {rows} rows")]
    Rows {
        /// So many requests.
        found: usize,
        /// So many rows.
        rows: u32,
    },
}

impl RequestSet {
    /// These targets, each with one request for all arrivals or with one for each of `rows` rows (0: there are no rows).
    ///
    /// # Errors
    /// See [`RequestSetError`].
    pub fn new(
        targets: Vec<TargetRequests>,
        rows: u32,
        order: FeedOrder,
        seed: u64,
    ) -> Result<RequestSet, RequestSetError> {
        if targets.is_empty() || targets.iter().any(TargetRequests::is_empty) {
            return Err(RequestSetError::Nothing);
        }
        if let Some(other) = targets.iter().find(|target| target.len() != 1 && target.len() != rows as usize) {
            return Err(RequestSetError::Rows { found: other.len(), rows });
        }
        let choice = Choice::new(&targets, rows, order, seed);
        let targets: Vec<TargetRequests> = targets.into_iter().map(TargetRequests::shrunk).collect();
        Ok(RequestSet { hash: hash(&targets, rows), targets: targets.into(), choice })
    }

    /// One request for all arrivals.
    pub fn single(request: &Request) -> RequestSet {
        let mut only = TargetRequests::new(request.method().clone(), request.url().to_string(), 1);
        only.push(&request.http1_bytes());
        let choice = Choice::new(std::slice::from_ref(&only), 0, FeedOrder::InOrder, 0);
        RequestSet { hash: hash(std::slice::from_ref(&only), 0), targets: [only].into(), choice }
    }

    /// The targets, in the order in which they were given.
    pub fn targets(&self) -> &[TargetRequests] {
        &self.targets
    }

    /// The target, where there is one.
    pub fn only(&self) -> Option<&TargetRequests> {
        match &*self.targets {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Rows that fill the requests in; 0 where there are none.
    pub fn rows(&self) -> u32 {
        self.choice.rows
    }

    /// In which order they do.
    pub fn order(&self) -> FeedOrder {
        self.choice.order
    }

    /// The seed of the choice.
    pub fn seed(&self) -> u64 {
        self.choice.seed
    }

    /// Every arrival gets the same.
    pub fn is_uniform(&self) -> bool {
        self.targets.len() == 1 && self.targets[0].len() == 1
    }

    /// Which request arrival `index` gets. Pure, and it allocates nothing.
    #[inline]
    pub fn choose(&self, index: u64) -> RequestId {
        if self.is_uniform() {
            return RequestId { target: 0, row: 0 };
        }
        let target = self.choice.target(index);
        let row = if self.targets[target as usize].len() == 1 { 0 } else { self.choice.row(index) };
        RequestId { target, row }
    }

    /// Its bytes, head and body.
    ///
    /// # Panics
    /// When it is none of these.
    #[inline]
    pub fn bytes(&self, which: RequestId) -> &[u8] {
        self.targets[which.target as usize].request(which.row)
    }

    /// It is a HEAD request, whose answer has no body.
    #[inline]
    pub fn is_head_request(&self, which: RequestId) -> bool {
        self.targets[which.target as usize].method == Method::Head
    }

    /// A hash of all requests and weights, not of the seed: two sets with the same hash ask for the same.
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

fn hash(targets: &[TargetRequests], rows: u32) -> u64 {
    targets.iter().fold(u64::from(rows), |hash, target| {
        let weighed = mix64(hash ^ u64::from(target.weight));
        let ends = target.ends.iter().fold(weighed, |hash, end| mix64(hash ^ *end as u64));
        hash_bytes(ends, &target.bytes)
    })
}

/// Eight bytes at a time; what is left at the end is filled up with zeros, which the ends tell apart.
fn hash_bytes(hash: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(hash, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix64(hash ^ u64::from_le_bytes(word)).wrapping_add(hash)
    })
}

/// Independent draws have streams of their own.
const OF_TARGETS: u64 = 0x7461_7267_6574_0001;
const OF_ROWS: u64 = 0x726f_7773_0000_0002;
/// The increment of SplitMix64, of which each draw is one number.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// From an index to a target and a row.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Choice {
    /// Sums of the weights up to each target; of one target nothing is drawn.
    up_to: Arc<[u64]>,
    rows: u32,
    order: FeedOrder,
    seed: u64,
}

impl Choice {
    fn new(targets: &[TargetRequests], rows: u32, order: FeedOrder, seed: u64) -> Choice {
        let mut sum = 0;
        let up_to = targets.iter().map(|target| {
            sum += u64::from(target.weight);
            sum
        });
        Choice { up_to: up_to.collect(), rows, order, seed }
    }

    fn target(&self, index: u64) -> u32 {
        let [.., total] = *self.up_to else { return 0 };
        if self.up_to.len() == 1 {
            return 0;
        }
        let drawn = below(total, draw(self.seed, OF_TARGETS, index));
        self.up_to.partition_point(|up_to| *up_to <= drawn) as u32
    }

    fn row(&self, index: u64) -> u32 {
        let rows = u64::from(self.rows);
        match self.order {
            FeedOrder::InOrder => (index % rows) as u32,
            FeedOrder::Random => below(rows, draw(self.seed, OF_ROWS, index)) as u32,
        }
    }
}

/// Number `index` of the stream of `purpose`: SplitMix64 (Steele, Lea and Flood, 2014) gives any of its numbers at once.
fn draw(seed: u64, purpose: u64, index: u64) -> u64 {
    let start = mix64(seed ^ purpose);
    mix64(start.wrapping_add(GAMMA.wrapping_mul(index.wrapping_add(1))))
}

/// From 64 random bits to [0, bound), by the high half of the product; the bias is below bound / 2^64.
fn below(bound: u64, bits: u64) -> u64 {
    ((u128::from(bound) * u128::from(bits)) >> 64) as u64
}

#[cfg(test)]
mod tests;
