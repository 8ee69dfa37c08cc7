//! Traces as Jaeger's page and its API `/api/traces` export them. Times are in microseconds.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::MapAccess;

use super::pieces::{Each, Object, Objects, Parts};
use super::scalar::Scalar;
use crate::span::{Span, SpanSink, UNKNOWN_SERVICE, from_digits};

/// Limit on the spans of a trace that wait for the names of their services, which follow them.
const MOST: usize = 100_000;
/// Limit on the processes of a trace. Spans of later ones are of an unknown service.
const MAX_PROCESSES: usize = 10_000;
/// Limit on the references before the trace id of their span, which all known versions write first.
const MAX_EARLY: usize = 16;

/// A trace.
pub(super) struct Trace<'s, S> {
    sink: &'s mut S,
    spans: Vec<JaegerSpan>,
    processes: Processes,
}

impl<S> Trace<'_, S> {
    pub(super) fn new(sink: &mut S) -> Trace<'_, S> {
        Trace { sink, spans: Vec::new(), processes: Processes::default() }
    }
}

impl<S: SpanSink> Parts for Trace<'_, S> {
    fn begin(&mut self) {
        self.spans.clear();
        self.processes.0.clear();
    }

    fn part<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        match name {
            "spans" => {
                let Trace { spans, sink, .. } = self;
                let take = |span: JaegerSpan| match spans.len() {
                    0..MOST => spans.push(span),
                    _ => sink.left_out(),
                };
                map.next_value_seed(Objects(&mut SpanReader { span: JaegerSpan::default(), early: Vec::new(), take }))?;
            }
            "processes" => map.next_value_seed(Object(&mut self.processes))?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn end(&mut self) {
        for span in &self.spans {
            let service = span.process_id.as_ref().and_then(|id| self.processes.0.get(id));
            self.sink.span(&span.read(service.map_or(UNKNOWN_SERVICE, String::as_str)));
        }
    }
}

/// Names of services by process.
#[derive(Default)]
struct Processes(HashMap<String, String>);

impl Parts for Processes {
    fn part<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        let process: Option<Process> = map.next_value()?;
        let service = process.and_then(|process| process.service_name);
        if let Some(service) = service.filter(|_| self.0.len() < MAX_PROCESSES) {
            self.0.insert(name.to_owned(), service);
        }
        Ok(true)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Process {
    service_name: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Reference {
    #[serde(rename = "traceID")]
    trace_id: Option<String>,
    #[serde(rename = "spanID")]
    span_id: Option<String>,
}

impl Reference {
    /// Returns the trace and the span; `None` for a trace without an id.
    fn ids(&self) -> Option<(u128, Option<u64>)> {
        Some((trace_id(self.trace_id.as_deref())?, span_id(self.span_id.as_deref())))
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tag {
    key: Option<String>,
    value: Scalar,
}

impl Tag {
    fn is_remote(&self) -> bool {
        self.key.as_deref() == Some("span.kind") && matches!(self.value.text(), Some("server" | "consumer"))
    }
}

/// A span as far as it was read, with its numbers only: references and tags may be many.
#[derive(Default)]
struct JaegerSpan {
    trace_id: Option<u128>,
    span_id: Option<u64>,
    /// The parent: the first reference into the trace of the span. One into another trace is not a parent.
    parent: Option<Option<u64>>,
    name: Option<String>,
    start_ns: Option<u64>,
    duration_ns: Option<u64>,
    process_id: Option<String>,
    is_remote: bool,
}

impl JaegerSpan {
    fn read<'a>(&'a self, service: &'a str) -> Span<'a> {
        Span {
            trace_id: self.trace_id,
            id: self.span_id.filter(|id| *id != 0),
            parent: self.parent.unwrap_or(Some(0)),
            start_ns: self.start_ns.unwrap_or(0),
            duration_ns: self.duration_ns.filter(|_| self.start_ns.is_some()),
            service: service.into(),
            name: self.name.as_deref().unwrap_or_default().into(),
            is_remote: self.is_remote,
        }
    }
}

/// Reader of the spans of a trace.
struct SpanReader<F> {
    span: JaegerSpan,
    /// References that came before the trace id.
    early: Vec<(u128, Option<u64>)>,
    take: F,
}

impl<F: FnMut(JaegerSpan)> Parts for SpanReader<F> {
    fn begin(&mut self) {
        self.span = JaegerSpan::default();
        self.early.clear();
    }

    fn part<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        let SpanReader { span, early, .. } = self;
        match name {
            "traceID" => span.trace_id = trace_id(map.next_value::<Option<String>>()?.as_deref()),
            "spanID" => span.span_id = span_id(map.next_value::<Option<String>>()?.as_deref()),
            "operationName" => span.name = map.next_value()?,
            "startTime" => span.start_ns = ns(&map.next_value()?),
            "duration" => span.duration_ns = ns(&map.next_value()?),
            "processID" => span.process_id = map.next_value()?,
            "tags" => map.next_value_seed(Each::new(|tag: Tag| span.is_remote |= tag.is_remote()))?,
            "references" => {
                map.next_value_seed(Each::new(|reference: Reference| match (reference.ids(), span.trace_id) {
                    (Some((trace, parent)), Some(own)) if trace == own => drop(span.parent.get_or_insert(parent)),
                    (Some(ids), None) if early.len() < MAX_EARLY => early.push(ids),
                    _ => {}
                }))?
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn end(&mut self) {
        let mut span = std::mem::take(&mut self.span);
        let inside = self.early.iter().find(|(trace, _)| Some(*trace) == span.trace_id);
        span.parent = span.parent.or(inside.map(|(_, parent)| *parent));
        (self.take)(span);
    }
}

/// Returns the number of a trace id. Jaeger leaves out zeros at the beginning.
fn trace_id(text: Option<&str>) -> Option<u128> {
    text.filter(|text| !text.is_empty()).and_then(|text| from_digits(text, 32))
}

fn span_id(text: Option<&str>) -> Option<u64> {
    from_digits(text.unwrap_or_default(), 16).map(|id| id as u64)
}

fn ns(time: &Scalar) -> Option<u64> {
    time.whole().and_then(|us| us.checked_mul(1_000))
}
