//! Sources of the bytes of requests.

use std::fmt::Debug;

use crate::protocol::made_in_run::MadeInRun;
use crate::target::request_set::{RequestId, RequestSet};

/// Source of the bytes of requests, chosen at compile time: requests made before the run cost nothing extra.
pub(crate) trait RequestSource: Clone + Debug + Send + 'static {
    fn bytes(&self, id: RequestId) -> &[u8];

    /// Returns true for a HEAD request, whose answer has no body.
    fn is_head_request(&self, id: RequestId) -> bool;

    /// Returns the buffer for the next request of a user.
    fn request_of(&mut self, user: u32) -> &mut Vec<u8> {
        unreachable!("requests were made before the run, and user {user} has none of its own")
    }
}

impl RequestSource for RequestSet {
    #[inline]
    fn bytes(&self, id: RequestId) -> &[u8] {
        self.bytes(id)
    }

    #[inline]
    fn is_head_request(&self, id: RequestId) -> bool {
        self.is_head_request(id)
    }
}

impl RequestSource for MadeInRun {
    fn bytes(&self, id: RequestId) -> &[u8] {
        self.bytes(id)
    }

    fn is_head_request(&self, id: RequestId) -> bool {
        self.is_head_request(id)
    }

    fn request_of(&mut self, user: u32) -> &mut Vec<u8> {
        self.request_of(user)
    }
}
