use proptest::prelude::*;
use prost::Message;
use truetail_model::record::Histogram;
use truetail_model::time::Nanos;

use super::protobuf::MetricFamily;
use super::*;

fn histogram(times: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    times.iter().for_each(|time| histogram.record(Nanos(*time)));
    histogram
}

fn family(name: &'static str, kind: Kind, labels: Vec<(&'static str, String)>, value: Value) -> Family {
    let unit = if kind == Kind::Histogram { Unit::Seconds } else { Unit::None };
    Family { name, help: "What it is.", unit, kind, samples: vec![Sample { labels, value }] }
}

#[test]
fn the_text_format() {
    let times = TimesHistogram::new(&histogram(&[2_000_000, 3_000_000]), &[&histogram(&[5_000_000_000])]);
    let hostile = vec![("gate", "a\"b\\c\nd".to_owned())];
    let text = text(&[
        family("sent", Kind::Counter, Vec::new(), Value::Number(1e9)),
        family("gate", Kind::Gauge, hostile, Value::Number(1.0)),
        family("response_time", Kind::Histogram, Vec::new(), Value::Times(times)),
    ]);
    for line in [
        "# HELP truetail_sent_total What it is.",
        "# TYPE truetail_sent_total counter",
        "truetail_sent_total 1000000000",
        "truetail_gate{gate=\"a\\\"b\\\\c\\nd\"} 1",
        "truetail_response_time_seconds_bucket{le=\"0.001\"} 0",
        "truetail_response_time_seconds_bucket{le=\"0.0025\"} 1",
        "truetail_response_time_seconds_bucket{le=\"60\"} 2",
        "truetail_response_time_seconds_bucket{le=\"+Inf\"} 3",
        "truetail_response_time_seconds_sum 5.005",
        "truetail_response_time_seconds_count 3",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
}

fn native_buckets(histogram: &super::protobuf::Histogram) -> Vec<(i32, u64)> {
    let mut deltas = histogram.positive_delta.iter();
    let mut number = 0;
    let mut count = 0;
    let mut buckets = Vec::new();
    for span in &histogram.positive_span {
        number += span.offset;
        for _ in 0..span.length {
            count += deltas.next().expect("a delta for each bucket");
            buckets.push((number, count as u64));
            number += 1;
        }
    }
    assert!(deltas.next().is_none());
    buckets.retain(|(_, count)| *count > 0);
    buckets
}

fn decoded(bytes: &[u8]) -> Vec<MetricFamily> {
    let mut rest = bytes;
    let mut families = Vec::new();
    while !rest.is_empty() {
        families.push(MetricFamily::decode_length_delimited(&mut rest).unwrap());
    }
    families
}

proptest! {
    #[test]
    fn every_time_is_in_its_native_bucket(times in proptest::collection::vec((0u32..64, any::<u64>()), 1..200), lost in 0u64..5) {
        let times: Vec<u64> = times.into_iter().map(|(shift, bits)| bits >> shift).collect();
        let lost = histogram(&vec![7; lost as usize]);
        let found = TimesHistogram::new(&histogram(&times), &[&lost]);
        let bytes = protobuf(&[family("response_time", Kind::Histogram, Vec::new(), Value::Times(found.clone()))]);
        let families = decoded(&bytes);
        prop_assert_eq!(&families[0].name, "truetail_response_time_seconds");
        let histogram = families[0].metric[0].histogram.as_ref().unwrap();
        prop_assert_eq!(histogram.sample_count, times.len() as u64 + lost.count());
        let buckets = native_buckets(histogram);
        prop_assert_eq!(&buckets, &found.native);
        prop_assert_eq!(histogram.zero_count + buckets.iter().map(|(_, count)| count).sum::<u64>(), histogram.sample_count);
        for (number, count) in buckets.into_iter().filter(|(number, _)| *number < 32_000) {
            let [low, high] = [number - 1, number].map(|number| 2f64.powf(f64::from(number) / 32.0) * 1e9);
            // Times are known to 0.1 %.
            let near = times.iter().filter(|time| **time as f64 >= low * 0.999 && **time as f64 <= high * 1.002).count();
            prop_assert!(near as u64 >= count, "bucket {number}: {count} of {near}");
        }
        for bucket in histogram.bucket.iter().filter(|bucket| bucket.upper_bound.is_finite()) {
            let limit = bucket.upper_bound * 1e9;
            let surely = times.iter().filter(|time| **time as f64 <= limit * 0.998).count() as u64;
            let possibly = times.iter().filter(|time| **time as f64 <= limit * 1.002).count() as u64;
            prop_assert!((surely..=possibly).contains(&bucket.cumulative_count));
        }
        prop_assert_eq!(histogram.bucket.last().unwrap().cumulative_count, histogram.sample_count);
    }
}
