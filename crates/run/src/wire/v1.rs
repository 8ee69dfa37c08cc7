//! `run.json`, version 1.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truetail_model::record::{
    Cause, CompactHistogram, Histogram, Metric, Samples, SamplesOptions, SecondCounts, Snapshot, Tally, TargetTimes,
};
use truetail_model::time::Nanos;

use super::session::SessionFile;
use super::stream::StreamFile;
use crate::folder::target_tag::TargetTag;
use crate::{
    ArrivalFidelity, CheckCounts, CheckpointFacts, Claims, ClosedLoopShadow, Distribution, Facts, Findings,
    GateFinding, GeneratorStats, HostInfo, MetricDistributions, OfferedLoad, Run, RunSource, Settling, Shards,
    StartFacts, StripeFacts, TargetBooks, TargetFindings, Uncertainty, Verdict,
};

/// What `schema` says.
pub const SCHEMA: &str = "truetail.run/1";

/// The whole of `run.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunFile {
    /// [`SCHEMA`].
    pub schema: String,
    /// Can the numbers be trusted?
    pub verdict: Verdict,
    /// What became of the gates; left out where none was set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateFinding>,
    /// What became of the checks of answers; left out where none was set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckCounts>,
    /// What was offered.
    pub scenario: OfferedLoad,
    /// Seed of the spacing; null where nothing is drawn.
    pub seed: Option<u64>,
    /// Hash of all arrivals, warm-up included: 16 hexadecimal digits.
    pub schedule_hash: String,
    /// The machine; null in virtual time.
    pub host: Option<HostInfo>,
    /// The version of truetail.
    pub version: String,
    /// How the run was obtained.
    pub source: RunSource,
    /// When the origin was, nanoseconds since 1970 UTC; null in virtual time.
    pub started_at_unix_ns: Option<u64>,
    /// From the origin to the end of the drain.
    pub elapsed_ns: u64,
    /// Ended before its time, by the user or by a rule.
    pub interrupted: bool,
    /// Arrivals that were still to come were not planned because of that; left out where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<bool>,
    /// It was saved while it went on, and never ended; left out of a run that did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointFacts>,
    /// Things to say that belong to no number.
    pub notes: Vec<String>,
    /// The command line that made it, without secrets; left out where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Which part of the load it had; left out where it had all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe: Option<StripeFacts>,
    /// When it was to begin; left out where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<StartFacts>,
    /// The machines whose stripes were merged into it; left out where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<Shards>,
    /// The books of the measured arrivals.
    pub tally: Tally,
    /// The books of the warm-up, which is in nothing else.
    pub warmup_tally: Tally,
    /// Answers by HTTP status.
    pub statuses: BTreeMap<u16, u64>,
    /// The books and the statuses of each target, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_target: Vec<TargetBooks>,
    /// The books and the response time of each target, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetFindings>,
    /// What became of answers as streams; left out where they were not read as such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamFile>,
    /// What became of sessions; left out where there was no flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionFile>,
    /// Failures by cause.
    pub causes: BTreeMap<Cause, u64>,
    /// Answers per second of the schedule, or until the last answer where some came later; null where there is none.
    pub throughput_per_second: Option<f64>,
    /// Planned arrivals per second of the schedule; null where there is none.
    pub offered_per_second: Option<f64>,
    /// Over all planned arrivals.
    pub response_time: Distribution,
    /// Over answers with a status below 400; null when all or no answers are such.
    pub response_time_success: Option<Distribution>,
    /// Over answers with a status from 400; null when there are none.
    pub response_time_error_status: Option<Distribution>,
    /// Every other metric, each a field under its name: see [`Metric::ALL`].
    #[serde(flatten)]
    pub metrics: MetricDistributions,
    /// Where the response time settles; null in files that were written before it was looked for.
    #[serde(default)]
    pub settling: Option<Settling>,
    /// How far the arrivals were those that were planned; null where none was issued.
    #[serde(default)]
    pub arrival_fidelity: Option<ArrivalFidelity>,
    /// What a closed-loop tool would have reported; null where that cannot be said.
    #[serde(default)]
    pub closed_loop_shadow: Option<ClosedLoopShadow>,
    /// Where the uncertainty of the response time comes from, for each quantile that is a number.
    #[serde(default)]
    pub uncertainty: Vec<Uncertainty>,
    /// What the generator knows of itself; null in virtual time.
    pub generator: Option<GeneratorStats>,
    /// Bytes of answers that were read, warm-up included where the generator counts it.
    pub bytes_in: u64,
    /// What the tool itself said, where the run is another tool's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<Claims>,
    /// What the other files of the folder need to be read back without loss.
    pub recorded: Recorded,
}

