//! Numbers that the service published about itself during the run (`--scrape`).

use serde::{Deserialize, Serialize};

/// Limit on the series over time of a service.
pub const MAX_SERVICE_SERIES: usize = 320;
/// Limit on the points of a series.
pub const MAX_SERVICE_POINTS: usize = 2_048;

const LONGEST_NS: f64 = (1u64 << 60) as f64;
const LARGEST: u128 = 1 << 60;

/// Numbers of one service, and how they were read.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Scrape {
    /// Name that the user gave it, or the host and port.
    pub name: String,
    /// Address of its metrics, without credentials; or the files.
    pub url: String,
    /// Number of times that they were read.
    pub reads: u64,
    /// Number of times that they could not be read.
    pub failed: u64,
    /// First reason for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Start of the histograms' counts, as a time since the origin of the run. 0 if they began before the run.
    pub from_ns: u64,
    /// Histograms of request times that were left out, because there were too many.
    pub left_out: u64,
    /// Increase of the histograms and summaries of request times. In `run.json`, they are beside their findings.
    #[serde(skip)]
    pub histograms: Vec<ServiceHistogram>,
    /// Counters and gauges that changed. They are saved in a separate file.
    #[serde(skip)]
    pub series: Vec<ServiceSeries>,
}

/// Request times that a service counted during the run.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct ServiceHistogram {
    /// Name of the metric.
    pub metric: String,
    /// Label of the requests of the run, such as `handler="/items"`; omitted if all are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Requests that it counted.
    pub count: u64,
    /// Their mean time; null if unknown.
    pub mean_ns: Option<f64>,
    /// Buckets in ascending order; empty for a summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<ServiceBucket>,
    /// Percentiles that the service itself computed; empty for a histogram.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<StatedQuantile>,
    /// Requests that it had counted before. The percentiles of a summary may include them.
    pub earlier: u64,
    /// Restarts of the service during the run, by counts that fell.
    pub restarts: u64,
}

/// Bucket of a histogram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ServiceBucket {
    /// Upper bound, which belongs to the bucket; null for infinity.
    pub le_ns: Option<u64>,
    /// Requests in the bucket, without those in lower buckets.
    pub count: u64,
}

/// Percentile that a service computed.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct StatedQuantile {
    /// From 0 to 1.
    pub q: f64,
    /// Its value.
    pub value_ns: u64,
}

impl Scrape {
    /// Returns the reason why a service cannot have counted these requests; `None` if it can.
    pub fn imbalance(&self) -> Option<String> {
        let total = |buckets: &[ServiceBucket]| buckets.iter().map(|bucket| u128::from(bucket.count)).sum::<u128>();
        let bound = |bucket: &ServiceBucket| bucket.le_ns.unwrap_or(u64::MAX);
        let is_possible = |histogram: &&ServiceHistogram| {
            let buckets = &histogram.buckets;
            let is_ascending = buckets.windows(2).all(|pair| bound(&pair[0]) < bound(&pair[1]));
            let has_end = buckets.last().is_none_or(|last| last.le_ns.is_none());
            let is_time = histogram.mean_ns.is_none_or(|mean| (0.0..LONGEST_NS).contains(&mean));
            let stated = &histogram.stated;
            let are_shares = stated.iter().all(|stated| (0.0..=1.0).contains(&stated.q));
            let counts = histogram.count.max(histogram.earlier).max(histogram.restarts);
            let are_small = u128::from(counts).max(total(buckets)) <= LARGEST;
            is_ascending && has_end && is_time && are_shares && are_small
        };
        let wrong = self.histograms.iter().find(|histogram| !is_possible(histogram))?;
        Some(format!("the buckets or counts of {:?} are impossible", wrong.metric))
    }
}

/// A counter or gauge over time.
#[derive(Clone, PartialEq, Debug)]
pub struct ServiceSeries {
    /// Name and labels.
    pub name: String,
    /// True for a counter, which is drawn by its increase per second.
    pub is_counter: bool,
    /// True if it is drawn.
    pub is_lane: bool,
    /// Time since the origin of the run in nanoseconds, and value; in the order of time.
    pub points: Vec<(u64, f64)>,
}
