//! What a parser makes of a tool's output.

use truetail_model::record::{Histogram, Metric, Outcome, Recorder, RecorderOptions, RequestRecord, Snapshot, rank_of};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

/// A file that says a run was longer is not looked at second by second, of which there would be millions.
const LONGEST_RUN: Nanos = Nanos::from_secs(7 * 24 * 3600);

/// One request as the tool tells of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReportedRequest {
    /// When it began by the tool's own account, nanoseconds since the first of the run or since 1970, whichever the
    /// tool uses; `None` where it does not say, or in whole seconds only.
    pub start_ns: Option<u64>,
    /// Its latency in the tool's own sense.
    pub latency: Nanos,
    /// What became of it.
    pub outcome: Outcome,
}

/// What a tool said of its run: its statements, and as much of its data as it gave.
#[derive(Clone, Debug)]
pub struct ToolReport {
    /// The version that the output itself names.
    pub version: Option<String>,
    /// Its statements.
    pub claims: Claims,
    /// Single requests, where it gives them.
    pub requests: Vec<ReportedRequest>,
    /// Its latencies as a histogram, where it gives one and no single requests.
    pub histogram: Option<Histogram>,
    /// What a reader should know, such as requests that it cut off and does not mention.
    pub notes: Vec<String>,
}

impl ToolReport {
    /// Nothing but statements.
    pub fn of(claims: Claims) -> ToolReport {
        ToolReport { version: None, claims, requests: Vec::new(), histogram: None, notes: Vec::new() }
    }

    /// Of a tool that gives every request it made, of which it says that `failed` failed: they are all in its latencies.
    pub fn of_all(latency_from: LatencyFrom, requests: Vec<ReportedRequest>, failed: u64) -> ToolReport {
        let made = Some(requests.len() as u64);
        let claims = Claims { measured: made, requests: made, failed: Some(failed), ..Claims::silent(latency_from) };
        ToolReport { requests, ..ToolReport::of(claims) }
    }

    /// The same with those of p50, p90, p99, p99.9 and p99.99 that the tool does not print, computed from what it gave:
    /// the smallest value whose cumulative count reaches ceil(q·n).
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

    /// What it gave, as a run's record: single requests where there are any, counted from the first; else its
    /// histogram; else nothing. What the tool calls its latency is the response time of this snapshot, and
    /// [`Claims::latency_from`] says what it really starts from.
    pub fn snapshot(&self) -> Snapshot {
        if self.requests.is_empty() { self.histogram_only() } else { self.recorded() }
    }

    /// From the first start that it tells of to the last end; zero where it tells of none.
    pub fn lasted(&self) -> Nanos {
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
        let timed = self.requests.iter().all(|request| request.start_ns.is_some()) && self.lasted() <= LONGEST_RUN;
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
    RequestRecord {
        index,
        intended_start: start,
        actual_start: start,
        end: Timestamp(start.0.saturating_add(request.latency.0)),
        delay: Default::default(),
        connected: false,
        tls_handshake: None,
        read_lag: None,
        outcome: request.outcome,
        bytes_in: 0,
    }
}
