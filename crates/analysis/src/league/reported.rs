//! The quantiles that a tool printed, or that follow from the data it gave.

use serde::Serialize;
use truetail_model::record::{Metric, Snapshot, rank_of};
use truetail_model::time::Nanos;
use truetail_run::{Claims, LatencyFrom};

/// The quantiles of the table. 1 is the largest value.
pub const QUANTILES: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 1.0];

/// One quantile of a tool.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ReportedQuantile {
    /// In [0, 1]. 1 is the largest value.
    pub q: f64,
    /// Value of what the tool calls its latency, in nanoseconds.
    pub value_ns: u64,
    /// The tool printed the value. Otherwise it was computed from the tool's own requests or histogram.
    pub printed: bool,
}

/// The latencies that a tool reported.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReportedLatency {
    /// Start of its latencies, and whether they were back-filled.
    pub latency_from: LatencyFrom,
    /// The quantiles of [`QUANTILES`] that the tool gives.
    pub quantiles: Vec<ReportedQuantile>,
    /// Its mean.
    pub mean_ns: Option<u64>,
    /// Number of requests in its latencies.
    pub measured: Option<u64>,
    /// Number of these requests that failed, in the tool's own sense.
    pub failed: Option<u64>,
    /// Number of answers with an error status, if the tool counts them apart from failed requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_answers: Option<u64>,
    /// Number of requests that the tool says it should have sent and did not.
    pub dropped: Option<u64>,
}

impl ReportedLatency {
    /// Takes each figure from the tool's statements, or else from its data.
    pub fn from_claims(claims: &Claims, data: &Snapshot) -> ReportedLatency {
        let histogram = data.metric(Metric::ResponseTime);
        let count = histogram.count();
        ReportedLatency {
            latency_from: claims.latency_from,
            quantiles: QUANTILES.iter().filter_map(|q| quantile(*q, claims, data)).collect(),
            mean_ns: claims.mean_ns.or_else(|| histogram.mean_ns().map(|mean| mean.round() as u64)),
            measured: claims.measured.or((count > 0).then_some(count)),
            failed: claims.failed,
            error_answers: claims.error_answers,
            dropped: claims.dropped,
        }
    }

    /// Returns the tool's value at `q`, or `None` if it gives none.
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
    let computed = || computed(q, data).map(|value| ReportedQuantile { q, value_ns: value.0, printed: false });
    claimed.or_else(computed)
}

/// Returns the quantile over all requests of the data. A request without an answer is slower than every answer, so a
/// quantile among such requests is not known.
fn computed(q: f64, data: &Snapshot) -> Option<Nanos> {
    let answered = data.metric(Metric::ResponseTime);
    let rank = rank_of(q, data.tally.planned.max(answered.count()));
    (rank <= answered.count()).then(|| answered.value_at_rank(rank)).flatten()
}
