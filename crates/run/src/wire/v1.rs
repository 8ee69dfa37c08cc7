//! `run.json`, version 1.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truetail_model::record::{
    Cause, CompactHistogram, Histogram, Metric, Samples, SamplesOptions, SecondCounts, Snapshot, Tally, TargetTimes,
};
use truetail_model::time::Nanos;

use super::kept_header::{KeptHeaderFile, kept_header_files};
use super::mark::{MarkFile, mark_files};
use super::scrape::{ScrapeFile, scrape_files};
use super::session::SessionFile;
use super::stream::StreamFile;
use crate::folder::target_tag::TargetTag;
use crate::{
    ArrivalFidelity, CheckCounts, CheckpointFacts, Claims, ClosedLoopShadow, Distribution, Facts, Findings,
    GateFinding, GeneratorStats, GrpcBooks, HostInfo, LedgerRow, MessageBooks, MetricDistributions, Mode, OfferedLoad,
    ReportedPart, Run, RunSource, ServerTiming, Settling, Shards, SlowRequest, StartFacts, StripeFacts, TargetBooks,
    TargetFindings, TraceFacts, Uncertainty, Verdict,
};

/// Value of the field `schema`.
pub const SCHEMA: &str = "truetail.run/1";

/// The whole `run.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunFile {
    /// [`SCHEMA`].
    pub schema: String,
    /// Verdict on the run's own numbers.
    pub verdict: Verdict,
    /// Results of the gates; omitted without gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateFinding>,
    /// Results of the checks of answers; omitted without checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckCounts>,
    /// The offered load.
    pub scenario: OfferedLoad,
    /// Seed of the spacing; null if nothing is random.
    pub seed: Option<u64>,
    /// Hash of all arrivals, warm-up included: 16 hexadecimal digits.
    pub schedule_hash: String,
    /// The machine; null in virtual time.
    pub host: Option<HostInfo>,
    /// Version of truetail.
    pub version: String,
    /// Origin of the run.
    pub source: RunSource,
    /// The run's time origin, nanoseconds since 1970 UTC; null in virtual time.
    pub started_at_unix_ns: Option<u64>,
    /// Time from the origin to the end of the drain.
    pub elapsed_ns: u64,
    /// True if the user or a stop condition ended the run early.
    pub interrupted: bool,
    /// True if the early end removed arrivals; omitted if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<bool>,
    /// Set if the run was saved while in progress and never ended; omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointFacts>,
    /// Notes that belong to no number.
    pub notes: Vec<String>,
    /// Command line of the run, without secrets; omitted if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Labels of the run by key; omitted without labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The run's part of a shared load; omitted if it had all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe: Option<StripeFacts>,
    /// Start time that was requested; omitted without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<StartFacts>,
    /// The machines whose stripes were merged into this run; omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<Shards>,
    /// Tally of the measured arrivals.
    pub tally: Tally,
    /// Tally of the warm-up, which no other field includes.
    pub warmup_tally: Tally,
    /// Tally of the arrivals that `--cancel` chose, which no other field includes: `timed_out` counts the requests that
    /// were cancelled. Omitted without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_tally: Option<Tally>,
    /// Answers by HTTP status; empty in a protocol without a status. A gRPC call that failed counts as 1000 more than
    /// its status.
    pub statuses: BTreeMap<u16, u64>,
    /// Tally and statuses of each target, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_target: Vec<TargetBooks>,
    /// Tally and response time of each target, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetFindings>,
    /// Streamed answers; omitted if answers were not read as streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamFile>,
    /// Sessions; omitted without a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionFile>,
    /// Statuses of gRPC calls; omitted without calls. Not read, because `statuses` has the same counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc: Option<GrpcBooks>,
    /// Books of messages besides their replies; omitted without messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageBooks>,
    /// Trace ids of the requests; omitted without `--trace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceFacts>,
    /// Times that the service reported with its answers or as spans; omitted without `--server-timing` and spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_timing: Option<ServerTimingFile>,
    /// Parts of the response times around a few quantiles; omitted unless the service reported times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ledger: Vec<LedgerRow>,
    /// Values of response headers that the user chose; omitted without `--keep-header`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_headers: Vec<KeptHeaderFile>,
    /// Numbers that services published about themselves; omitted without `--scrape`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scrapes: Vec<ScrapeFile>,
    /// Commands that the run started, and their effects; omitted without `--event`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<MarkFile>,
    /// Groups of slow requests that took a similar time; omitted without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    /// The slowest requests that were sent, slowest first; empty in files of versions that did not list them.
    #[serde(default)]
    pub slowest: Vec<SlowRequest>,
    /// Failures by cause.
    pub causes: BTreeMap<Cause, u64>,
    /// Answers per second of the schedule, or until the last answer if some came later; null if unknown.
    pub throughput_per_second: Option<f64>,
    /// Planned arrivals per second of the schedule; null if unknown.
    pub offered_per_second: Option<f64>,
    /// Response time over all planned arrivals.
    pub response_time: Distribution,
    /// Response time over answers with a status below 400; null if all answers have one, or none has.
    pub response_time_success: Option<Distribution>,
    /// Response time over answers with a status of 400 or above; null without such answers.
    pub response_time_error_status: Option<Distribution>,
    /// Every other metric, each a field under its name: see [`Metric::ALL`].
    #[serde(flatten)]
    pub metrics: MetricDistributions,
    /// Steadiness of the response time; null in files of versions that did not compute it.
    #[serde(default)]
    pub settling: Option<Settling>,
    /// Comparison of the arrivals with the schedule; null if no arrival was issued.
    #[serde(default)]
    pub arrival_fidelity: Option<ArrivalFidelity>,
    /// Report that a closed-loop tool would have made; null if it cannot be computed.
    #[serde(default)]
    pub closed_loop_shadow: Option<ClosedLoopShadow>,
    /// Sources of the uncertainty of each response-time quantile that is a number.
    #[serde(default)]
    pub uncertainty: Vec<Uncertainty>,
    /// Statistics of the generator about itself; null in virtual time.
    pub generator: Option<GeneratorStats>,
    /// Bytes of answers that were read, including the warm-up if the generator counts it.
    pub bytes_in: u64,
    /// Statements of the other tool, in a run that was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<Claims>,
    /// Values needed to read the other files of the folder without loss.
    pub recorded: Recorded,
}

