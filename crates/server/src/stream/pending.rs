//! A stream that has not begun.

use truetail_model::service::{ResponsePlan, StreamDescription, StreamFormat};
use truetail_model::time::Timestamp;

use crate::response_form::ResponseForm;

/// A stream that begins once its request has been read to the end, because only then its parameters are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingStream {
    /// The service's plan for the request on a fault clock, and the start of that clock on the clock of the event loop;
    /// `None` for a health check, which reaches no service.
    pub(crate) plan: Option<(ResponsePlan, Timestamp)>,
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
