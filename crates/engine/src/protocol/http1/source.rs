//! Where the bytes of requests come from.

use std::fmt::Debug;

use crate::protocol::made_in_run::MadeInRun;
use crate::target::request_set::{RequestId, RequestSet};

/// Where the bytes of requests come from. It is chosen when the program is compiled: requests that were made before the run
/// cost nothing more because others can be made in it.
pub(crate) trait RequestSource: Clone + Debug + Send + 'static {
    /// They are made while the run goes on.
    const IS_MADE_IN_RUN: bool;

    /// Head and body of a request.
    fn bytes(&self, id: RequestId) -> &[u8];

    /// It is a HEAD request: its answer has no body.
    fn is_head_request(&self, id: RequestId) -> bool;

    /// The place for the next request of a user.
    fn request_of(&mut self, user: u32) -> &mut Vec<u8> {
        unreachable!("requests were made before the run, and user {user} has none of its own")
    }
}

impl RequestSource for RequestSet {
    const IS_MADE_IN_RUN: bool = false;

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
    const IS_MADE_IN_RUN: bool = true;

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
