//! What a check is asked of.

use std::cell::OnceCell;

use serde_json::Value;
use truetail_engine::FieldList;

/// Most bytes of a body that checks read: 1 MiB. A longer one fails every check that looks at the body.
pub const MAX_BODY_BYTES: usize = 1 << 20;

/// The body of an answer, as far as it was kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body<'a> {
    /// All of it, without its transfer coding.
    Whole(&'a [u8]),
    /// It was longer than [`MAX_BODY_BYTES`].
    TooLong,
}

/// An answer to be judged.
#[derive(Debug)]
pub struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) fields: &'a FieldList,
    body: Body<'a>,
    /// The body as JSON, once a check asked for it; or why it is none.
    json: OnceCell<Result<Value, String>>,
}

/// Why a check cannot look at a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoBody {
    TooLong,
    Compressed,
}

impl<'a> Answer<'a> {
    /// An answer with this status, these header fields and this body.
    pub fn new(status: u16, fields: &'a FieldList, body: Body<'a>) -> Answer<'a> {
        Answer { status, fields, body, json: OnceCell::new() }
    }

    /// The content coding of the body, where it has one.
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

    /// The body as JSON; or why it is none.
    pub(crate) fn json(&self, body: &[u8]) -> Result<&Value, &str> {
        let parsed = self.json.get_or_init(|| serde_json::from_slice(body).map_err(|error| error.to_string()));
        parsed.as_ref().map_err(String::as_str)
    }
}
