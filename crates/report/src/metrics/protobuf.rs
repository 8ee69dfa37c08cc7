//! The protobuf format of Prometheus, with classic and native histograms: `io.prometheus.client.MetricFamily` messages.
//!
//! Each message follows its length. It has only the fields that are used here, with the numbers of Prometheus'
//! `metrics.proto`. In a native histogram, runs of adjacent buckets are spans. The first count is absolute, and each
//! further one is the difference to the count before it.

use prost::Message;

use super::times::NATIVE_SCHEMA;
use super::{Family, Kind, Sample, TimesHistogram, Value};

/// The content type of [`protobuf`].
pub const PROTOBUF_TYPE: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

/// Times up to this limit, in seconds, count as zero: truetail measures whole nanoseconds.
const ZERO_THRESHOLD: f64 = 5e-10;
/// Longest gap between buckets that is filled with empty buckets, because a span takes more room.
const LONGEST_FILLED_GAP: i32 = 2;

/// Returns the metrics, one message per family.
pub fn protobuf(families: &[Family]) -> Vec<u8> {
    let mut out = Vec::new();
    for family in families {
        let message = MetricFamily {
            name: family.prometheus_name(),
            help: family.help.to_owned(),
            kind: match family.kind {
                Kind::Counter => 0,
                Kind::Gauge => 1,
                Kind::Histogram => 4,
            },
            metric: family.samples.iter().map(|sample| metric(sample, family.kind)).collect(),
        };
        message.encode_length_delimited(&mut out).expect("a Vec takes everything");
    }
    out
}

fn metric(sample: &Sample, kind: Kind) -> Metric {
    let label = |(name, value): &(&'static str, String)| LabelPair { name: (*name).to_owned(), value: value.clone() };
    let labels = sample.labels.iter().map(label).collect();
    match &sample.value {
        Value::Number(value) if kind == Kind::Counter => {
            Metric { label: labels, counter: Some(Number { value: *value }), ..Metric::default() }
        }
        Value::Number(value) => Metric { label: labels, gauge: Some(Number { value: *value }), ..Metric::default() },
        Value::Times(times) => Metric { label: labels, histogram: Some(histogram(times)), ..Metric::default() },
    }
}

fn histogram(times: &TimesHistogram) -> Histogram {
    let (positive_span, positive_delta) = spans(&times.native);
    let bucket = |(upper_bound, cumulative_count): &(f64, u64)| Bucket {
        cumulative_count: *cumulative_count,
        upper_bound: *upper_bound,
    };
    Histogram {
        sample_count: times.count,
        sample_sum: times.sum_s,
        bucket: times.classic.iter().map(bucket).chain([bucket(&(f64::INFINITY, times.count))]).collect(),
        schema: NATIVE_SCHEMA,
        zero_threshold: ZERO_THRESHOLD,
        zero_count: times.native_zero,
        positive_span,
        positive_delta,
    }
}

fn spans(buckets: &[(i32, u64)]) -> (Vec<BucketSpan>, Vec<i64>) {
    let (mut spans, mut deltas): (Vec<BucketSpan>, Vec<i64>) = Default::default();
    let mut next = 0;
    let mut before = 0;
    for (number, count) in buckets {
        let gap = number - next;
        match spans.last_mut() {
            Some(span) if gap <= LONGEST_FILLED_GAP => {
                span.length += gap as u32 + 1;
                for _ in 0..gap {
                    deltas.push(-before);
                    before = 0;
                }
            }
            _ => spans.push(BucketSpan { offset: gap, length: 1 }),
        }
        deltas.push(*count as i64 - before);
        (next, before) = (number + 1, *count as i64);
    }
    (spans, deltas)
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct MetricFamily {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) help: String,
    #[prost(int32, tag = "3")]
    pub(super) kind: i32,
    #[prost(message, repeated, tag = "4")]
    pub(super) metric: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Metric {
    #[prost(message, repeated, tag = "1")]
    pub(super) label: Vec<LabelPair>,
    #[prost(message, optional, tag = "2")]
    pub(super) gauge: Option<Number>,
    #[prost(message, optional, tag = "3")]
    pub(super) counter: Option<Number>,
    #[prost(message, optional, tag = "7")]
    pub(super) histogram: Option<Histogram>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct LabelPair {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

/// A `Gauge` or a `Counter`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Number {
    #[prost(double, tag = "1")]
    pub(super) value: f64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Histogram {
    #[prost(uint64, tag = "1")]
    pub(super) sample_count: u64,
    #[prost(double, tag = "2")]
    pub(super) sample_sum: f64,
    #[prost(message, repeated, tag = "3")]
    pub(super) bucket: Vec<Bucket>,
    #[prost(sint32, tag = "5")]
    pub(super) schema: i32,
    #[prost(double, tag = "6")]
    pub(super) zero_threshold: f64,
    #[prost(uint64, tag = "7")]
    pub(super) zero_count: u64,
    #[prost(message, repeated, tag = "12")]
    pub(super) positive_span: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "13")]
    pub(super) positive_delta: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Bucket {
    #[prost(uint64, tag = "1")]
    pub(super) cumulative_count: u64,
    #[prost(double, tag = "2")]
    pub(super) upper_bound: f64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct BucketSpan {
    #[prost(sint32, tag = "1")]
    pub(super) offset: i32,
    #[prost(uint32, tag = "2")]
    pub(super) length: u32,
}
