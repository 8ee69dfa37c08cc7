//! The series of a run.

use serde::Serialize;
use truetail_run::{EarlyEnd, SampledSession, SampledStream};

use super::time_axis::TimeAxis;

/// Response times of a run by time and size.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct HeatMap {
    /// The lower edge of row 0, in nanoseconds.
    pub lowest_ns: f64,
    /// Each row is this many times as high as the one below it.
    pub row_factor: f64,
    /// How many rows there are, at most 48.
    pub rows: usize,
    /// Of each column: (row, answered arrivals) in ascending order of rows, empty cells left out.
    pub cells: Vec<Vec<(u16, u64)>>,
    /// Of each column: arrivals that got no answer.
    pub unanswered: Vec<u64>,
    /// The largest count of a cell.
    pub largest: u64,
}

/// The load by column. Rates have six significant digits. Empty for fewer than two arrivals, which have no rate, and where
/// nothing is known second by second.
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
    /// Arrivals that were due and not sent, at the end of the column.
    pub backlog: Vec<u64>,
    /// Requests sent and not ended, at the end of the column.
    pub in_flight: Vec<u64>,
}

/// A quantile by column.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct QuantileSeries {
    /// In [0, 1]; 1 is the largest value.
    pub q: f64,
    /// Its value by column; `None` where the column has no value, too few arrivals for this quantile, or the quantile falls among
    /// arrivals without an answer.
    pub values_ns: Vec<Option<u64>>,
}

/// Who delayed the start of requests, by column: means over the issued arrivals of the column; `None` where there are none.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct StartDelaySeries {
    /// The generator was late.
    pub generator_lag_ns: Vec<Option<u64>>,
    /// The user's own limit on connections.
    pub connection_wait_ns: Vec<Option<u64>>,
    /// TCP and TLS of a new connection.
    pub connect_ns: Vec<Option<u64>>,
}

/// Whose pause it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PausedSide {
    /// A thread of the load generator did not run.
    Generator,
    /// Several requests were in flight and the server answered none, for much longer than is usual in the run.
    Server,
}

/// A pause on the time axis.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PauseSpan {
    /// Whose.
    pub side: PausedSide,
    /// Its start, in seconds since the origin.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
}

/// What a percentile curve shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CurveKind {
    /// Over all planned arrivals, from the intended start.
    ResponseTime,
    /// Over answers, from the actual start.
    ServiceTime,
    /// What a closed-loop tool would have reported about the same server.
    ClosedLoopShadow,
    /// HdrHistogram's correction of a closed loop.
    Corrected,
    /// Known exactly: computed, not measured.
    Truth,
}

/// A percentile curve. It ends where the sample no longer carries it, or where arrivals without an answer begin.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PercentileCurve {
    /// What it shows.
    pub kind: CurveKind,
    /// Ascending in q.
    pub points: Vec<CurvePoint>,
    /// How many arrivals it is computed from.
    pub count: u64,
    /// The share of arrivals, in [0, 1], that got no answer: the curve ends at or before 1 less this.
    pub unanswered_share: f64,
}

/// A point of a percentile curve. There are at most 40 for each further nine; about eight of them have an interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct CurvePoint {
    /// In [0, 1).
    pub q: f64,
    /// The quantile.
    pub value_ns: u64,
    /// The ends of its 95 % confidence interval, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_ns: Option<u64>,
    /// See `low_ns`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_ns: Option<u64>,
    /// The quantile without what the generator added, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_generator_ns: Option<u64>,
}

/// Gaps between consecutive sends beside those that were planned.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct GapSeries {
    /// The lower edge of bin 0, in nanoseconds. Shorter gaps are in bin 0 too.
    pub lowest_ns: f64,
    /// Each bin is this many times as wide as the one before it.
    pub bin_factor: f64,
    /// Of each bin: the share of the planned gaps, in [0, 1].
    pub planned: Vec<f64>,
    /// Of each bin: the share of the gaps between sends.
    pub sent: Vec<f64>,
}

