//! Requests whose bytes differ from arrival to arrival.

use super::id::RequestId;
use crate::target::request_parts::RequestParts;

/// Maker of requests, in place of requests that were made before the run. Called on the threads that send.
pub trait MakeRequest: Send + Sync {
    /// Overwrites `request` with the request of the arrival of this index, or with a message without framing. The
    /// result depends on `id`, `index` and the clock only. Returns false if there is no request.
    fn make(&self, id: RequestId, index: u64, request: &mut RequestParts) -> bool;
}
