//! Streams of server-sent events: their requests, their bytes with the time of each write, and the truth about them.

mod answer;
mod json_body;
mod pending;
mod query;
mod text;
mod truth;

pub(crate) use answer::StreamAnswer;
pub(crate) use json_body::{MAX_BODY_BYTES, ModelRequest};
pub(crate) use pending::{PendingStream, StreamKey};
pub(crate) use query::parse_query;
pub(crate) use text::StreamText;
pub use truth::{EventKind, StreamTruth};
