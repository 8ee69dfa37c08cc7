//! A state of a run as an OTLP message. The run is the resource, and its attributes describe the run.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use truetail_report::LiveState;
use truetail_report::metrics::{Family, Kind, Sample, TimesHistogram, Unit, Value, families};

/// Start and end of the values of a message, in nanoseconds since 1970 UTC.
#[derive(Clone, Copy)]
struct Span {
    from_unix_ns: u64,
    to_unix_ns: u64,
}

/// Returns the metrics of a state. `instance` distinguishes this process from other ones.
pub(super) fn request(state: &LiveState, instance: &str) -> ExportMetricsServiceRequest {
    let from_unix_ns = state.run.facts.started_at_unix_ns.unwrap_or(0);
    let span = Span { from_unix_ns, to_unix_ns: from_unix_ns + state.run.facts.elapsed_ns };
    let scope = InstrumentationScope {
        name: "truetail".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    };
    let metrics = families(Some(state)).iter().map(|family| metric(family, span)).collect();
    let resource = Resource { attributes: attributes(state, instance), ..Resource::default() };
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource),
            scope_metrics: vec![ScopeMetrics { scope: Some(scope), metrics, ..ScopeMetrics::default() }],
            ..ResourceMetrics::default()
        }],
    }
}

/// Returns the known attributes of the run. URLs are given without their query, which may hold secrets.
fn attributes(state: &LiveState, instance: &str) -> Vec<KeyValue> {
    let offered = &state.run.facts.offered;
    let text = |text: &str| Some(Any::StringValue(text.to_owned()));
    let number = |number: Option<u64>| number.and_then(|number| i64::try_from(number).ok()).map(Any::IntValue);
    let seconds = |ns: Option<u64>| ns.map(|ns| Any::DoubleValue(ns as f64 / 1e9));
    let url = offered.url.as_deref().map(|url| url.split(['?', '#']).next().unwrap_or_default());
    let host = state.run.facts.host.as_ref().map(|host| host.cpus.into());
    let found = [
        ("service.name", text("truetail")),
        ("service.version", text(env!("CARGO_PKG_VERSION"))),
        ("service.instance.id", text(instance)),
        ("truetail.run.name", offered.name.as_deref().and_then(text)),
        ("truetail.run.url", url.and_then(text)),
        ("truetail.run.method", offered.method.as_deref().and_then(text)),
        ("truetail.run.model", text(offered.model.name())),
        ("truetail.run.profile", offered.profile.as_deref().and_then(text)),
        ("truetail.run.spacing", offered.spacing.as_deref().and_then(text)),
        ("truetail.run.seed", number(offered.seed)),
        ("truetail.run.users", number(offered.users.map(u64::from))),
        ("truetail.run.users_over_time", offered.users_over_time.as_deref().and_then(text)),
        ("truetail.run.requests", number(offered.requests)),
        ("truetail.run.duration_seconds", seconds(offered.duration_ns)),
        ("truetail.run.warmup_seconds", seconds(Some(offered.warmup_ns))),
        ("truetail.run.generator_cpus", number(host)),
        ("truetail.run.ended", Some(Any::BoolValue(state.ended))),
    ];
    found.into_iter().filter_map(|(key, value)| Some(attribute(key, value?))).collect()
}

fn attribute(key: &str, value: Any) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn metric(family: &Family, span: Span) -> Metric {
    let cumulative = AggregationTemporality::Cumulative as i32;
    let numbers = || family.samples.iter().filter_map(|sample| number(sample, span)).collect();
    let data = match family.kind {
        Kind::Counter => {
            Data::Sum(Sum { data_points: numbers(), aggregation_temporality: cumulative, is_monotonic: true })
        }
        Kind::Gauge => Data::Gauge(Gauge { data_points: numbers() }),
        Kind::Histogram => Data::Histogram(Histogram {
            data_points: family.samples.iter().filter_map(|sample| times(sample, span)).collect(),
            aggregation_temporality: cumulative,
        }),
    };
    Metric {
        name: format!("truetail.{}", family.name),
        description: family.help.to_owned(),
        unit: match family.unit {
            Unit::None => "1".to_owned(),
            Unit::Seconds => "s".to_owned(),
        },
        data: Some(data),
        ..Metric::default()
    }
}

fn labels(sample: &Sample) -> Vec<KeyValue> {
    sample.labels.iter().map(|(name, value)| attribute(name, Any::StringValue(value.clone()))).collect()
}

fn number(sample: &Sample, span: Span) -> Option<NumberDataPoint> {
    let Value::Number(value) = &sample.value else { return None };
    Some(NumberDataPoint {
        attributes: labels(sample),
        start_time_unix_nano: span.from_unix_ns,
        time_unix_nano: span.to_unix_ns,
        value: Some(number_data_point::Value::AsDouble(*value)),
        ..NumberDataPoint::default()
    })
}

/// Encodes a histogram with explicit bounds. Its top bucket holds requests without a response, above all finite times;
/// exponential buckets have no such bucket.
fn times(sample: &Sample, span: Span) -> Option<HistogramDataPoint> {
    let Value::Times(TimesHistogram { count, sum_s, classic, .. }) = &sample.value else { return None };
    let cumulative: Vec<u64> = classic.iter().map(|(_, count)| *count).chain([*count]).collect();
    let before = [0].into_iter().chain(cumulative.iter().copied());
    Some(HistogramDataPoint {
        attributes: labels(sample),
        start_time_unix_nano: span.from_unix_ns,
        time_unix_nano: span.to_unix_ns,
        count: *count,
        sum: Some(*sum_s),
        bucket_counts: cumulative.iter().zip(before).map(|(count, before)| count - before).collect(),
        explicit_bounds: classic.iter().map(|(bound, _)| *bound).collect(),
        ..HistogramDataPoint::default()
    })
}
