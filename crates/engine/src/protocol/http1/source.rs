//! Sources of the bytes of requests.

use std::fmt::Debug;

use memchr::memmem;
use truetail_model::trace::TraceIds;

use crate::protocol::made_in_run::MadeInRun;
use crate::target::request_parts::RequestParts;
use crate::target::request_set::{RequestId, RequestSet};

/// Source of the bytes of requests, chosen at compile time: requests made before the run cost nothing extra.
pub(crate) trait RequestSource: Clone + Debug + Send + 'static {
    /// The part of a request that belongs to its connection alone.
    type Own: Default + Debug;

    /// Prepares the bytes of a request for the arrival of this index.
    #[inline]
    fn begin(&self, id: RequestId, index: u64, own: &mut Self::Own) {
        let _ = (id, index, own);
    }

    /// Returns the bytes of the request that began last on the connection of `own`.
    fn bytes<'a>(&'a self, id: RequestId, own: &'a Self::Own) -> &'a [u8];

    /// Returns true for a HEAD request, whose answer has no body.
    fn is_head_request(&self, id: RequestId) -> bool;

    /// Returns the place of the request that begins next, which has this row.
    fn request_of(&mut self, row: u32) -> &mut RequestParts {
        unreachable!("requests were made before the run, and row {row} has none of its own")
    }
}

impl RequestSource for RequestSet {
    type Own = ();

    #[inline]
    fn bytes<'a>(&'a self, id: RequestId, (): &'a ()) -> &'a [u8] {
        self.bytes(id)
    }

    #[inline]
    fn is_head_request(&self, id: RequestId) -> bool {
        self.is_head_request(id)
    }
}

impl RequestSource for MadeInRun {
    type Own = ();

    fn bytes<'a>(&'a self, id: RequestId, (): &'a ()) -> &'a [u8] {
        self.view(id).http1_bytes()
    }

    fn is_head_request(&self, id: RequestId) -> bool {
        self.is_head_request(id)
    }

    fn request_of(&mut self, row: u32) -> &mut RequestParts {
        self.request_of(row)
    }
}

/// Requests that get a trace id when they begin.
#[derive(Clone, Debug)]
pub(crate) struct Traced<S> {
    requests: S,
    ids: TraceIds,
    /// True if a request keeps its bytes for the whole run.
    are_constant: bool,
}

/// The current request of a connection, with its trace id.
#[derive(Default, Debug)]
pub(crate) struct TracedRequest {
    id: Option<RequestId>,
    bytes: Vec<u8>,
    /// Place of the trace header's value; `None` in a request without that header.
    value: Option<usize>,
}

impl Traced<RequestSet> {
    pub(crate) fn prepared(requests: RequestSet, ids: TraceIds) -> Traced<RequestSet> {
        Traced { requests, ids, are_constant: true }
    }
}

impl Traced<MadeInRun> {
    pub(crate) fn made_in_run(ids: TraceIds) -> Traced<MadeInRun> {
        Traced { requests: MadeInRun::default(), ids, are_constant: false }
    }
}

impl<S: RequestSource<Own = ()>> RequestSource for Traced<S> {
    type Own = TracedRequest;

    #[inline]
    fn begin(&self, id: RequestId, index: u64, own: &mut TracedRequest) {
        let placeholder = self.ids.format().placeholder();
        if !self.are_constant || own.id != Some(id) {
            own.id = Some(id);
            own.bytes.clear();
            own.bytes.extend_from_slice(self.requests.bytes(id, &()));
            own.value = memmem::find(&own.bytes, placeholder.as_bytes());
        }
        if let Some(value) = own.value {
            self.ids.write(index, &mut own.bytes[value..value + placeholder.len()]);
        }
    }

    #[inline]
    fn bytes<'a>(&'a self, _: RequestId, own: &'a TracedRequest) -> &'a [u8] {
        &own.bytes
    }

    #[inline]
    fn is_head_request(&self, id: RequestId) -> bool {
        self.requests.is_head_request(id)
    }

    fn request_of(&mut self, row: u32) -> &mut RequestParts {
        self.requests.request_of(row)
    }
}