/// What was recorded and is not in the other files of the folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Recorded {
    /// Arrivals intended before this, counted from the origin, were warm-up.
    pub measure_from_ns: u64,
    /// When the last measured arrival ended, counted from the origin.
    pub last_end_ns: u64,
    /// Bytes of answers of the measured arrivals.
    pub bytes_in: u64,
    /// What one line of `histograms.hlog` covers.
    pub intervals: IntervalWidth,
    /// Exact figures of the distributions in `histograms.hlog`, by tag. Empty ones are left out.
    pub exact: BTreeMap<String, Exact>,
    /// What `timeline.csv` holds.
    pub timeline: TimelineFacts,
    /// What `samples.csv` holds.
    pub samples: SampleFacts,
}

/// What one line of `histograms.hlog` covers. The tag `error_status_time` always has one line for the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalWidth {
    /// The arrivals intended in one second.
    Second,
    /// The arrivals intended in so many seconds, a power of two: the run was so long that its seconds were put together.
    Seconds(u64),
    /// All arrivals: the run did not keep distributions by second.
    WholeRun,
}

/// Figures of a distribution that buckets do not keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Exact {
    /// How many values.
    pub count: u64,
    /// Their sum.
    pub sum_ns: u128,
    /// The smallest.
    pub min_ns: u64,
    /// The largest.
    pub max_ns: u64,
}

/// What `timeline.csv` holds: the number of its rows, and the sums of its columns.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct TimelineFacts {
    /// Rows.
    pub seconds: u64,
    /// Arrivals planned.
    pub planned: u64,
    /// Arrivals sent.
    pub sent: u64,
    /// Whole answers.
    pub completed: u64,
    /// Failed or timed out.
    pub failed: u64,
}

/// What `samples.csv` holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SampleFacts {
    /// Every measured arrival is there.
    pub complete: bool,
    /// Arrivals in the even part.
    pub even: u64,
    /// The even part holds one arrival in this many.
    pub one_in: u64,
    /// Arrivals that are there only because they are slow.
    pub only_slow: u64,
    /// How many arrivals there were to keep.
    pub seen: u64,
    /// At most this many in the even part.
    pub capacity: usize,
    /// If not all fit, this many of the slowest are kept in addition.
    pub slowest: usize,
}

/// The tag of the response times of answers with an error status, beside the names of [`Metric`].
pub const ERROR_STATUS_TIME: &str = "error_status_time";

/// Every distribution of a snapshot with its tag.
pub fn tagged(snapshot: &Snapshot) -> impl Iterator<Item = (&'static str, &Histogram)> {
    let metrics = Metric::ALL.into_iter().map(|metric| (metric.name(), snapshot.metric(metric)));
    metrics.chain([(ERROR_STATUS_TIME, &snapshot.error_status_time)])
}

/// Every distribution of a target that has a value, with its tag.
pub(crate) fn tagged_by_target(snapshot: &Snapshot) -> impl Iterator<Item = (TargetTag, &CompactHistogram)> {
    snapshot.targets.iter().enumerate().flat_map(|(target, times)| {
        let of = move |metric| Some((TargetTag { target, metric }, times.metric(metric)?));
        TargetTimes::METRICS.into_iter().filter_map(of).filter(|(_, histogram)| histogram.count() > 0)
    })
}

/// Every distribution of streams, of sessions and of their steps that has a value, with its tag.
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