/// Recorded values that the other files of the folder lack.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Recorded {
    /// End of the warm-up, from the origin. Arrivals intended before it are not measured.
    pub measure_from_ns: u64,
    /// End of the last measured arrival, from the origin.
    pub last_end_ns: u64,
    /// Bytes of answers of the measured arrivals.
    pub bytes_in: u64,
    /// Arrivals that one line of `histograms.hlog` covers.
    pub intervals: IntervalWidth,
    /// Exact figures of the non-empty distributions in `histograms.hlog`, by tag.
    pub exact: BTreeMap<String, Exact>,
    /// Size and sums of `timeline.csv`.
    pub timeline: TimelineFacts,
    /// Contents of `samples.csv`.
    pub samples: SampleFacts,
}

/// Arrivals that one line of `histograms.hlog` covers. Tag `error_status_time` always has one line for the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalWidth {
    /// The arrivals intended in one second.
    Second,
    /// The arrivals intended in this many seconds, a power of two: a long run joins its seconds.
    Seconds(u64),
    /// All arrivals: the run did not keep distributions by second.
    WholeRun,
}

/// Figures of a distribution that buckets do not keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Exact {
    /// Number of values.
    pub count: u64,
    /// Sum of the values.
    pub sum_ns: u128,
    /// Smallest value.
    pub min_ns: u64,
    /// Largest value.
    pub max_ns: u64,
}

/// Number of rows in `timeline.csv`, and the sums of its columns.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct TimelineFacts {
    /// Number of rows.
    pub seconds: u64,
    /// Planned arrivals.
    pub planned: u64,
    /// Sent arrivals.
    pub sent: u64,
    /// Whole answers.
    pub completed: u64,
    /// Requests that failed or timed out.
    pub failed: u64,
}

/// Contents of `samples.csv`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SampleFacts {
    /// True if it has every measured arrival.
    pub complete: bool,
    /// Arrivals in the even part.
    pub even: u64,
    /// The even part has one arrival in this many.
    pub one_in: u64,
    /// Arrivals that are kept only because they are slow.
    pub only_slow: u64,
    /// Number of arrivals that could have been kept.
    pub seen: u64,
    /// Size limit of the even part.
    pub capacity: usize,
    /// Number of slowest arrivals that are kept in addition if not all fit.
    pub slowest: usize,
}

/// Times that the service reported, as `run.json` describes them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ServerTimingFile {
    /// Settings and counts.
    #[serde(flatten)]
    pub facts: ServerTiming,
    /// Distribution of each time by name.
    pub parts: Vec<ReportedPart>,
}

impl ServerTimingFile {
    /// Combines facts and findings. The times of single requests are in another file.
    fn new(facts: &ServerTiming, findings: &Findings) -> ServerTimingFile {
        let facts = ServerTiming { times: Vec::new(), ..facts.clone() };
        ServerTimingFile { facts, parts: findings.reported_parts.clone() }
    }
}

