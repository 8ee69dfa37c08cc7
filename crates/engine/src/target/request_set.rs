//! All requests of a run, and the choice of a request for each arrival.
//!
//! The bytes of the requests are made before the run, and all workers share them. The choice is a pure function of the
//! arrival's index and a seed. Therefore all stripes of a schedule together make the same requests as the whole
//! schedule, and a run can be replayed.

mod id;
mod maker;

use std::sync::Arc;

use truetail_model::random::{Numbered, mix64};
use truetail_model::record::{Ordinal, RequestRecord, Samples, TargetPlace};
use truetail_model::trace::TraceIds;

use super::method::Method;
use super::request::Request;
use super::request_parts::RequestView;
use super::target_requests::TargetRequests;
use crate::opaque::Opaque;

pub use id::RequestId;
pub use maker::MakeRequest;

/// Limit on the bytes of all requests of a run together: 1 GiB.
pub const MAX_REQUEST_SET_BYTES: u64 = 1 << 30;

/// Order of the use of data rows by arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum FeedOrder {
    /// Arrival k gets row k modulo the number of rows.
    #[default]
    InOrder,
    /// Each arrival draws a row, from the seed.
    Random,
}

impl FeedOrder {
    /// Returns `in-order` or `random`.
    pub const fn name(self) -> &'static str {
        match self {
            FeedOrder::InOrder => "in-order",
            FeedOrder::Random => "random",
        }
    }

    /// Returns the row of session `number` of `rows` rows, at least one.
    pub fn row_of_session(self, number: u64, rows: u32, seed: u64) -> u32 {
        let rows = u64::from(rows);
        match self {
            FeedOrder::InOrder => (number % rows) as u32,
            FeedOrder::Random => {
                let drawn = Numbered::new(seed, SESSION_ROW_STREAM).uniform(number) * rows as f64;
                (drawn as u64).min(rows - 1) as u32
            }
        }
    }
}

/// All requests of a run, and the choice among them. Clones share the bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestSet {
    targets: Arc<[TargetRequests]>,
    choice: Choice,
    hash: u64,
    trace_ids: Option<TraceIds>,
    maker: Option<Opaque<dyn MakeRequest>>,
}

/// Reason why a request set cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RequestSetError {
    /// There is no target, or a target has no request.
    #[error("there is no request to send")]
    Nothing,
    /// A target has neither one request nor one for each row.
    #[error("a target has {found} requests for {rows} rows")]
    Rows {
        /// The number of the target's requests.
        found: usize,
        /// The number of rows.
        rows: u32,
    },
}

impl RequestSet {
    /// Creates a set of these targets. Each has one request, or one for each row (`rows` is 0 without data).
    ///
    /// # Errors
    /// See [`RequestSetError`].
    pub fn new(
        mut targets: Vec<TargetRequests>,
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
        for target in &mut targets {
            target.shrink_to_fit();
        }
        let targets: Arc<[TargetRequests]> = targets.into();
        let choice = Choice::new(&targets, rows, order, seed);
        Ok(RequestSet { hash: hash(&targets, rows), choice, targets, trace_ids: None, maker: None })
    }

    /// Creates a set of the steps of sessions, in order. Sessions choose their steps; arrival 0 gets the first.
    ///
    /// # Errors
    /// [`RequestSetError::Nothing`].
    pub fn from_steps(steps: Vec<TargetRequests>) -> Result<RequestSet, RequestSetError> {
        let mut set = RequestSet::new(steps, 0, FeedOrder::InOrder, 0)?;
        set.choice.cumulative_weights = Arc::new([]);
        Ok(set)
    }

    /// Returns true if the targets are steps. Only the first step has a request that was made before the run.
    pub(crate) fn are_steps(&self) -> bool {
        self.choice.cumulative_weights.is_empty()
    }

    /// Returns these steps with data: each session gets one of `rows` rows in this order. `rows_hash` is the hash of
    /// the rows.
    #[must_use]
    pub fn fed(self, rows: u32, order: FeedOrder, seed: u64, rows_hash: u64) -> RequestSet {
        RequestSet { hash: mix64(self.hash ^ mix64(rows_hash)), ..self.choosing_rows(rows, order, seed) }
    }

    /// Returns these steps with this choice of rows. The hash stays.
    #[must_use]
    pub(crate) fn choosing_rows(mut self, rows: u32, order: FeedOrder, seed: u64) -> RequestSet {
        (self.choice.rows, self.choice.order, self.choice.seed) = (rows, order, seed);
        self
    }

    /// Returns these requests, made by `maker` when they begin. The bytes from before the run stand for them in a
    /// preflight. `samples` are the same requests with bytes that are equal in each run, for the hash.
    #[must_use]
    pub fn made_in_run(self, maker: Arc<dyn MakeRequest>, samples: &RequestSet) -> RequestSet {
        RequestSet { maker: Some(Opaque(maker)), ..self.hashed_as(samples) }
    }

