//! Rows of the interval files: an HdrHistogram for each snapshot interval.

use hdrhistogram::Histogram;
use truetail_model::record::RequestRecord;
use truetail_model::time::{Nanos, Timestamp};

use super::options::{FreezeOptions, NANOS_PER_MS};
use crate::Sink;
use crate::labs::series::LabSeries;

/// Significant digits of the histograms.
const DIGITS: u8 = 3;

/// Row of an interval file. Quantiles are in ms, as HdrHistogram gives them; `None` if no request arrived.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FreezeInterval {
    /// End of the interval, from the start of the run.
    pub elapsed: Nanos,
    /// p50.
    pub p50_ms: Option<u64>,
    /// p95.
    pub p95_ms: Option<u64>,
    /// p99.
    pub p99_ms: Option<u64>,
    /// p99.9.
    pub p999_ms: Option<u64>,
    /// Requests sent in the interval, per second.
    pub throughput_rps: f64,
    /// Requests sent up to the end of the interval.
    pub total_requests: u64,
}

/// Measurement of the freeze in one way.
#[derive(Clone, Debug)]
pub struct FreezeSeries {
    /// Everything that was recorded.
    pub series: LabSeries,
    /// Number of requests sent.
    pub total_requests: u64,
    /// p99 of the whole run in ms; `None` if no request was sent.
    pub whole_run_p99_ms: Option<u64>,
    /// A row for each snapshot interval.
    pub intervals: Vec<FreezeInterval>,
}

/// Arrival and response time of each request.
#[derive(Default)]
pub(super) struct ResponseTimes(Vec<(Timestamp, Nanos)>);

impl Sink for ResponseTimes {
    fn planned(&mut self, _: Timestamp) {}

    fn ended(&mut self, record: &RequestRecord) {
        self.0.push((record.intended_start, record.response_time()));
    }
}

/// Divides a run into snapshot intervals.
pub(super) struct Snapshots {
    duration: Nanos,
    interval: Nanos,
}

impl Snapshots {
    pub(super) fn new(options: &FreezeOptions) -> Snapshots {
        Snapshots { duration: options.duration, interval: options.snapshot_interval }
    }

    /// Returns the rows of `arrivals`; with an `expected_interval`, each snapshot is corrected separately.
    pub(super) fn series(
        &self,
        series: LabSeries,
        arrivals: &ResponseTimes,
        expected_interval: Option<Nanos>,
    ) -> FreezeSeries {
        let mut values: Vec<(u64, u64)> =
            arrivals.0.iter().map(|(at, took)| (self.number(*at), in_ms(*took))).collect();
        values.sort_by_key(|(number, _)| *number);
        let mut whole_run = histogram();
        let mut intervals = Vec::new();
        let mut rest = values.as_slice();
        let mut total_requests = 0;
        for number in 0..self.count() {
            let (mine, later) = rest.split_at(rest.partition_point(|(n, _)| *n <= number));
            total_requests += mine.len() as u64;
            let snapshot = snapshot(mine, expected_interval);
            intervals.push(self.row(number, &snapshot, mine.len(), total_requests));
            whole_run += snapshot;
            rest = later;
        }
        FreezeSeries { series, total_requests, whole_run_p99_ms: at_per_mille(&whole_run, 990), intervals }
    }

    fn row(&self, number: u64, snapshot: &Histogram<u64>, sent: usize, total_requests: u64) -> FreezeInterval {
        let elapsed = Nanos((number + 1).saturating_mul(self.interval.0).min(self.duration.0));
        let length = elapsed.saturating_sub(Nanos(number * self.interval.0));
        FreezeInterval {
            elapsed,
            p50_ms: at_per_mille(snapshot, 500),
            p95_ms: at_per_mille(snapshot, 950),
            p99_ms: at_per_mille(snapshot, 990),
            p999_ms: at_per_mille(snapshot, 999),
            throughput_rps: sent as f64 / length.as_secs_f64(),
            total_requests,
        }
    }

    fn count(&self) -> u64 {
        self.duration.0.div_ceil(self.interval.0)
    }

    fn number(&self, arrived: Timestamp) -> u64 {
        arrived.0 / self.interval.0
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("3 digits are in HdrHistogram's range")
}

fn snapshot(values: &[(u64, u64)], expected_interval: Option<Nanos>) -> Histogram<u64> {
    let mut raw = histogram();
    for (_, ms) in values {
        raw.record(*ms).expect("the histogram grows");
    }
    match expected_interval {
        Some(interval) => raw.clone_correct(in_ms(interval)),
        None => raw,
    }
}

/// Converts to milliseconds: all times in this lab are whole milliseconds.
fn in_ms(time: Nanos) -> u64 {
    debug_assert!(time.0.is_multiple_of(NANOS_PER_MS), "{time} is no whole number of ms");
    time.0 / NANOS_PER_MS
}

/// Returns the highest value of the bucket that reaches `per_mille` thousandths of the count, rounded up. HdrHistogram
/// gives the same, but with a floating-point product.
fn at_per_mille(histogram: &Histogram<u64>, per_mille: u64) -> Option<u64> {
    let rank = (per_mille * histogram.len()).div_ceil(1000);
    let mut seen = 0;
    histogram.iter_recorded().find_map(|value| {
        seen += value.count_since_last_iteration();
        (seen >= rank).then(|| histogram.highest_equivalent(value.value_iterated_to()))
    })
}
