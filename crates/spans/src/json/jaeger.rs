//! Traces as Jaeger's page and its API `/api/traces` export them. Times are in microseconds.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::MapAccess;

use super::pieces::{Each, Parts};
use super::scalar::Scalar;
use crate::span::{Span, SpanSink, UNKNOWN_SERVICE, from_digits};

/// Limit on the spans of a trace that wait for the names of their services, which follow them.
const MOST: usize = 100_000;

/// A trace.
pub(super) struct Trace<'s, S> {
    sink: &'s mut S,
    spans: Vec<JaegerSpan>,
    processes: HashMap<String, Process>,
}

impl<S> Trace<'_, S> {
    pub(super) fn new(sink: &mut S) -> Trace<'_, S> {
        Trace { sink, spans: Vec::new(), processes: HashMap::new() }
    }
}

impl<S: SpanSink> Parts for Trace<'_, S> {
    fn begin(&mut self) {
        self.spans.clear();
        self.processes.clear();
    }

    fn part<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        match name {
            "spans" => {
                let Trace { spans, sink, .. } = self;
                map.next_value_seed(Each::new(|span: JaegerSpan| match spans.len() {
                    0..MOST => spans.push(span),
                    _ => sink.left_out(),
                }))?;
            }
            "processes" => self.processes = map.next_value::<Option<_>>()?.unwrap_or_default(),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn end(&mut self) {
        for span in &self.spans {
            let process = span.process_id.as_ref().and_then(|id| self.processes.get(id));
            let service = process.and_then(|process| process.service_name.as_deref());
            self.sink.span(&span.read(service.unwrap_or(UNKNOWN_SERVICE)));
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Process {
    service_name: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct JaegerSpan {
    #[serde(rename = "traceID")]
    trace_id: Option<String>,
    #[serde(rename = "spanID")]
    span_id: Option<String>,
    operation_name: Option<String>,
    references: Option<Vec<Reference>>,
    start_time: Scalar,
    duration: Scalar,
    #[serde(rename = "processID")]
    process_id: Option<String>,
    tags: Option<Vec<Tag>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Reference {
    #[serde(rename = "traceID")]
    trace_id: Option<String>,
    #[serde(rename = "spanID")]
    span_id: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tag {
    key: Option<String>,
    value: Scalar,
}

impl JaegerSpan {
    fn read<'a>(&'a self, service: &'a str) -> Span<'a> {
        // Jaeger leaves out zeros at the beginning of an id.
        let trace_id = self.trace_id.as_deref().filter(|text| !text.is_empty());
        let trace_id = trace_id.and_then(|text| from_digits(text, 32));
        let id = |text: &Option<String>| from_digits(text.as_deref().unwrap_or_default(), 16).map(|id| id as u64);
        // A reference into another trace is no parent.
        let mut inside = self.references.iter().flatten().filter(|reference| reference.trace_id == self.trace_id);
        let is_server = |tag: &Tag| {
            tag.key.as_deref() == Some("span.kind") && matches!(tag.value.text(), Some("server" | "consumer"))
        };
        let ns = |time: &Scalar| time.whole().and_then(|us| us.checked_mul(1_000));
        let start_ns = ns(&self.start_time);
        Span {
            trace_id,
            id: id(&self.span_id).filter(|id| *id != 0),
            parent: inside.next().map_or(Some(0), |reference| id(&reference.span_id)),
            start_ns: start_ns.unwrap_or(0),
            duration_ns: ns(&self.duration).filter(|_| start_ns.is_some()),
            service: service.into(),
            name: self.operation_name.as_deref().unwrap_or_default().into(),
            is_remote: self.tags.iter().flatten().any(is_server),
        }
    }
}
