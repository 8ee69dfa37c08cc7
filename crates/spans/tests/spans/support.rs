//! Spans of a run, in each form.

use std::fmt::Write as _;

use prost::Message;
use truetail_model::arrival::Arrival;
use truetail_model::record::{Outcome, RequestRecord, Samples, SamplesOptions};
use truetail_model::time::Timestamp;
use truetail_model::trace::{TraceFormat, TraceIds};
use truetail_run::{ServerTiming, SpanBooks};
use truetail_spans::SpanStore;

use crate::protobuf::{AnyValue, KeyValue, Request, Resource, ResourceSpans, ScopeSpans, Span};

pub const MS: u64 = 1_000_000;
/// Time at which all spans of a test begin.
const BEGIN: u64 = 1_700_000_000_000_000_000;

/// A span of a test.
#[derive(Clone)]
pub struct TestSpan {
    pub request: u64,
    pub id: u64,
    /// 0 for the request itself.
    pub parent: u64,
    pub service: &'static str,
    pub name: String,
    pub start_ms: u64,
    pub ms: u64,
    pub is_server: bool,
}

pub fn ids() -> TraceIds {
    TraceIds::new(0xfeed, TraceFormat::W3c, 1.0)
}

pub fn store() -> SpanStore {
    SpanStore::new(ids())
}

/// Returns the spans of a request: the shop asks the stock, which asks its database.
pub fn spans_of(request: u64) -> Vec<TestSpan> {
    let span = |id, parent, service, name: &str, start_ms, ms, is_server| {
        let id = request * 10 + id;
        let parent = if parent == 0 { 0 } else { request * 10 + parent };
        TestSpan { request, id, parent, service, name: name.to_owned(), start_ms, ms, is_server }
    };
    vec![
        span(1, 0, "shop", "GET /", 0, 100, true),
        span(2, 1, "shop", "HTTP GET", 10, 60, false),
        // The clock of this machine is an hour ahead.
        span(3, 2, "stock", "GET /stock", 3_600_000, 50, true),
        span(4, 3, "stock", "SELECT", 3_600_010, 30, false),
    ]
}

fn parent_of(span: &TestSpan) -> u64 {
    if span.parent == 0 { ids().own_id(span.request) } else { span.parent }
}

fn times(span: &TestSpan) -> (u64, u64) {
    let start_ns = BEGIN + span.start_ms * MS;
    (start_ns, start_ns + span.ms * MS)
}

/// Returns a message in protobuf encoding.
pub fn protobuf(spans: &[TestSpan]) -> Vec<u8> {
    let value = |text: Option<&str>, number| AnyValue { string_value: text.map(str::to_owned), int_value: number };
    let attribute = |key: &str, value| KeyValue { key: key.to_owned(), value: Some(value) };
    let of_service = |span: &TestSpan| ResourceSpans {
        resource: Some(Resource {
            attributes: vec![
                attribute("process.pid", value(None, Some(7))),
                attribute("service.name", value(Some(span.service), None)),
            ],
        }),
        scope_spans: vec![ScopeSpans { spans: vec![of_span(span)] }],
        schema_url: "https://opentelemetry.io/schemas/1.21.0".to_owned(),
    };
    Request { resource_spans: spans.iter().map(of_service).collect() }.encode_to_vec()
}

pub fn of_span(span: &TestSpan) -> Span {
    let (start_time_unix_nano, end_time_unix_nano) = times(span);
    let trace_id = u128::from_str_radix(&ids().trace_id(span.request), 16).unwrap();
    Span {
        trace_id: trace_id.to_be_bytes().to_vec(),
        span_id: span.id.to_be_bytes().to_vec(),
        parent_span_id: parent_of(span).to_be_bytes().to_vec(),
        name: span.name.clone(),
        kind: if span.is_server { 2 } else { 1 },
        start_time_unix_nano,
        end_time_unix_nano,
        attributes: vec![KeyValue { key: "service.name".to_owned(), value: None }],
        flags: 0x101,
        ..Span::default()
    }
}

