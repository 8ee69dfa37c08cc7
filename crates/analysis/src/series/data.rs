//! Data types of the series of a run.

use serde::Serialize;
use truetail_run::{EarlyEnd, SampledSession, SampledStream};

use super::time_axis::TimeAxis;

/// Response times of a run by time and size.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct HeatMap {
    /// Lower edge of row 0, in nanoseconds.
    pub lowest_ns: f64,
    /// Ratio between the edges of neighbouring rows.
    pub row_factor: f64,
    /// Number of rows, at most 48.
    pub rows: usize,
    /// For each column: (row, answered arrivals) in ascending order of rows, without empty cells.
    pub cells: Vec<Vec<(u16, u64)>>,
    /// For each column: arrivals without an answer.
    pub unanswered: Vec<u64>,
    /// Largest count in a cell.
    pub largest: u64,
}

/// Load by column, with six significant digits. Empty if there are fewer than two arrivals or no counts by second.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct LoadSeries {
    /// Planned arrivals per second, by intended start.
    pub planned_per_s: Vec<f64>,
    /// Requests sent per second, by actual start.
    pub sent_per_s: Vec<f64>,
    /// Answers per second, by end.
    pub completed_per_s: Vec<f64>,
    /// Requests that failed or timed out per second, by end.
    pub failed_per_s: Vec<f64>,
    /// Arrivals due but not sent at the end of the column.
    pub backlog: Vec<u64>,
    /// Requests sent but not ended at the end of the column.
    pub in_flight: Vec<u64>,
}

/// A quantile by column.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct QuantileSeries {
    /// Quantile in [0, 1]. 1 means the largest value.
    pub q: f64,
    /// Value by column, or `None` if the quantile needs more arrivals or falls among arrivals without an answer.
    pub values_ns: Vec<Option<u64>>,
}

/// Causes of delayed starts: means over the issued arrivals of each column, or `None` for a column without any.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct StartDelaySeries {
    /// Generator lag.
    pub generator_lag_ns: Vec<Option<u64>>,
    /// Wait for a connection, due to the user's own limit.
    pub connection_wait_ns: Vec<Option<u64>>,
    /// TCP and TLS setup of a new connection.
    pub connect_ns: Vec<Option<u64>>,
}

/// Side that paused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PausedSide {
    /// A thread of the load generator did not run.
    Generator,
    /// Several requests were in flight, and the server answered none for much longer than usual in the run.
    Server,
}

/// A pause on the time axis.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PauseSpan {
    /// Side that paused.
    pub side: PausedSide,
    /// Start, in seconds since the origin.
    pub from_s: f64,
    /// End, in seconds since the origin.
    pub to_s: f64,
}

/// Kind of a percentile curve.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CurveKind {
    /// Response times of all planned arrivals, from the intended start.
    ResponseTime,
    /// Service times of answers, from the actual start.
    ServiceTime,
    /// Estimate of what a closed-loop tool would have reported about the same server.
    ClosedLoopShadow,
    /// HdrHistogram's correction of a closed loop.
    Corrected,
    /// Exact values, computed and not measured.
    Truth,
}

/// A percentile curve. It ends when the sample is too small, or when arrivals without an answer begin.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PercentileCurve {
    /// Kind of the curve.
    pub kind: CurveKind,
    /// Points in ascending order of q.
    pub points: Vec<CurvePoint>,
    /// Number of arrivals behind the curve.
    pub count: u64,
    /// Share of arrivals without an answer, in [0, 1]. The curve ends at or before 1 minus this share.
    pub unanswered_share: f64,
}

/// A point of a percentile curve. There are at most 40 per additional nine, about eight of them with an interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct CurvePoint {
    /// In [0, 1).
    pub q: f64,
    /// Quantile in nanoseconds.
    pub value_ns: u64,
    /// Lower end of the 95 % confidence interval, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_ns: Option<u64>,
    /// Upper end of the 95 % confidence interval, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_ns: Option<u64>,
    /// Quantile without the generator's own delay, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_generator_ns: Option<u64>,
}

/// Gaps between consecutive sends, compared with the planned gaps.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct GapSeries {
    /// Lower edge of bin 0, in nanoseconds. Bin 0 also holds shorter gaps.
    pub lowest_ns: f64,
    /// Ratio between the edges of neighbouring bins.
    pub bin_factor: f64,
    /// For each bin: share of the planned gaps, in [0, 1].
    pub planned: Vec<f64>,
    /// For each bin: share of the gaps between sends, in [0, 1].
    pub sent: Vec<f64>,
}

