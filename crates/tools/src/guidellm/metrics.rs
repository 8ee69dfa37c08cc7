//! The totals of a benchmark in GuideLLM's `benchmarks.json`, for the laboratory and the importer.

use std::collections::BTreeMap;

use serde::Deserialize;
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

use crate::model::printed;
use crate::units;

/// GuideLLM's names of percentiles, and the quantiles.
const PERCENTILES: [(&str, f64); 11] = [
    ("p001", 0.001),
    ("p01", 0.01),
    ("p05", 0.05),
    ("p10", 0.1),
    ("p25", 0.25),
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p999", 0.999),
];

/// The totals. Fields that a version of the format lacks are `None`.
#[derive(Debug, Deserialize)]
pub struct GuideLlmMetrics {
    pub(super) request_totals: Option<Totals>,
    requests_per_second: Option<ByStatus>,
    request_latency: Option<ByStatus>,
    pub(super) request_dispatch_delay: Option<ByStatus>,
    pub(super) time_to_first_token_ms: Option<ByStatus>,
    pub(super) inter_token_latency_ms: Option<ByStatus>,
}

/// Number of requests that began inside the measured range, by outcome.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Totals {
    successful: u64,
    errored: Option<u64>,
    #[serde(default)]
    incomplete: u64,
    total: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct ByStatus {
    pub(super) successful: Option<Summary>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Summary {
    mean: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) count: Option<u64>,
    #[serde(default)]
    percentiles: BTreeMap<String, Option<f64>>,
}

impl GuideLlmMetrics {
    /// Returns the figures of whole requests. Times cover only successful requests, and the file has them in seconds.
    /// `cancelled` is the number of listed requests that had begun and were cancelled.
    pub fn claims(&self, cancelled: u64) -> Claims {
        let totals = self.request_totals;
        let times = successful(&self.request_latency);
        let time = |of: fn(&Summary) -> Option<f64>| units::nanos(of(times?)?, 1e9).map(|time| time.0);
        let rate = successful(&self.requests_per_second).and_then(|rate| rate.mean);
        Claims {
            quantiles: times.map_or(Vec::new(), |times| times.quantiles(1e9)),
            mean_ns: time(|times| times.mean),
            max_ns: time(|times| times.max),
            measured: totals.map(|totals| totals.successful),
            requests: totals.map(|totals| totals.ended().saturating_add(self.cancelled(cancelled))),
            failed: totals.and_then(|totals| totals.errored),
            rate_per_second: rate.filter(|rate| rate.is_finite()),
            ..Claims::silent(LatencyFrom::Send)
        }
    }

    /// Returns the number of cancelled requests: the larger of the total and the `listed` ones. The list may be a
    /// sample, and the total excludes requests that began after the measured range.
    pub(super) fn cancelled(&self, listed: u64) -> u64 {
        self.request_totals.map_or(0, |totals| totals.incomplete).max(listed)
    }
}

impl Totals {
    /// Returns the number of requests that succeeded or failed.
    fn ended(self) -> u64 {
        self.total.saturating_sub(self.incomplete)
    }
}

pub(super) fn successful(by_status: &Option<ByStatus>) -> Option<&Summary> {
    by_status.as_ref()?.successful.as_ref()
}

impl Summary {
    /// Returns the quantiles, ascending; empty without values. A unit of the file is `unit_ns` nanoseconds.
    pub(super) fn quantiles(&self, unit_ns: f64) -> Vec<ClaimedQuantile> {
        let at = |name: &str| self.percentiles.get(name).copied().flatten().filter(|_| self.count != Some(0));
        PERCENTILES.into_iter().filter_map(|(name, q)| printed(q, at(name), unit_ns)).collect()
    }
}