/// Response time against rate, where the planned rate moved: a band of rates.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RateBand {
    /// The mean planned rate of the columns in it, per second.
    pub planned_per_s: f64,
    /// The mean rate of answers in them, per second.
    pub completed_per_s: f64,
    /// How many arrivals they hold.
    pub arrivals: u64,
    /// Quantiles of their response times, in ascending order of q; those that the band is too small for are left out.
    pub quantiles: Vec<(f64, u64)>,
}

/// What is drawn of streams. Where a run was saved without their detail, there are no columns and no sampled streams.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct StreamSeries {
    /// The columns of `gaps`, which are not those of the other series.
    pub time: TimeAxis,
    /// Gaps between events by the time at which they ended; `unanswered` are those that no event ended.
    pub gaps: HeatMap,
    /// Planned requests by each objective, and by all together at the end, if there are several.
    pub objectives: Vec<ObjectiveBooks>,
    /// Gaps of at least this are stalls.
    pub stall_ns: Option<u64>,
    /// A few streams in full. Not part of the data of a page.
    #[serde(skip)]
    pub sampled: Vec<ShownStream>,
}

/// What became of the planned requests by an objective: each is counted once.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ObjectiveBooks {
    /// As it was written; `None` for all objectives together.
    pub objective: Option<String>,
    /// Complete answers that met it.
    pub met: u64,
    /// Complete answers that missed it.
    pub missed: u64,
    /// Complete answers of which that cannot be told.
    pub cannot_tell: u64,
    /// Requests without a complete answer: they met nothing.
    pub incomplete: u64,
}

/// Why a stream or a session is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShownBecause {
    /// It is one of the slowest: a stream from its intended start to its end, a session by its response time.
    Slowest,
    /// Of those that chance chose, it is the one in the middle.
    Median,
    /// Chance chose it.
    Chance,
}

/// A stream that is shown in full.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownStream {
    /// Why.
    pub because: ShownBecause,
    /// The stream.
    pub stream: SampledStream,
}

/// What is drawn of sessions. Where a run was saved without sampled sessions, there are none.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SessionSeries {
    /// The names of their steps.
    pub steps: Vec<String>,
    /// Which of them may be several requests: redirects, or attempts.
    pub may_repeat: Vec<bool>,
    /// Some request was tried again.
    pub has_retries: bool,
    /// Sessions that were begun.
    pub begun: u64,
    /// Where and why sessions ended early, in the order of the steps.
    pub early_ends: Vec<EarlyEnds>,
    /// A few sessions in full.
    pub sampled: Vec<ShownSession>,
}

/// Sessions that a step ended for one cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EarlyEnds {
    /// Which step, counted from 0.
    pub step: usize,
    /// Why.
    pub cause: EarlyEnd,
    /// How many, at least one.
    pub sessions: u64,
}

/// A session that is shown in full.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownSession {
    /// Why.
    pub because: ShownBecause,
    /// The session.
    pub session: SampledSession,
}

/// All series of a run. A list by column has an entry for each column of `time`, or is empty where nothing is known by column.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct RunSeries {
    /// The columns of everything over time.
    pub time: TimeAxis,
    /// Response times by time and size.
    pub heat_map: HeatMap,
    /// What was planned, sent and completed.
    pub load: LoadSeries,
    /// Response-time quantiles over time: p50, p90, p99, p99.9 and the largest.
    pub response_time: Vec<QuantileSeries>,
    /// Generator-lag quantiles over time: p50, p99 and the largest.
    pub generator_lag: Vec<QuantileSeries>,
    /// Who delayed the start of requests.
    pub start_delay: StartDelaySeries,
    /// Pauses of either side, in order of their start; at most 200, the longest.
    pub pauses: Vec<PauseSpan>,
    /// The percentile curves: response time first.
    pub curves: Vec<PercentileCurve>,
    /// Gaps between sends; `None` where single requests are not known, or there are fewer than 100.
    pub gaps: Option<GapSeries>,
    /// Response time against rate, in ascending order of rate; empty where the planned rate did not move.
    pub by_rate: Vec<RateBand>,
    /// Streams; `None` where answers were not read as such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamSeries>,
    /// Sessions; `None` where none followed a flow. Not part of the data of a page.
    #[serde(skip)]
    pub sessions: Option<SessionSeries>,
}