/// What `run.json` says of a run.
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
        stripe: facts.stripe.clone(),
        start: facts.start,
        shards: facts.shards.clone(),
        tally: snapshot.tally,
        warmup_tally: snapshot.warmup,
        statuses: snapshot.statuses.clone(),
        by_target: facts.by_target.clone(),
        targets: findings.targets.clone(),
        stream: facts.stream.as_ref().map(|streams| StreamFile::of(streams, findings)),
        sessions: facts.sessions.as_ref().map(|sessions| SessionFile::of(sessions, findings)),
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
        generator: facts.generator.clone(),
        bytes_in: facts.bytes_in,
        claims: facts.claims.clone(),
        recorded: Recorded::of(run),
    }
}

impl RunFile {
    /// The text of `run.json`, for people too: one field a line, and a line break at the end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("every key is a text and every value has a JSON form");
        text.push('\n');
        text
    }
}

impl Recorded {
    fn of(run: &Run) -> Recorded {
        let snapshot = &run.snapshot;
        Recorded {
            measure_from_ns: snapshot.measure_from.0,
            last_end_ns: snapshot.last_end.0,
            bytes_in: snapshot.bytes_in,
            intervals: IntervalWidth::of(snapshot),
            exact: exact(run),
            timeline: TimelineFacts::of(&snapshot.seconds),
            samples: SampleFacts::of(&snapshot.samples),
        }
    }
}

/// The exact figures of each distribution that has a value, by tag.
fn exact(Run { facts, snapshot }: &Run) -> BTreeMap<String, Exact> {
    let whole = tagged(snapshot).filter_map(|(tag, histogram)| Some((tag.to_owned(), Exact::of(histogram)?)));
    let targets =
        tagged_by_target(snapshot).filter_map(|(tag, histogram)| Some((tag.to_string(), Exact::of_target(histogram)?)));
    let streams = tagged_by_observer(facts).filter_map(|(tag, times)| Some((tag.to_owned(), Exact::of_target(times)?)));
    whole.chain(targets).chain(streams).collect()
}

impl IntervalWidth {
    /// Those of the snapshot where their distributions add up to those of the run, for every metric.
    pub fn of(snapshot: &Snapshot) -> IntervalWidth {
        let rows = snapshot.intervals.rows();
        let in_rows = |metric| rows.iter().map(|row| row.metric(metric).count()).sum::<u64>();
        let all = Metric::ALL.into_iter().all(|metric| in_rows(metric) == snapshot.metric(metric).count());
        match snapshot.intervals.width_s() {
            _ if !all => IntervalWidth::WholeRun,
            1 => IntervalWidth::Second,
            width_s => IntervalWidth::Seconds(width_s),
        }
    }

    /// How long each interval is, in seconds; `None` where there is but one, of the whole run.
    pub fn width_s(self) -> Option<u64> {
        match self {
            IntervalWidth::Second => Some(1),
            IntervalWidth::Seconds(width_s) => Some(width_s),
            IntervalWidth::WholeRun => None,
        }
    }
}

impl Exact {
    /// The figures of a histogram; `None` when it is empty.
    pub fn of(histogram: &Histogram) -> Option<Exact> {
        let (Some(Nanos(min_ns)), Some(Nanos(max_ns))) = (histogram.min(), histogram.max()) else { return None };
        Some(Exact { count: histogram.count(), sum_ns: histogram.sum_ns(), min_ns, max_ns })
    }
}

impl Exact {
    /// The figures of a distribution of a target or of streams; `None` when it is empty.
    pub fn of_target(histogram: &CompactHistogram) -> Option<Exact> {
        let (Nanos(min_ns), Nanos(max_ns)) = (histogram.min()?, histogram.max()?);
        Some(Exact { count: histogram.count(), sum_ns: histogram.sum_ns(), min_ns, max_ns })
    }
}

impl TimelineFacts {
    /// What the rows of these seconds say.
    pub fn of(seconds: &[SecondCounts]) -> TimelineFacts {
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
    /// What the rows of these samples say.
    pub fn of(samples: &Samples) -> SampleFacts {
        let SamplesOptions { capacity, slowest } = samples.options();
        SampleFacts {
            complete: samples.is_complete(),
            even: samples.even().len() as u64,
            one_in: samples.one_in(),
            only_slow: samples.only_slow().count() as u64,
            seen: samples.seen(),
            capacity,
            slowest,
        }
    }
}
