use std::fmt;
use std::sync::Arc;

use truetail_engine::FieldList;
use truetail_model::time::Nanos;
use truetail_run::EarlyEnd;

/// Decides the requests of the sessions of one worker, one request after the other. A user has one session at a time.
pub trait Guide: Send {
    /// Begins session `number` of the whole load.
    fn begin(&mut self, user: u32, number: u64) -> NextMove;

    /// Continues after an answer to the request of this user.
    fn answered(&mut self, user: u32, answer: &GuidedAnswer<'_>) -> NextMove;

    /// Ends the session of this user, because its request failed or the run is over. Not called after a final move.
    fn abandon(&mut self, user: u32);
}

/// Factory of the guides, one per worker.
#[derive(Clone)]
pub struct MakeGuide(Arc<dyn Fn() -> Box<dyn Guide> + Send + Sync>);

impl MakeGuide {
    /// Creates a factory that calls `make` once per worker, before the run.
    pub fn new(make: impl Fn() -> Box<dyn Guide> + Send + Sync + 'static) -> MakeGuide {
        MakeGuide(Arc::new(make))
    }

    pub(super) fn guide(&self) -> Box<dyn Guide> {
        (self.0)()
    }
}

impl fmt::Debug for MakeGuide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MakeGuide")
    }
}

/// Next action of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextMove {
    /// It sends this request.
    Ask(GuidedRequest),
    /// It has completed.
    Done,
    /// It ends early.
    Fail {
        /// Cause of the end.
        cause: EarlyEnd,
        /// The reason in words. It is shown for the first session that ends at its step.
        why: String,
    },
    /// It ends because the run is being ended, without a failure of the session.
    Stop,
}

/// A request of a session.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct GuidedRequest {
    /// The index of its step.
    pub step: u32,
    /// The planned think time before it. It must be zero for the first request, which it would only delay.
    pub think: Nanos,
    /// Its method. Messages leave it out, with path and headers.
    pub method: String,
    /// Path and query, from the first slash, at the first origin; or a URL of any origin.
    pub path: String,
    /// Name and value of its header fields.
    pub headers: Vec<(String, String)>,
    /// Its body, or the message as its framing takes it: for Redis a [`redis_command`](truetail_engine::redis_command).
    pub body: Vec<u8>,
}

/// The answer to a request of a session.
#[derive(Clone, Copy, Debug)]
pub struct GuidedAnswer<'a> {
    /// HTTP status, or the recorded status of a call; 0 for a message.
    pub status: u16,
    /// The version of HTTP: `1.0`, `1.1` or `2`.
    pub version: &'static str,
    /// Its header fields.
    pub fields: &'a FieldList,
    /// Its body, or the first [`MAX_BODY_BYTES`](crate::MAX_BODY_BYTES) of it.
    pub body: &'a [u8],
    /// `body` is the whole body.
    pub is_whole: bool,
    /// From the due time of the request to the end of the answer.
    pub response_time: Nanos,
}