/// Returns a message in JSON, in one line.
pub fn json(spans: &[TestSpan]) -> String {
    let of_service = |span: &TestSpan| {
        let (start, end) = times(span);
        // Some write numbers as texts, and kinds by name.
        let (start, kind) = match span.is_server {
            true => (format!("\"{start}\""), "\"SPAN_KIND_SERVER\""),
            false => (start.to_string(), "3"),
        };
        format!(
            r#"{{"resource": {{"attributes": [{{"key": "n", "value": {{"arrayValue": {{"values": [1]}}}}}},
            {{"key": "service.name", "value": {{"stringValue": "{}"}}}}]}}, "scopeSpans": [{{"scope": {{"name": "x"}},
            "spans": [{{"traceId": "{}", "spanId": "{:016x}", "parentSpanId": "{:016X}", "name": "{}", "kind": {kind},
            "startTimeUnixNano": {start}, "endTimeUnixNano": "{end}", "status": {{}}, "links": null}}]}}]}}"#,
            span.service,
            ids().trace_id(span.request),
            span.id,
            parent_of(span),
            span.name
        )
    };
    let all: Vec<String> = spans.iter().map(of_service).collect();
    format!("{{\"resourceSpans\": [{}]}}", all.join(",")).replace('\n', "")
}

/// Returns the traces as Jaeger exports them.
pub fn jaeger(spans: &[TestSpan]) -> String {
    let of_trace = |spans: &[TestSpan]| {
        let trace_id = ids().trace_id(spans[0].request);
        let trace_id = trace_id.trim_start_matches('0');
        let mut text = format!("{{\"traceID\": \"{trace_id}\", \"spans\": [");
        for (nth, span) in spans.iter().enumerate() {
            let kind = if span.is_server { "server" } else { "client" };
            write!(
                text,
                r#"{}{{"traceID": "{trace_id}", "spanID": "{:x}", "flags": 1, "operationName": "{}",
                "references": [{{"refType": "FOLLOWS_FROM", "traceID": "1", "spanID": "2"}},
                {{"refType": "CHILD_OF", "traceID": "{trace_id}", "spanID": "{:x}"}}],
                "startTime": {}, "duration": {}, "tags": [{{"key": "error", "type": "bool", "value": true}},
                {{"key": "span.kind", "type": "string", "value": "{kind}"}}], "logs": [], "processID": "{}"}}"#,
                if nth == 0 { "" } else { "," },
                span.id,
                span.name,
                parent_of(span),
                times(span).0 / 1_000,
                span.ms * 1_000,
                span.service
            )
            .unwrap();
        }
        let processes: Vec<String> = spans
            .iter()
            .map(|span| format!("\"{0}\": {{\"serviceName\": \"{0}\", \"tags\": []}}", span.service))
            .collect();
        format!("{text}], \"processes\": {{{}}}, \"warnings\": null}}", processes.join(", "))
    };
    let traces: Vec<String> = spans.chunk_by(|a, b| a.request == b.request).map(of_trace).collect();
    format!("{{\"data\": [{}], \"total\": 0}}", traces.join(",\n"))
}

/// Returns the times of the requests with these indices, all of which were answered.
pub fn times_of(store: SpanStore, requests: u64) -> ServerTiming {
    let record = |index| {
        let arrival = Arrival { index, intended_start: Timestamp(index) };
        RequestRecord::new(arrival, arrival.intended_start, Timestamp(200 * MS), Outcome::response(200))
    };
    let records: Vec<RequestRecord> = (0..requests).map(record).collect();
    let timing = store.times(&Samples::from_parts(SamplesOptions::default(), records, 1, &[], requests));
    assert_eq!(books(&timing).imbalance(), None);
    timing
}

pub fn books(timing: &ServerTiming) -> &SpanBooks {
    timing.spans.as_ref().expect("books")
}

/// Returns the milliseconds of a request by name.
pub fn parts(timing: &ServerTiming, request: u64) -> Vec<(&str, u64)> {
    let times = timing.of(request).expect("times");
    let all = timing.names.iter().enumerate();
    all.filter_map(|(place, name)| Some((name.as_str(), times.get(place)?.0.div_ceil(MS)))).collect()
}
