//! The series of a metric that count the requests of the run: all of them, or the ones with one label.

use std::collections::BTreeMap;

use truetail_model::record::Tally;
use truetail_run::{ServiceBucket, ServiceHistogram, StatedQuantile};

use crate::increase::Increase;
use crate::line::SeriesId;

/// Counts may differ by this share of the requests, and by a few more: a page is not read at one instant.
const SHARE: u64 = 100;
const FEW: u64 = 10;
/// Longest time that is kept: about 36 years.
const LONGEST_NS: f64 = (1u64 << 60) as f64;
const LARGEST: f64 = (1u64 << 60) as f64;

/// Returns the request times of a metric, of the series whose counts fit the requests of the run best.
pub(crate) fn chosen(
    metric: &str,
    unit: f64,
    series: &[(&SeriesId, &Increase)],
    tally: &Tally,
    reads: u64,
) -> Option<ServiceHistogram> {
    let whole = sum(metric, unit, series)?;
    let most = tally.issued + tally.issued / SHARE + FEW + reads;
    if whole.count <= most {
        return Some(whole);
    }
    let fewest = tally.responses.saturating_sub(tally.responses / SHARE + FEW).max(1);
    let fitting = by_label(series).into_iter().filter_map(|((name, value), series)| {
        let part = sum(metric, unit, &series).filter(|part| (fewest..=most).contains(&part.count))?;
        Some(ServiceHistogram { label: Some(format!("{name}={value:?}")), ..part })
    });
    fitting.min_by_key(|part| part.count.abs_diff(tally.responses)).or(Some(whole))
}

type Series<'a> = Vec<(&'a SeriesId, &'a Increase)>;

fn by_label<'a>(series: &[(&'a SeriesId, &'a Increase)]) -> BTreeMap<(&'a str, &'a str), Series<'a>> {
    let mut all: BTreeMap<(&str, &str), Series<'_>> = BTreeMap::new();
    for (id, increase) in series {
        for (name, value) in &id.labels {
            all.entry((name, value)).or_default().push((id, increase));
        }
    }
    all
}

/// Returns the sum of the series with the bounds of the first one; `None` without series, or if nothing was counted.
fn sum(metric: &str, unit: f64, series: &[(&SeriesId, &Increase)]) -> Option<ServiceHistogram> {
    let (_, first) = series.first()?;
    let bounds: Vec<f64> = first.buckets.iter().map(|(bound, _)| *bound).collect();
    let is_alike = |increase: &&Increase| increase.buckets.iter().map(|(bound, _)| bound).eq(&bounds);
    let alike: Vec<&Increase> = series.iter().map(|(_, increase)| *increase).filter(is_alike).collect();
    let total = |value: fn(&Increase) -> f64| alike.iter().map(|increase| value(increase)).sum::<f64>();
    let count = whole(total(|increase| increase.count));
    let times = alike.iter().map(|increase| increase.sum).collect::<Option<Vec<f64>>>();
    let mean = times.map(|times| times.iter().sum::<f64>() * unit / count as f64);
    let cumulative = bounds.iter().enumerate().map(|(place, bound)| {
        let counts = alike.iter().map(|increase| increase.buckets[place].1);
        (*bound, whole(counts.sum()))
    });
    // Percentiles of several series cannot be joined.
    let stated = if alike.len() == 1 { first.stated() } else { &[] };
    let nanos = |value: f64| (value * unit).clamp(0.0, LONGEST_NS) as u64;
    let restarts = alike.iter().map(|increase| increase.restarts).max().unwrap_or(0);
    (count > 0).then(|| ServiceHistogram {
        metric: metric.to_owned(),
        label: None,
        count,
        mean_ns: mean.filter(|mean| mean.is_finite() && (0.0..LONGEST_NS).contains(mean)),
        buckets: in_buckets(cumulative, unit, count),
        stated: stated.iter().map(|(q, value)| StatedQuantile { q: *q, value_ns: nanos(*value) }).collect(),
        earlier: whole(total(|increase| increase.earlier)),
        restarts,
    })
}

fn whole(count: f64) -> u64 {
    count.clamp(0.0, LARGEST).round() as u64
}

/// Returns the count of each bucket by itself. Counts that fall towards higher bounds are taken as equal, as PromQL
/// does. Without a bucket for the longest times, one is added.
fn in_buckets(cumulative: impl Iterator<Item = (f64, u64)>, unit: f64, count: u64) -> Vec<ServiceBucket> {
    let mut below = 0;
    let mut buckets = Vec::new();
    for (bound, up_to) in cumulative {
        let le_ns = bound * unit;
        let le_ns = (le_ns < LONGEST_NS).then(|| le_ns.max(0.0).round() as u64);
        buckets.push(ServiceBucket { le_ns, count: up_to.saturating_sub(below) });
        below = below.max(up_to);
    }
    if buckets.last().is_some_and(|last| last.le_ns.is_some()) {
        buckets.push(ServiceBucket { le_ns: None, count: count.saturating_sub(below) });
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::times::Times;

    fn series(path: &str, small: f64, all: f64) -> (SeriesId, Increase) {
        let labels = [("method", "GET"), ("path", path)].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let buckets = vec![(0.1, small), (f64::INFINITY, all)];
        let times = Times { buckets, count: all, sum: Some(all * 0.05), ..Times::default() };
        (SeriesId { name: "m".to_owned(), labels: labels.to_vec() }, Increase::from_nothing(&times))
    }

    fn chosen_of(all: &[(SeriesId, Increase)], requests: u64) -> ServiceHistogram {
        let tally = Tally { planned: requests, issued: requests, responses: requests, ..Tally::default() };
        let all: Vec<_> = all.iter().map(|(id, increase)| (id, increase)).collect();
        chosen("m", 1e9, &all, &tally, 3).unwrap()
    }

    #[test]
    fn the_label_with_the_counts_of_the_run_is_chosen() {
        let all = [series("/a", 900.0, 1_000.0), series("/b", 50.0, 5_000.0), series("/metrics", 3.0, 3.0)];
        let of_a = chosen_of(&all, 1_000);
        assert_eq!((of_a.label.as_deref(), of_a.count), (Some("path=\"/a\""), 1_000));
        let bucket = |le_ns, count| ServiceBucket { le_ns, count };
        assert_eq!(of_a.buckets, [bucket(Some(100_000_000), 900), bucket(None, 100)]);
        assert_eq!(of_a.mean_ns.map(f64::round), Some(50e6));
        let all_together = chosen_of(&all, 6_000);
        assert_eq!((all_together.label, all_together.count), (None, 6_003));
        // No label fits: the whole, which counts too many.
        assert_eq!(chosen_of(&all, 2_000).count, 6_003);
    }

    #[test]
    fn buckets_are_closed_and_never_negative() {
        let in_s = |bounds: &[(f64, u64)]| in_buckets(bounds.iter().copied(), 1e9, 10);
        let counts: Vec<u64> = in_s(&[(0.1, 4), (0.2, 3), (0.4, 9)]).iter().map(|bucket| bucket.count).collect();
        assert_eq!(counts, [4, 0, 5, 1]);
        assert!(in_s(&[]).is_empty());
    }
}
