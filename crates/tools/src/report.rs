//! The parsed output of a tool: the figures that it states, and the data that it gives.

use truetail_model::arrival::Arrival;
use truetail_model::record::{Histogram, Metric, Outcome, Recorder, RecorderOptions, RequestRecord, Snapshot, rank_of};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom, StreamClaims};

/// Longest run with data per second. Only a damaged file claims a longer run, which would need millions of seconds.
const MAX_TIMED_RUN: Nanos = Nanos::from_secs(7 * 24 * 3600);

/// One request from a tool's output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReportedRequest {
    /// Start in nanoseconds since the start of the run or since 1970, depending on the tool; `None` if the tool does
    /// not report it, or only in whole seconds.
    pub start_ns: Option<u64>,
    /// Latency, by the tool's definition.
    pub latency: Nanos,
    /// Outcome of the request.
    pub outcome: Outcome,
}

/// The parsed output of a tool.
#[derive(Clone, Debug)]
pub struct ToolReport {
    /// Version, if the output names it.
    pub version: Option<String>,
    /// Figures that the tool states.
    pub claims: Claims,
    /// Figures of streams, if the tool states them.
    pub streams: Option<StreamClaims>,
    /// Single requests, if the tool gives them.
    pub requests: Vec<ReportedRequest>,
    /// Histogram of latencies, if the tool gives one and no single requests.
    pub histogram: Option<Histogram>,
    /// Notes for the reader, such as requests that the tool does not mention.
    pub notes: Vec<String>,
}

impl ToolReport {
    /// Creates a report with only figures.
    pub fn from_claims(claims: Claims) -> ToolReport {
        ToolReport { version: None, claims, streams: None, requests: Vec::new(), histogram: None, notes: Vec::new() }
    }

    /// Creates a report with every request. All of them, including `failed` ones, are in the latencies.
    pub fn from_requests(latency_from: LatencyFrom, requests: Vec<ReportedRequest>, failed: u64) -> ToolReport {
        let made = Some(requests.len() as u64);
        let claims = Claims { measured: made, requests: made, failed: Some(failed), ..Claims::silent(latency_from) };
        ToolReport { requests, ..ToolReport::from_claims(claims) }
    }

    /// Adds the number of answers with an error status, counted from the requests.
    pub fn with_counted_error_answers(mut self) -> ToolReport {
        let count = self.requests.iter().filter(|request| request.outcome.has_error_status()).count();
        self.claims.error_answers = Some(count as u64);
        self
    }

    /// Adds missing quantiles of p50, p90, p99, p99.9 and p99.99, computed from the data: the smallest value whose
    /// cumulative count reaches ⌈q·n⌉.
    pub fn with_computed_quantiles(mut self) -> ToolReport {
        let mut latencies: Vec<Nanos> = self.requests.iter().map(|request| request.latency).collect();
        latencies.sort_unstable();
        let at = |q| match (latencies.len(), &self.histogram) {
            (0, Some(histogram)) => histogram.quantile(q),
            (0, None) => None,
            (n, _) => latencies.get(rank_of(q, n as u64) as usize - 1).copied(),
        };
        let missing = [0.5, 0.9, 0.99, 0.999, 0.9999].into_iter().filter(|q| self.claims.quantile(*q).is_none());
        let computed = missing.filter_map(|q| Some(ClaimedQuantile { q, value_ns: at(q)?.0, printed: false }));
        let computed: Vec<_> = computed.collect();
        self.claims.quantiles.extend(computed);
        self.claims.quantiles.sort_by(|a, b| a.q.total_cmp(&b.q));
        self
    }

    /// Returns the data as the record of a run: the single requests, with times since the first; without them the
    /// histogram; without both an empty record. The tool's latency becomes the response time, even if the tool starts
    /// its clock later ([`Claims::latency_from`]).
    pub fn snapshot(&self) -> Snapshot {
        if self.requests.is_empty() { self.histogram_only() } else { self.recorded() }
    }

    /// Returns the time from the first reported start to the last end; zero without reported starts.
    pub fn time_span(&self) -> Nanos {
        let started = || self.requests.iter().filter_map(|request| Some((request.start_ns?, request.latency.0)));
        let first = started().map(|(start, _)| start).min().unwrap_or_default();
        let last = started().map(|(start, latency)| start.saturating_add(latency)).max().unwrap_or_default();
        Nanos(last - first)
    }

    fn histogram_only(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        if let Some(histogram) = &self.histogram {
            snapshot.metrics[Metric::ResponseTime as usize] = histogram.clone();
            snapshot.tally.plan(histogram.count());
            snapshot.tally.issued = histogram.count();
            snapshot.tally.responses = histogram.count();
        }
        snapshot
    }

    fn recorded(&self) -> Snapshot {
        let first = self.requests.iter().filter_map(|request| request.start_ns).min().unwrap_or_default();
        let timed = self.requests.iter().all(|request| request.start_ns.is_some()) && self.time_span() <= MAX_TIMED_RUN;
        let mut recorder = Recorder::new(RecorderOptions { per_second: timed, ..RecorderOptions::default() });
        let mut in_order = self.requests.clone();
        in_order.sort_by_key(|request| request.start_ns);
        for (index, request) in in_order.iter().enumerate() {
            let start = Timestamp(request.start_ns.unwrap_or(first) - first);
            recorder.plan(start);
            recorder.record(&record_of(index as u64, start, request));
        }
        recorder.finish(Default::default())
    }
}

fn record_of(index: u64, start: Timestamp, request: &ReportedRequest) -> RequestRecord {
    let end = Timestamp(start.0.saturating_add(request.latency.0));
    RequestRecord::new(Arrival { index, intended_start: start }, start, end, request.outcome)
}
