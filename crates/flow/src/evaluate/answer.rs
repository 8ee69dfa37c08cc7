//! An answer, as queries see it.

use std::cell::OnceCell;

use serde_json::Value as Json;
use truetail_engine::FieldList;
use truetail_model::time::Nanos;

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    /// `1.0`, `1.1` or `2`.
    pub(crate) version: &'static str,
    pub(crate) fields: &'a FieldList,
    /// As far as it was kept.
    pub(crate) body: &'a [u8],
    /// From the intended start of the step to its end.
    pub(crate) duration: Nanos,
    json: OnceCell<Option<Json>>,
}

impl<'a> Answer<'a> {
    pub(crate) fn new(
        status: u16,
        version: &'static str,
        fields: &'a FieldList,
        body: &'a [u8],
        duration: Nanos,
    ) -> Answer<'a> {
        Answer { status, version, fields, body, duration, json: OnceCell::new() }
    }

    /// The body as JSON, which is parsed once.
    pub(crate) fn json(&self) -> Option<&Json> {
        self.json.get_or_init(|| serde_json::from_slice(self.body).ok()).as_ref()
    }

    /// The body as text.
    pub(crate) fn text(&self) -> Option<&'a str> {
        std::str::from_utf8(self.body).ok()
    }

    /// Whether something can be asked of its body; if not, why. What is compressed is not decoded.
    pub(crate) fn check_body(&self) -> Result<(), String> {
        match self.header("content-encoding").find(|coding| !coding.trim().eq_ignore_ascii_case("identity")) {
            Some(coding) => Err(format!("the body is encoded ({coding}), and is not decoded")),
            None => Ok(()),
        }
    }

    /// The values of a header field.
    pub(crate) fn header<'b>(&'b self, name: &'b str) -> impl Iterator<Item = String> + 'b {
        self.fields.all(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }
}
