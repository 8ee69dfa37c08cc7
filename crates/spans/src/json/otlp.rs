//! OTLP in JSON, as SDKs send it and as the file exporter of the collector writes it.
//!
//! Ids are hexadecimal digits and names are in camel case, other than in the usual JSON of protobuf:
//! <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>.

use serde::Deserialize;
use serde::de::MapAccess;

use super::pieces::{Each, Object, Objects, Parts};
use super::scalar::Scalar;
use crate::span::{Span, SpanSink, UNKNOWN_SERVICE, from_digits};

/// `ResourceSpans`. The resource is expected before its spans, as all SDKs and the collector write it; otherwise the
/// spans are of an unknown service.
pub(super) struct ResourceSpans<'s, S> {
    sink: &'s mut S,
    service: String,
}

impl<S> ResourceSpans<'_, S> {
    pub(super) fn new(sink: &mut S) -> ResourceSpans<'_, S> {
        ResourceSpans { sink, service: String::new() }
    }
}

impl<S: SpanSink> Parts for ResourceSpans<'_, S> {
    fn begin(&mut self) {
        UNKNOWN_SERVICE.clone_into(&mut self.service);
    }

    fn part<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        match name {
            "resource" => map.next_value_seed(Object(&mut Resource(&mut self.service)))?,
            "scopeSpans" => {
                let mut spans = ScopeSpans { sink: self.sink, service: &self.service };
                map.next_value_seed(Objects(&mut spans))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

struct Resource<'s>(&'s mut String);

impl Parts for Resource<'_> {
    fn part<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        if name != "attributes" {
            return Ok(false);
        }
        map.next_value_seed(Each::new(|attribute: Attribute| {
            if attribute.key == "service.name"
                && let Some(text) = attribute.value.unwrap_or_default().string_value
            {
                *self.0 = text;
            }
        }))?;
        Ok(true)
    }
}

/// `KeyValue`.
#[derive(Deserialize)]
struct Attribute {
    #[serde(default)]
    key: String,
    value: Option<AnyValue>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct AnyValue {
    string_value: Option<String>,
}

struct ScopeSpans<'s, S> {
    sink: &'s mut S,
    service: &'s str,
}

impl<S: SpanSink> Parts for ScopeSpans<'_, S> {
    fn part<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        if name != "spans" {
            return Ok(false);
        }
        map.next_value_seed(Each::new(|span: OtlpSpan| self.sink.span(&span.read(self.service))))?;
        Ok(true)
    }
}

/// `Span`, with the fields that matter.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct OtlpSpan {
    trace_id: Option<String>,
    span_id: Option<String>,
    parent_span_id: Option<String>,
    name: Option<String>,
    kind: Scalar,
    start_time_unix_nano: Scalar,
    end_time_unix_nano: Scalar,
}

impl OtlpSpan {
    fn read<'a>(&'a self, service: &'a str) -> Span<'a> {
        let exact = |text: &&str| matches!(text.len(), 0 | 16);
        let id = |text: &Option<String>| {
            let text = Some(text.as_deref().unwrap_or_default()).filter(exact);
            text.and_then(|text| from_digits(text, 16)).map(|id| id as u64)
        };
        let start_ns = self.start_time_unix_nano.whole();
        let duration_ns = self.end_time_unix_nano.whole().zip(start_ns).and_then(|(end, start)| end.checked_sub(start));
        let of_32 = self.trace_id.as_deref().filter(|text| text.len() == 32);
        let kind = (self.kind.whole(), self.kind.text());
        Span {
            trace_id: of_32.and_then(|text| from_digits(text, 32)),
            id: id(&self.span_id).filter(|id| *id != 0),
            parent: id(&self.parent_span_id),
            start_ns: start_ns.unwrap_or(0),
            duration_ns,
            service: service.into(),
            name: self.name.as_deref().unwrap_or_default().into(),
            is_remote: matches!(kind, (Some(2 | 5), _) | (_, Some("SPAN_KIND_SERVER" | "SPAN_KIND_CONSUMER"))),
        }
    }
}
