use std::borrow::Cow;
use std::cell::OnceCell;

use encoding_rs::{Encoding, UTF_8};
use serde_json::Value as Json;
use truetail_engine::FieldList;
use truetail_model::record::GrpcStatus;
use truetail_model::time::Nanos;

/// Name of the field that has the status of a gRPC call.
pub(crate) const STATUS_FIELD: &str = "grpc-status";

/// A whole answer, as queries see it.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    /// `1.0`, `1.1` or `2`.
    pub(crate) version: &'static str,
    pub(crate) fields: &'a FieldList,
    /// The status of a call, with or without a field that says so.
    pub(crate) call_status: Option<GrpcStatus>,
    /// The part of the body that was kept.
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
        Answer { status, version, fields, call_status: None, body, duration, json: OnceCell::new() }
    }

    /// Returns the answer to a call that ended with this status.
    pub(crate) fn of_call(self, status: GrpcStatus) -> Answer<'a> {
        Answer { call_status: Some(status), ..self }
    }

    /// Returns the body as JSON. It is parsed once.
    pub(crate) fn json(&self) -> Option<&Json> {
        self.json.get_or_init(|| serde_json::from_str(&self.text().ok()?).ok()).as_ref()
    }

    /// Decodes the body as text, with the charset of `Content-Type` (labels as in the WHATWG standard) or else UTF-8.
    ///
    /// # Errors
    /// The charset is unknown, or the body is not valid in it.
    pub(crate) fn text(&self) -> Result<Cow<'a, str>, String> {
        let encoding = match self.charset() {
            None => UTF_8,
            Some(label) => {
                Encoding::for_label(label.as_bytes()).ok_or_else(|| format!("the charset '{label}' is not known"))?
            }
        };
        let text = encoding.decode_without_bom_handling_and_without_replacement(self.body);
        text.ok_or_else(|| format!("the body is not {} text", encoding.name()))
    }

    fn charset(&self) -> Option<String> {
        let kind = self.header("content-type").next()?;
        let parameters = kind.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
        let mut named = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
        named.next().map(|(_, label)| label.trim().trim_matches('"').to_owned())
    }

    /// Returns an error if the body is compressed, because truetail does not decode it.
    pub(crate) fn check_body(&self) -> Result<(), String> {
        match self.header("content-encoding").find(|coding| !coding.trim().eq_ignore_ascii_case("identity")) {
            Some(coding) => Err(format!("the body is encoded ({coding}), and is not decoded")),
            None => Ok(()),
        }
    }

    /// Returns the values of a header field.
    pub(crate) fn header<'b>(&'b self, name: &'b str) -> impl Iterator<Item = String> + 'b {
        let of_call = self.call_status.filter(|_| name.eq_ignore_ascii_case(STATUS_FIELD));
        let fields = self.fields.all(name).filter(move |_| of_call.is_none());
        let of_call = of_call.map(|status| status.code().to_string());
        of_call.into_iter().chain(fields.map(|value| String::from_utf8_lossy(value).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: &[u8], body: &[u8]) -> Result<String, String> {
        let mut fields = FieldList::default();
        fields.push(b"content-type", kind);
        Answer::new(200, "1.1", &fields, body, Nanos::ZERO).text().map(Cow::into_owned)
    }

    #[test]
    fn a_body_is_read_by_its_charset() {
        for (kind, body, wanted) in [
            (&b"text/html"[..], &b"caf\xc3\xa9"[..], "caf\u{e9}"),
            (b"text/html; charset=latin1", b"caf\xe9", "caf\u{e9}"),
            (b"text/html; version=1; CHARSET=\"ISO-8859-1\"", b"caf\xe9", "caf\u{e9}"),
            (b"text/html; charset=gb2312", b"\xc4\xe3\xba\xc3", "\u{4f60}\u{597d}"),
            (b"text/html; charset=UTF-8; x=y", b"caf\xc3\xa9", "caf\u{e9}"),
        ] {
            assert_eq!(text(kind, body).as_deref(), Ok(wanted), "{}", String::from_utf8_lossy(kind));
        }
        assert_eq!(text(b"text/html", b"caf\xe9"), Err("the body is not UTF-8 text".to_owned()));
        assert_eq!(text(b"text/html; charset=klingon", b"a"), Err("the charset 'klingon' is not known".to_owned()));
        let mut fields = FieldList::default();
        fields.push(b"content-type", b"application/json; charset=latin1");
        let answer = Answer::new(200, "1.1", &fields, b"{\"a\": \"\xe9\"}", Nanos::ZERO);
        assert_eq!(answer.json().map(|json| json["a"].as_str()), Some(Some("\u{e9}")));
    }
}