/// A band of similar planned rates, for response time against rate.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RateBand {
    /// Mean planned rate of the columns in the band, per second.
    pub planned_per_s: f64,
    /// Mean rate of answers in the band, per second.
    pub completed_per_s: f64,
    /// Number of arrivals in the band.
    pub arrivals: u64,
    /// (q, response time in nanoseconds) in ascending order of q, without quantiles that need more arrivals.
    pub quantiles: Vec<(f64, u64)>,
}

/// Data for the pictures of streams. Without columns and sampled streams if the run was saved without them.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct StreamSeries {
    /// Columns of `gaps`, which differ from the columns of the other series.
    pub time: TimeAxis,
    /// Gaps between events by the time of their end. `unanswered` holds gaps that no event ended.
    pub gaps: HeatMap,
    /// Planned requests by objective. If there are several, the last entry is about all together.
    pub objectives: Vec<ObjectiveBooks>,
    /// Shortest gap that counts as a stall, in nanoseconds.
    pub stall_ns: Option<u64>,
    /// A few streams in full. Not part of the data of a page.
    #[serde(skip)]
    pub sampled: Vec<ShownStream>,
}

/// Outcomes of the planned requests for an objective. Each request is counted once.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ObjectiveBooks {
    /// Text of the objective, or `None` for all objectives together.
    pub objective: Option<String>,
    /// Complete answers that met the objective.
    pub met: u64,
    /// Complete answers that missed the objective.
    pub missed: u64,
    /// Complete answers with an unknown result.
    pub cannot_tell: u64,
    /// Requests without a complete answer. They do not meet any objective.
    pub incomplete: u64,
}

/// Reason for showing a stream or a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SampleReason {
    /// Among the slowest: streams by the time from intended start to end, sessions by response time.
    Slowest,
    /// The median of the random sample.
    Median,
    /// Part of the random sample.
    Chance,
}

/// A stream shown in full.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownStream {
    /// Reason for showing the stream.
    pub because: SampleReason,
    /// The stream.
    pub stream: SampledStream,
}

/// Data for the pictures of sessions. Without sampled sessions if the run was saved without them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SessionSeries {
    /// Names of the steps.
    pub steps: Vec<String>,
    /// For each step: true if it may consist of several requests, because of redirects or attempts.
    pub may_repeat: Vec<bool>,
    /// True if any request was retried.
    pub has_retries: bool,
    /// Sessions that were begun.
    pub begun: u64,
    /// Early ends of sessions by step and cause, in the order of the steps.
    pub early_ends: Vec<EarlyEnds>,
    /// A few sessions in full.
    pub sampled: Vec<ShownSession>,
}

/// Number of sessions that a step ended for one cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EarlyEnds {
    /// Index of the step, from 0.
    pub step: usize,
    /// Cause of the end.
    pub cause: EarlyEnd,
    /// Number of sessions, at least one.
    pub sessions: u64,
}

/// A session shown in full.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownSession {
    /// Reason for showing the session.
    pub because: SampleReason,
    /// The session.
    pub session: SampledSession,
}

/// A counter or gauge that a service published.
#[derive(Clone, PartialEq, Debug)]
pub struct ServiceLane {
    /// Name and labels, after the name of the service if there are several.
    pub name: String,
    /// True for a counter, whose values are increases per second.
    pub per_second: bool,
    /// Values by column; `None` if it was not read about then.
    pub values: Vec<Option<f64>>,
}

impl ServiceLane {
    /// Limit on the lanes of a run.
    pub const MOST: usize = 12;
}

/// All series of a run. Lists by column have an entry for each column of `time`, or are empty if nothing is known.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct RunSeries {
    /// Columns of everything over time.
    pub time: TimeAxis,
    /// Response times by time and size.
    pub heat_map: HeatMap,
    /// Planned, sent and completed requests.
    pub load: LoadSeries,
    /// Response-time quantiles over time: p50, p90, p99, p99.9 and the largest.
    pub response_time: Vec<QuantileSeries>,
    /// Generator-lag quantiles over time: p50, p99 and the largest.
    pub generator_lag: Vec<QuantileSeries>,
    /// Causes of delayed starts.
    pub start_delay: StartDelaySeries,
    /// The longest pauses of either side, at most 200, in order of their start.
    pub pauses: Vec<PauseSpan>,
    /// Percentile curves, response time first.
    pub curves: Vec<PercentileCurve>,
    /// Gaps between sends. `None` if single requests are unknown or there are fewer than 100 gaps.
    pub gaps: Option<GapSeries>,
    /// Response time against rate, in ascending order of rate. Empty if the planned rate did not move.
    pub by_rate: Vec<RateBand>,
    /// Streams, or `None` if answers were not read as streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamSeries>,
    /// Sessions, or `None` if the run had no flow. Not part of the data of a page.
    #[serde(skip)]
    pub sessions: Option<SessionSeries>,
}