    /// Returns the maker of the requests, unless all of them were made before the run.
    #[inline]
    pub fn maker(&self) -> Option<&dyn MakeRequest> {
        self.maker.as_ref().map(|maker| &*maker.0)
    }

    /// Returns these requests with the hash of `others`.
    #[must_use]
    pub fn hashed_as(self, others: &RequestSet) -> RequestSet {
        RequestSet { hash: others.hash, ..self }
    }

    /// Creates a set of recorded requests. Arrival k makes request `asked[k]`, and the recording repeats after its end.
    /// A target has each of its distinct recorded requests once.
    ///
    /// # Errors
    /// [`RequestSetError::Nothing`] if nothing was recorded, or if an arrival makes a request that does not exist.
    pub fn recorded(targets: Vec<TargetRequests>, asked: Vec<RequestId>) -> Result<RequestSet, RequestSetError> {
        let exists = |id: &RequestId| targets.get(id.target as usize).is_some_and(|of| (id.row as usize) < of.len());
        if asked.is_empty() || !asked.iter().all(exists) {
            return Err(RequestSetError::Nothing);
        }
        let targets: Arc<[TargetRequests]> = targets.into();
        let word = |id: &RequestId| u64::from(id.target) << 32 | u64::from(id.row);
        let hash = asked.iter().fold(hash(&targets, 0), |hash, id| mix64(hash ^ word(id)).wrapping_add(hash));
        let choice = Choice { recorded: asked.into(), ..Choice::new(&targets, 0, FeedOrder::InOrder, 0) };
        Ok(RequestSet { targets, choice, hash, trace_ids: None, maker: None })
    }

    /// Returns these requests with a trace id for each arrival. It is written over the placeholder, which each request
    /// has as the value of the header. The hash stays.
    #[must_use]
    pub fn traced(self, ids: TraceIds) -> RequestSet {
        RequestSet { trace_ids: Some(ids), ..self }
    }

    /// Returns the ids that requests get when they begin, if they get any.
    pub fn trace_ids(&self) -> Option<TraceIds> {
        self.trace_ids
    }

    /// Returns a set with one request for all arrivals.
    pub fn single(request: &Request) -> RequestSet {
        let mut only = TargetRequests::new(request.method().clone(), request.url().to_string(), 1);
        only.push(&request.parts());
        RequestSet::new(vec![only], 0, FeedOrder::InOrder, 0).expect("a target with one request")
    }

    /// Returns the targets in the given order.
    pub fn targets(&self) -> &[TargetRequests] {
        &self.targets
    }

