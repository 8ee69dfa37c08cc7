//! The quantiles that a tool printed, or that follow from the data it gave.

use serde::Serialize;
use truetail_model::record::{Metric, Snapshot};
use truetail_run::{Claims, LatencyFrom};

/// The quantiles of the table; 1 is the largest.
pub const QUANTILES: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 1.0];

/// One quantile of a tool.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ReportedQuantile {
    /// In [0, 1]; 1 is the largest.
    pub q: f64,
    /// What the tool calls its latency.
    pub value_ns: u64,
    /// The tool printed it; else it was computed from the tool's own single requests or histogram.
    pub printed: bool,
}

/// What a tool said.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReportedLatency {
    /// What its latency starts from, and whether it was back-filled.
    pub latency_from: LatencyFrom,
    /// Those of [`QUANTILES`] that it gives, and no others.
    pub quantiles: Vec<ReportedQuantile>,
    /// Its mean.
    pub mean_ns: Option<u64>,
    /// How many requests are in its latencies.
    pub measured: Option<u64>,
    /// How many of them failed, in its own sense.
    pub failed: Option<u64>,
    /// How many it says it should have made and did not.
    pub dropped: Option<u64>,
}

impl ReportedLatency {
    /// From its statements, and where it has none from its data.
    pub fn of(claims: &Claims, data: &Snapshot) -> ReportedLatency {
        let histogram = data.metric(Metric::ResponseTime);
        let count = histogram.count();
        ReportedLatency {
            latency_from: claims.latency_from,
            quantiles: QUANTILES.iter().filter_map(|q| quantile(*q, claims, data)).collect(),
            mean_ns: claims.mean_ns.or_else(|| histogram.mean_ns().map(|mean| mean.round() as u64)),
            measured: claims.measured.or((count > 0).then_some(count)),
            failed: claims.failed,
            dropped: claims.dropped,
        }
    }

    /// Its value at `q`; `None` where it does not say.
    pub fn quantile(&self, q: f64) -> Option<ReportedQuantile> {
        self.quantiles.iter().copied().find(|quantile| quantile.q == q)
    }
}

fn quantile(q: f64, claims: &Claims, data: &Snapshot) -> Option<ReportedQuantile> {
    let claimed = if q >= 1.0 {
        claims.max_ns.map(|value_ns| ReportedQuantile { q, value_ns, printed: true })
    } else {
        claims.quantile(q).map(|claimed| ReportedQuantile { q, value_ns: claimed.value_ns, printed: claimed.printed })
    };
    let computed = || data.metric(Metric::ResponseTime).quantile(q);
    claimed.or_else(|| computed().map(|value| ReportedQuantile { q, value_ns: value.0, printed: false }))
}