/// Tag of the response times of answers with an error status, beside the names of [`Metric`].
pub const ERROR_STATUS_TIME: &str = "error_status_time";

/// Returns every distribution of a snapshot with its tag.
pub fn tagged(snapshot: &Snapshot) -> impl Iterator<Item = (&'static str, &Histogram)> {
    let metrics = Metric::ALL.into_iter().map(|metric| (metric.name(), snapshot.metric(metric)));
    metrics.chain([(ERROR_STATUS_TIME, &snapshot.error_status_time)])
}

/// Returns every non-empty distribution of a target with its tag.
pub(crate) fn tagged_by_target(snapshot: &Snapshot) -> impl Iterator<Item = (TargetTag, &CompactHistogram)> {
    snapshot.targets.iter().enumerate().flat_map(|(target, times)| {
        let of = move |metric| Some((TargetTag { target, metric }, times.metric(metric)?));
        TargetTimes::METRICS.into_iter().filter_map(of).filter(|(_, histogram)| histogram.count() > 0)
    })
}

pub(crate) fn tagged_by_observer(facts: &Facts) -> impl Iterator<Item = (String, &CompactHistogram)> {
    let of_streams = facts.stream.iter().flat_map(|streams| streams.times.tagged());
    let of_sessions = facts.sessions.iter().flat_map(|sessions| sessions.times.recorded());
    let of_sessions = of_sessions.map(|(time, times)| (time.tag(), times));
    let steps = facts.sessions.iter().flat_map(|sessions| sessions.steps.iter().enumerate());
    let of_steps =
        steps.flat_map(|(nth, step)| step.times.recorded().map(move |(time, times)| (time.step_tag(nth), times)));
    let flows = facts.sessions.iter().flat_map(|sessions| sessions.flows.iter().enumerate());
    let of_flows =
        flows.flat_map(|(nth, flow)| flow.times.recorded().map(move |(time, times)| (time.flow_tag(nth), times)));
    of_streams.chain(of_sessions).map(|(tag, times)| (tag.to_owned(), times)).chain(of_flows).chain(of_steps)
}

/// Returns the `run.json` of a run.
pub fn run_file(run: &Run, findings: &Findings) -> RunFile {
    let Run { facts, snapshot } = run;
    let finite = |number: Option<f64>| number.filter(|number| number.is_finite());
    RunFile {
        schema: SCHEMA.to_owned(),
        verdict: findings.verdict.clone(),
        gates: findings.gates.clone(),
        checks: facts.checks.clone(),
        scenario: facts.offered.clone(),
        seed: facts.offered.seed,
        schedule_hash: snapshot.schedule_hash.to_string(),
        host: facts.host.clone(),
        version: facts.version.clone(),
        source: facts.source.clone(),
        started_at_unix_ns: facts.started_at_unix_ns,
        elapsed_ns: facts.elapsed_ns,
        interrupted: facts.interrupted,
        cut_short: facts.cut_short,
        checkpoint: facts.checkpoint,
        notes: facts.notes.clone(),
        command: facts.command.clone(),
        tags: facts.tags.clone(),
        stripe: facts.stripe.clone(),
        start: facts.start,
        shards: facts.shards.clone(),
        tally: snapshot.tally,
        warmup_tally: snapshot.warmup,
        cancelled_tally: Some(snapshot.cancelled).filter(|tally| *tally != Tally::default()),
        statuses: snapshot.statuses.clone(),
        by_target: facts.by_target.clone(),
        targets: findings.targets.clone(),
        stream: facts.stream.as_ref().map(|streams| StreamFile::new(streams, findings)),
        sessions: facts.sessions.as_ref().map(|sessions| SessionFile::new(sessions, findings)),
        grpc: facts.offered.grpc.map(|_| GrpcBooks::new(&snapshot.statuses)),
        messages: facts.messages(),
        trace: facts.trace.clone(),
        server_timing: facts.server_timing.as_ref().map(|facts| ServerTimingFile::new(facts, findings)),
        ledger: findings.ledger.clone(),
        kept_headers: kept_header_files(facts, findings),
        scrapes: scrape_files(facts, findings),
        marks: mark_files(facts, findings),
        modes: findings.modes.clone(),
        slowest: findings.slowest.clone(),
        causes: snapshot.causes.clone(),
        throughput_per_second: finite(findings.throughput_per_second),
        offered_per_second: finite(findings.offered_per_second),
        response_time: findings.response_time.clone(),
        response_time_success: findings.response_time_success.clone(),
        response_time_error_status: findings.response_time_error_status.clone(),
        metrics: findings.metrics.clone(),
        settling: Some(findings.settling.clone()),
        arrival_fidelity: findings.arrival_fidelity,
        closed_loop_shadow: findings.closed_loop_shadow.clone(),
        uncertainty: findings.uncertainty.clone(),
        // Their books are in a field of their own.
        generator: facts.generator.clone().map(|generator| GeneratorStats { messages: None, ..generator }),
        bytes_in: facts.bytes_in,
        claims: facts.claims.clone(),
        recorded: Recorded::from_run(run),
    }
}

