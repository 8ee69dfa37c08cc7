//! What a guide is asked, and what it says.

use std::fmt;
use std::sync::Arc;

use truetail_engine::FieldList;
use truetail_model::time::Nanos;
use truetail_run::EarlyEnd;

/// Says what the sessions of one worker ask for, one request after the other. A user stands for one session from its begin to
/// its end, and for another one after that.
pub trait Guide: Send {
    /// Session `number` of the whole load begins.
    fn begin(&mut self, user: u32, number: u64) -> NextMove;

    /// The request of this user was answered.
    fn answered(&mut self, user: u32, answer: &GuidedAnswer<'_>) -> NextMove;

    /// The session of this user ends here: its request got no answer or could not be made, or the run is over. Not called
    /// after a move that ends the session.
    fn abandon(&mut self, user: u32);
}

/// Makes the guide of each worker.
#[derive(Clone)]
pub struct MakeGuide(Arc<dyn Fn() -> Box<dyn Guide> + Send + Sync>);

impl MakeGuide {
    /// Calls `make` once for each worker, before the run.
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

/// What a session does next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextMove {
    /// It asks for this.
    Ask(GuidedRequest),
    /// It has done what it was to do.
    Done,
    /// It ends early.
    Fail {
        /// What ends it.
        cause: EarlyEnd,
        /// In words, for the first one of its step.
        why: String,
    },
    /// It goes no further, and that is no fault of its own: somebody ends the run.
    Stop,
}

/// A request of a session.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct GuidedRequest {
    /// The number of its step.
    pub step: u32,
    /// The planned think time before it. The first request of a session has none: that would only move the session's arrival.
    pub think: Nanos,
    /// Its method.
    pub method: String,
    /// Path and query, from the first slash on, at the first origin; or a URL of any of them.
    pub path: String,
    /// Name and value of its header fields.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

/// The answer to a request of a session.
#[derive(Clone, Copy, Debug)]
pub struct GuidedAnswer<'a> {
    /// HTTP status.
    pub status: u16,
    /// The version of HTTP: `1.0`, `1.1` or `2`.
    pub version: &'static str,
    /// Its header fields.
    pub fields: &'a FieldList,
    /// Its body, or the first [`MAX_BODY_BYTES`](crate::MAX_BODY_BYTES) of it.
    pub body: &'a [u8],
    /// That is all of the body.
    pub is_whole: bool,
    /// From when the request was due to the end of the answer.
    pub response_time: Nanos,
}
