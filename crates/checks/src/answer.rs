//! The answer that checks judge.

use std::cell::OnceCell;

use serde_json::Value;
use truetail_engine::FieldList;
use truetail_model::record::GrpcStatus;

/// Maximum number of bytes of a body that checks read: 1 MiB. A longer body fails every check of the body.
pub const MAX_BODY_BYTES: usize = 1 << 20;

/// The body of an answer, as far as it was kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body<'a> {
    /// The whole body, without its transfer coding.
    Whole(&'a [u8]),
    /// The body was longer than [`MAX_BODY_BYTES`].
    TooLong,
}

/// An answer to be judged.
#[derive(Debug)]
pub struct Answer<'a> {
    /// HTTP status; `None` in a protocol without a status.
    pub(crate) status: Option<u16>,
    /// The status of a call; `None` if it was not a call.
    pub(crate) call: Option<GrpcStatus>,
    pub(crate) fields: &'a FieldList,
    body: Body<'a>,
    /// The body as JSON, or why it is not JSON. Set when a check first needs it.
    json: OnceCell<Result<Value, String>>,
}

/// Reason why a check cannot read a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoBody {
    TooLong,
    Compressed,
}

impl<'a> Answer<'a> {
    /// Creates an answer with this status, if it has one, these header fields and this body.
    pub fn new(status: impl Into<Option<u16>>, fields: &'a FieldList, body: Body<'a>) -> Answer<'a> {
        Answer { status: status.into(), call: None, fields, body, json: OnceCell::new() }
    }

    /// Returns the answer as that of a gRPC call with this status.
    #[must_use]
    pub fn of_call(self, call: Option<GrpcStatus>) -> Answer<'a> {
        Answer { call, ..self }
    }

    /// Returns the content coding of the body, if it has one.
    pub(crate) fn content_encoding(&self) -> Option<&[u8]> {
        self.fields.all("content-encoding").find(|value| !value.eq_ignore_ascii_case(b"identity"))
    }

    pub(crate) fn body(&self) -> Result<&'a [u8], NoBody> {
        match self.body {
            _ if self.content_encoding().is_some() => Err(NoBody::Compressed),
            Body::TooLong => Err(NoBody::TooLong),
            Body::Whole(bytes) => Ok(bytes),
        }
    }

    /// Returns the body as JSON, or why it is not JSON.
    pub(crate) fn json(&self, body: &[u8]) -> Result<&Value, &str> {
        let parsed = self.json.get_or_init(|| serde_json::from_slice(body).map_err(|error| error.to_string()));
        parsed.as_ref().map_err(String::as_str)
    }
}