impl RunFile {
    /// Returns the text of `run.json`, readable for people: one field per line, and a line break at the end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("every key is a text and every value has a JSON form");
        text.push('\n');
        text
    }
}

impl Recorded {
    fn from_run(run: &Run) -> Recorded {
        let snapshot = &run.snapshot;
        Recorded {
            measure_from_ns: snapshot.measure_from.0,
            last_end_ns: snapshot.last_end.0,
            bytes_in: snapshot.bytes_in,
            intervals: IntervalWidth::from_snapshot(snapshot),
            exact: exact(run),
            timeline: TimelineFacts::from_seconds(&snapshot.seconds),
            samples: SampleFacts::from_samples(&snapshot.samples),
        }
    }
}

/// Returns the exact figures of each non-empty distribution, by tag.
fn exact(Run { facts, snapshot }: &Run) -> BTreeMap<String, Exact> {
    let whole =
        tagged(snapshot).filter_map(|(tag, histogram)| Some((tag.to_owned(), Exact::from_histogram(histogram)?)));
    let targets = tagged_by_target(snapshot)
        .filter_map(|(tag, histogram)| Some((tag.to_string(), Exact::from_compact(histogram)?)));
    let streams =
        tagged_by_observer(facts).filter_map(|(tag, times)| Some((tag.to_owned(), Exact::from_compact(times)?)));
    whole.chain(targets).chain(streams).collect()
}

impl IntervalWidth {
    /// Returns the width of the intervals, if for every metric they add up to the distribution of the run.
    pub fn from_snapshot(snapshot: &Snapshot) -> IntervalWidth {
        let rows = snapshot.intervals.rows();
        let in_rows = |metric| rows.iter().map(|row| row.metric(metric).count()).sum::<u64>();
        let all = Metric::ALL.into_iter().all(|metric| in_rows(metric) == snapshot.metric(metric).count());
        match snapshot.intervals.width_s() {
            _ if !all => IntervalWidth::WholeRun,
            1 => IntervalWidth::Second,
            width_s => IntervalWidth::Seconds(width_s),
        }
    }

    /// Returns the length of an interval in seconds; `None` if the only interval is the whole run.
    pub fn width_s(self) -> Option<u64> {
        match self {
            IntervalWidth::Second => Some(1),
            IntervalWidth::Seconds(width_s) => Some(width_s),
            IntervalWidth::WholeRun => None,
        }
    }
}

impl Exact {
    /// Returns the figures of a histogram; `None` if it is empty.
    pub fn from_histogram(histogram: &Histogram) -> Option<Exact> {
        let (Some(Nanos(min_ns)), Some(Nanos(max_ns))) = (histogram.min(), histogram.max()) else { return None };
        Some(Exact { count: histogram.count(), sum_ns: histogram.sum_ns(), min_ns, max_ns })
    }
}

impl Exact {
    /// Returns the figures of a compact histogram; `None` if it is empty.
    pub fn from_compact(histogram: &CompactHistogram) -> Option<Exact> {
        let Nanos(min_ns) = histogram.min()?;
        let Nanos(max_ns) = histogram.max()?;
        Some(Exact { count: histogram.count(), sum_ns: histogram.sum_ns(), min_ns, max_ns })
    }
}

impl TimelineFacts {
    /// Returns the number of rows and the sums over these seconds.
    pub fn from_seconds(seconds: &[SecondCounts]) -> TimelineFacts {
        seconds.iter().fold(TimelineFacts::default(), |sums, second| TimelineFacts {
            seconds: sums.seconds + 1,
            planned: sums.planned + second.planned,
            sent: sums.sent + second.sent,
            completed: sums.completed + second.completed,
            failed: sums.failed + second.failed,
        })
    }
}

impl SampleFacts {
    /// Returns a description of these samples.
    pub fn from_samples(samples: &Samples) -> SampleFacts {
        let SamplesOptions { capacity, slowest } = samples.options();
        SampleFacts {
            complete: samples.is_complete(),
            even: samples.even().len() as u64,
            one_in: samples.one_in(),
            only_slow: samples.slowest_left_out().count() as u64,
            seen: samples.offered(),
            capacity,
            slowest,
        }
    }
}
