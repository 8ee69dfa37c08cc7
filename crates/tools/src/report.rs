//! What a parser makes of a tool's output: its own figures, and as much of its data as it gives.

use truetail_model::arrival::Arrival;
use truetail_model::record::{Histogram, Metric, Outcome, Recorder, RecorderOptions, RequestRecord, Snapshot, rank_of};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom, StreamClaims};

/// Longer runs, which only a damaged file claims, get no data per second: there would be millions of seconds.
const MAX_TIMED_RUN: Nanos = Nanos::from_secs(7 * 24 * 3600);

/// One request as the tool reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReportedRequest {
    /// Its start in nanoseconds since the start of the run or since 1970, whichever the tool uses; `None` if the tool
    /// does not say, or only in whole seconds.
    pub start_ns: Option<u64>,
    /// Its latency, as the tool defines it.
    pub latency: Nanos,
    /// Its outcome.
    pub outcome: Outcome,
}

/// What a tool reported of its run.
#[derive(Clone, Debug)]
pub struct ToolReport {
    /// The version, where the output names it.
    pub version: Option<String>,
    /// The figures that it states.
    pub claims: Claims,
    /// What it says of answers that come in pieces, where it knows them.
    pub streams: Option<StreamClaims>,
    /// Its single requests, where it gives them.
    pub requests: Vec<ReportedRequest>,
    /// Its latencies as a histogram, where it gives one and no single requests.
    pub histogram: Option<Histogram>,
    /// What a reader of the figures should know, such as requests that the tool does not mention.
    pub notes: Vec<String>,
}

impl ToolReport {
    /// A report with figures only.
    pub fn from_claims(claims: Claims) -> ToolReport {
        ToolReport { version: None, claims, streams: None, requests: Vec::new(), histogram: None, notes: Vec::new() }
    }

    /// The report of a tool that gives every request. All of them, `failed` ones included, are in its latencies.
    pub fn from_requests(latency_from: LatencyFrom, requests: Vec<ReportedRequest>, failed: u64) -> ToolReport {
        let made = Some(requests.len() as u64);
        let claims = Claims { measured: made, requests: made, failed: Some(failed), ..Claims::silent(latency_from) };
        ToolReport { requests, ..ToolReport::from_claims(claims) }
    }

    /// Adds those of p50, p90, p99, p99.9 and p99.99 that the tool does not print, computed from its data: the smallest
    /// value whose cumulative count reaches ⌈q·n⌉.
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

    /// Its data as the record of a run: its single requests, with times since the first; else its histogram; else nothing.
    /// The tool's latency becomes the response time of this snapshot, whatever it starts from
    /// ([`Claims::latency_from`]).
    pub fn snapshot(&self) -> Snapshot {
        if self.requests.is_empty() { self.histogram_only() } else { self.recorded() }
    }

    /// From the first reported start to the last end; zero where no starts are reported.
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
