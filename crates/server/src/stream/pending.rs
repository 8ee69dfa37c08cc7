//! A stream that has not begun.

use truetail_model::service::{ResponsePlan, StreamDescription, StreamFormat};
use truetail_model::time::Timestamp;

use crate::response_form::ResponseForm;

/// A stream that begins once its request has been read to the end, because only then its parameters are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingStream {
    /// The service's plan for the request, on the fault clock.
    pub(crate) plan: ResponsePlan,
    /// Start of that fault clock, on the clock of the event loop.
    pub(crate) origin: Timestamp,
    pub(crate) format: StreamFormat,
    pub(crate) description: StreamDescription,
    pub(crate) form: ResponseForm,
}

/// Key of a stream in the batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StreamKey {
    /// Token of its connection.
    pub(crate) token: u64,
    /// Its number among all streams of the server.
    pub(crate) number: u64,
}
