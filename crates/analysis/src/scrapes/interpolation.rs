//! Percentiles of buckets.
//!
//! `histogram_quantile` of PromQL (Prometheus, `promql/quantile.go`, function `bucketQuantile`): the rank q·n falls
//! into the first bucket with a cumulative count of at least q·n, and the value is interpolated linearly between the
//! bounds of this bucket. The lowest bucket begins at 0. In the bucket without an upper bound, the value is its lower
//! bound.

use truetail_run::ServiceBucket;

/// Place of a percentile among buckets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Placed {
    /// Lower bound of its bucket.
    pub low_ns: u64,
    /// Upper bound; `None` for the bucket of the longest times.
    pub high_ns: Option<u64>,
    /// Value that PromQL computes.
    pub dashboard_ns: u64,
}

/// Returns the place of the q-quantile; `None` if nothing was counted, or if there is only one bucket.
pub(super) fn quantile(q: f64, buckets: &[ServiceBucket]) -> Option<Placed> {
    let count: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    if buckets.len() < 2 || count == 0 {
        return None;
    }
    let rank = q * count as f64;
    let mut below = 0;
    let mut low_ns = 0;
    for bucket in buckets {
        let up_to = below + bucket.count;
        let Some(high_ns) = bucket.le_ns else { break };
        if up_to as f64 >= rank && bucket.count > 0 {
            let share = (rank - below as f64) / bucket.count as f64;
            let inside = (high_ns - low_ns) as f64 * share.clamp(0.0, 1.0);
            return Some(Placed { low_ns, high_ns: Some(high_ns), dashboard_ns: low_ns + inside.round() as u64 });
        }
        below = up_to;
        low_ns = high_ns;
    }
    Some(Placed { low_ns, high_ns: None, dashboard_ns: low_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn buckets(all: &[(Option<u64>, u64)]) -> Vec<ServiceBucket> {
        all.iter().map(|(ms, count)| ServiceBucket { le_ns: ms.map(|ms| ms * MS), count: *count }).collect()
    }

    /// The example of Prometheus' own test data, `promql/promqltest/testdata/histograms.test`: buckets 0.1, 0.2, 1 and
    /// infinity with 50, 70, 110 and 110 cumulative counts per step.
    #[test]
    fn values_are_those_of_promql() {
        let of_prometheus = buckets(&[(Some(100), 50), (Some(200), 20), (Some(1_000), 40), (None, 0)]);
        let value = |q: f64| quantile(q, &of_prometheus).unwrap().dashboard_ns as f64 / 1e9;
        // 0.8·110 = 88: 0.2 + 0.8·(88 − 70)/40.
        assert!((value(0.8) - 0.56).abs() < 1e-6, "{}", value(0.8));
        // 0.2·110 = 22 of the 50 in the lowest bucket.
        assert!((value(0.2) - 0.044).abs() < 1e-6, "{}", value(0.2));
        assert_eq!((value(0.0), value(1.0)), (0.0, 1.0));
    }

    #[test]
    fn beyond_the_last_bound_it_is_the_last_bound() {
        let all = buckets(&[(Some(10), 5), (None, 5)]);
        assert_eq!(quantile(0.9, &all), Some(Placed { low_ns: 10 * MS, high_ns: None, dashboard_ns: 10 * MS }));
        assert_eq!(quantile(0.5, &all).unwrap().high_ns, Some(10 * MS));
        assert_eq!(quantile(0.5, &buckets(&[(None, 5)])), None);
        assert_eq!(quantile(0.5, &buckets(&[(Some(10), 0), (None, 0)])), None);
        assert_eq!(quantile(0.5, &[]), None);
    }

    #[test]
    fn empty_buckets_are_passed() {
        let all = buckets(&[(Some(10), 0), (Some(20), 0), (Some(40), 4), (None, 0)]);
        let placed = |low, high, at| Some(Placed { low_ns: low * MS, high_ns: Some(high * MS), dashboard_ns: at * MS });
        assert_eq!(quantile(0.5, &all), placed(20, 40, 30));
        assert_eq!(quantile(1.0, &all), placed(20, 40, 40));
    }
}