    /// Returns the target, if there is only one.
    pub fn only(&self) -> Option<&TargetRequests> {
        match &*self.targets {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns the place of a request's target, if there are several.
    #[inline]
    pub(crate) fn target_place(&self, id: RequestId) -> TargetPlace {
        TargetPlace::among(self.targets.len(), id.target)
    }

    /// Returns the number of data rows; 0 without data.
    pub fn rows(&self) -> u32 {
        self.choice.rows
    }

    /// Returns the order of the use of data rows.
    pub fn order(&self) -> FeedOrder {
        self.choice.order
    }

    /// Returns these requests with another row for the first arrival. Later arrivals get the rows that follow, and after
    /// the last row the first.
    #[must_use]
    pub fn beginning_at_row(mut self, row: u64) -> RequestSet {
        self.choice.first_row = row;
        self
    }

    /// Returns the seed of the choice.
    pub fn seed(&self) -> u64 {
        self.choice.seed
    }

    /// Returns true if every arrival gets the same request.
    pub fn is_uniform(&self) -> bool {
        self.targets.len() == 1 && self.targets[0].len() == 1
    }

    /// Returns the request of arrival `index`. The result depends only on the set and the index; nothing is allocated.
    #[inline]
    pub fn choose(&self, index: u64) -> RequestId {
        if self.is_uniform() {
            return RequestId { target: 0, row: 0 };
        }
        if let Some(recorded) = self.choice.recorded(index) {
            return recorded;
        }
        let target = self.choice.target(index);
        let row = if self.targets[target as usize].len() == 1 { 0 } else { self.choice.row(index) };
        RequestId { target, row }
    }

    /// Tells each kept request the row that it was made of. A request that is the same for all rows has none.
    pub fn tell_rows(&self, samples: &mut Samples) {
        if self.choice.rows > 0 {
            samples.change_each(|record| record.row = self.row_of(record));
        }
    }

    fn row_of(&self, record: &RequestRecord) -> Ordinal {
        let Choice { rows, order, seed, .. } = self.choice;
        let row = if self.are_steps() {
            let session = record.place.session.get();
            session.map(|session| order.row_of_session(session.into(), rows, seed))
        } else {
            let RequestId { target, row } = self.choose(record.index);
            (self.targets[target as usize].len() == rows as usize).then_some(row)
        };
        row.map_or(Ordinal::UNKNOWN, |row| Ordinal::new(row.into()))
    }

    /// Returns head and body of a request in HTTP/1.1, or a message.
    ///
    /// # Panics
    /// If the set has no such request.
    #[inline]
    pub fn bytes(&self, id: RequestId) -> &[u8] {
        self.targets[id.target as usize].http1_bytes(id.row)
    }

    /// Returns the parts of a request.
    ///
    /// # Panics
    /// If the set has no such request.
    pub fn view(&self, id: RequestId) -> RequestView<'_> {
        self.targets[id.target as usize].view(id.row)
    }

    /// Returns the index of a request's origin, unless a script chooses it.
    #[inline]
    pub(crate) fn origin(&self, id: RequestId) -> u32 {
        self.targets[id.target as usize].origin()
    }

    /// Returns true for a HEAD request, whose answer has no body.
    #[inline]
    pub fn is_head_request(&self, id: RequestId) -> bool {
        self.targets[id.target as usize].method == Method::Head
    }

    /// Returns these requests with a hash that depends on `bytes` too.
    pub(crate) fn hashed_with(mut self, bytes: &[u8]) -> RequestSet {
        self.hash = mix64(hash_bytes(self.hash, bytes) ^ bytes.len() as u64);
        self
    }

    /// Returns a hash of all requests and weights. The seed is not included.
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

fn hash(targets: &[TargetRequests], rows: u32) -> u64 {
    targets.iter().fold(u64::from(rows), |hash, target| {
        // A set with one origin keeps the hash that it had before several origins were possible.
        let elsewhere = u64::from(target.origin()) << 32;
        let weighed = mix64(hash ^ u64::from(target.weight) ^ elsewhere);
        let ends = target.ends.iter().fold(weighed, |hash, end| mix64(hash ^ *end as u64));
        hash_bytes(ends, &target.bytes)
    })
}

/// Hashes eight bytes at a time and pads the last with zeros. The hashed ends distinguish padding from bytes.
fn hash_bytes(hash: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(hash, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix64(hash ^ u64::from_le_bytes(word)).wrapping_add(hash)
    })
}

/// Each purpose draws from its own random stream.
const TARGET_STREAM: u64 = 0x7461_7267_6574_0001;
const ROW_STREAM: u64 = 0x726f_7773_0000_0002;
const SESSION_ROW_STREAM: u64 = 0x726f_7773_0000_0003;
/// The increment of SplitMix64. Each draw is one number of its sequence.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Clone, PartialEq, Eq, Debug)]
struct Choice {
    /// For each target, the sum of all weights up to and including its own.
    cumulative_weights: Arc<[u64]>,
    rows: u32,
    /// Row of the first arrival, modulo their number.
    first_row: u64,
    order: FeedOrder,
    seed: u64,
    /// The request of each arrival if it was recorded; empty if it is drawn.
    recorded: Arc<[RequestId]>,
}

impl Choice {
    fn new(targets: &[TargetRequests], rows: u32, order: FeedOrder, seed: u64) -> Choice {
        let mut sum = 0;
        let cumulative_weights = targets.iter().map(|target| {
            sum += u64::from(target.weight);
            sum
        });
        let cumulative_weights = cumulative_weights.collect();
        Choice { cumulative_weights, rows, first_row: 0, order, seed, recorded: Arc::new([]) }
    }

    fn recorded(&self, index: u64) -> Option<RequestId> {
        let count = self.recorded.len() as u64;
        (count > 0).then(|| self.recorded[(index % count) as usize])
    }

    fn target(&self, index: u64) -> u32 {
        // A single target needs no draw.
        let [_, .., total] = *self.cumulative_weights else { return 0 };
        let drawn = below(total, draw(self.seed, TARGET_STREAM, index));
        self.cumulative_weights.partition_point(|sum| *sum <= drawn) as u32
    }

    fn row(&self, index: u64) -> u32 {
        let rows = u64::from(self.rows);
        let index = index.wrapping_add(self.first_row);
        match self.order {
            FeedOrder::InOrder => (index % rows) as u32,
            FeedOrder::Random => below(rows, draw(self.seed, ROW_STREAM, index)) as u32,
        }
    }
}

/// Returns number `index` of a random stream. SplitMix64 (Steele, Lea and Flood, 2014) computes it directly.
fn draw(seed: u64, stream: u64, index: u64) -> u64 {
    let start = mix64(seed ^ stream);
    mix64(start.wrapping_add(GAMMA.wrapping_mul(index.wrapping_add(1))))
}

/// Returns a number in [0, bound) from 64 random bits: the high half of the product. The bias is below bound / 2^64.
fn below(bound: u64, bits: u64) -> u64 {
    ((u128::from(bound) * u128::from(bits)) >> 64) as u64
}

#[cfg(test)]
mod tests;
