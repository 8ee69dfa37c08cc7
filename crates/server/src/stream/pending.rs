//! A stream that has not begun.

use truetail_model::service::{ResponsePlan, StreamDescription, StreamFormat};
use truetail_model::time::Timestamp;

use crate::response_form::ResponseForm;

/// A stream that begins when its request has been read to the end: only then it is known what is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingStream {
    /// What the service does about the request, on the fault clock.
    pub(crate) plan: ResponsePlan,
    /// The start of that fault clock on the clock of the event loop.
    pub(crate) origin: Timestamp,
    pub(crate) format: StreamFormat,
    pub(crate) description: StreamDescription,
    pub(crate) form: ResponseForm,
}

/// Finds a stream of the batch again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StreamKey {
    /// Its connection.
    pub(crate) token: u64,
    /// Its number among all streams of the server.
    pub(crate) number: u64,
}
