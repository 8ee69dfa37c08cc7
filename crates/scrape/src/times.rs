//! Histograms and summaries of request times in a page of metrics.

use std::collections::BTreeMap;

use crate::exposition::{Exposition, Kind};
use crate::line::{Sample, SeriesId};
use crate::names::request_time_unit;

/// Limit on the buckets of a histogram, and on the percentiles of a summary.
const MAX_BOUNDS: usize = 250;

/// A histogram or summary as a page has it, in the units of the service.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Times {
    /// Upper bound and cumulative count of each bucket, ascending.
    pub buckets: Vec<(f64, f64)>,
    /// Percentiles that the service computed: q and value.
    pub stated: Vec<(f64, f64)>,
    pub count: f64,
    pub sum: Option<f64>,
}

/// Returns the histograms and summaries of request times, by metric and labels.
pub(crate) fn times(exposition: &Exposition) -> BTreeMap<SeriesId, Times> {
    let mut all: BTreeMap<SeriesId, Times> = BTreeMap::new();
    for sample in exposition.samples() {
        let Some((metric, part)) = part_of(sample, exposition) else { continue };
        let is_own = |label: &str| matches!((part, label), (Part::Bucket, "le") | (Part::Stated, "quantile"));
        let labels = sample.id.labels.iter().filter(|(label, _)| !is_own(label)).cloned().collect();
        let times = all.entry(SeriesId { name: metric.to_owned(), labels }).or_default();
        let bound = |label: &str| sample.id.label(label).and_then(|bound| bound.parse::<f64>().ok());
        match part {
            Part::Bucket => add(&mut times.buckets, bound("le"), sample.value),
            Part::Stated => add(&mut times.stated, bound("quantile"), sample.value),
            Part::Count => times.count = sample.value,
            Part::Sum => times.sum = Some(sample.value).filter(|sum| sum.is_finite()),
        }
    }
    all.values_mut().for_each(Times::put_in_order);
    all.retain(|_, times| times.is_usable());
    all
}

fn add(to: &mut Vec<(f64, f64)>, bound: Option<f64>, value: f64) {
    if let Some(bound) = bound.filter(|bound| !bound.is_nan() && to.len() < MAX_BOUNDS) {
        to.push((bound, value));
    }
}

impl Times {
    fn put_in_order(&mut self) {
        self.buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.stated.retain(|(q, value)| (0.0..=1.0).contains(q) && value.is_finite() && *value >= 0.0);
        self.stated.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The bucket without a bound counts everything.
        let all = self.buckets.last().filter(|(bound, _)| bound.is_infinite()).map(|(_, count)| *count);
        self.count = all.unwrap_or(self.count);
    }

    fn is_usable(&self) -> bool {
        let is_count = |count: f64| count.is_finite() && count >= 0.0;
        is_count(self.count) && self.buckets.iter().all(|(_, count)| is_count(*count))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Bucket,
    Count,
    Sum,
    Stated,
}

/// Returns the metric of request times that a sample is a part of.
fn part_of<'a>(sample: &'a Sample, exposition: &Exposition) -> Option<(&'a str, Part)> {
    let name = sample.id.name.as_str();
    let suffixes = [("_bucket", Part::Bucket), ("_count", Part::Count), ("_sum", Part::Sum)];
    let found = suffixes.into_iter().find_map(|(suffix, part)| Some((name.strip_suffix(suffix)?, part)));
    let (metric, part) = match found {
        Some(found) => found,
        None if sample.id.label("quantile").is_some() => (name, Part::Stated),
        None => return None,
    };
    let kind = exposition.kind(metric);
    let fits = match part {
        Part::Bucket => sample.id.label("le").is_some() && matches!(kind, None | Some(Kind::Histogram)),
        Part::Stated => matches!(kind, None | Some(Kind::Summary)),
        Part::Count | Part::Sum => matches!(kind, Some(Kind::Histogram | Kind::Summary)),
    };
    (fits && request_time_unit(metric).is_some()).then_some((metric, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_the_same_labels_belong_together() {
        let page = "# TYPE http_request_duration_seconds histogram\n\
            http_request_duration_seconds_bucket{path=\"/a\",le=\"+Inf\"} 5\n\
            http_request_duration_seconds_bucket{path=\"/a\",le=\"0.01\"} 3\n\
            http_request_duration_seconds_sum{path=\"/a\"} 0.25\n\
            http_request_duration_seconds_count{path=\"/a\"} 5\n\
            http_request_duration_seconds_bucket{path=\"/b\",le=\"0.01\"} NaN\n\
            # TYPE rpc_time_ms summary\n\
            rpc_time_ms{quantile=\"0.99\"} 7\nrpc_time_ms{quantile=\"0.5\"} NaN\nrpc_time_ms_count 9\n\
            # TYPE http_requests counter\nhttp_requests_total 8\n";
        let all = times(&Exposition::parse(page.as_bytes()).unwrap());
        let shown: Vec<(String, &Times)> = all.iter().map(|(id, times)| (id.to_string(), times)).collect();
        assert_eq!(shown.len(), 2, "{shown:?}");
        let of_a = &all[&SeriesId {
            name: "http_request_duration_seconds".to_owned(),
            labels: vec![("path".to_owned(), "/a".to_owned())],
        }];
        assert_eq!((of_a.count, of_a.sum), (5.0, Some(0.25)));
        assert_eq!(of_a.buckets, [(0.01, 3.0), (f64::INFINITY, 5.0)]);
        assert_eq!((&shown[1].1.stated, shown[1].1.count), (&vec![(0.99, 7.0)], 9.0));
    }
}
