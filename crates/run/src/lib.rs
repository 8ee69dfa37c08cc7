//! Result of a run: over sockets, in the simulator, around a callable, or from another tool's file.
//!
//! A [`Run`] consists of [`Facts`] (load, machine, versions) and a [`Snapshot`] (the recorded requests).
//! `truetail-analysis` computes [`Findings`] from it. This crate defines these values, and writes, reads, merges and
//! lists run folders ([`folder`], [`wire`], [`merge()`], [`Merger`], [`catalog`]). It makes no decisions about numbers.

#![warn(unreachable_pub)]

pub mod catalog;
mod claims;
mod facts;
mod findings;
pub mod folder;
mod foreign;
pub mod input;
mod limits;
mod merge;
pub mod wire;

pub use claims::{ClaimedQuantile, Claims, GapMeaning, LatencyFrom, StreamClaims};
pub use facts::{
    ANY_METHOD, CheckCounts, CheckpointFacts, ClientTokens, ClockFacts, CpuContention, CpuTime, DialectFile, EarlyEnd,
    EndClock, EventMark, EventMarks, Facts, FailedAnswer, FailedCheck, FinishCounts, FinishReason, FlowFacts, GapList,
    GapLists, GapMap, GeneratorStats, GrpcBooks, GrpcConfig, GrpcKind, HeaderPlace, HeaderRow, HeaderValue, HostInfo,
    Http2Config, Http2Stats, KeptHeader, KeptHeaders, KeptStreams, LONGEST_PAUSES, LlmApi, LlmFacts, LlmReading,
    MAX_FAILED_ANSWERS, MAX_GAPS_OF_STREAM, MAX_HEADER_VALUES, MAX_KEPT_HEADERS, MAX_PARTS, MAX_SERVICE_POINTS,
    MAX_SERVICE_SERIES, MachineFacts, MachineLimit, MachineLook, Mark, MessageBooks, MessageConfig, Mix, MixTarget,
    NotReached, ObjectiveCounts, OfferedLoad, Pause, PromptFacts, ReportedTimes, RequestStream, RequestStreams,
    RequestTokens, RunSource, Sampled, SampledRequest, SampledSession, SampledSessions, SampledStream, SampledStreams,
    Scrape, ServerTiming, ServiceBucket, ServiceHistogram, ServiceSeries, SessionEnding, SessionFacts, SessionGoodput,
    SessionPart, SessionTally, SessionTime, SessionTimes, SessionTrail, Shard, Shards, SkippedLines, SloCounts,
    SpanBooks, StampBooks, StampUnit, StartFacts, StatedQuantile, StepFacts, StreamDetail, StreamEnding, StreamFacts,
    StreamKind, StreamReading, StreamRow, StreamRowBooks, StreamRows, StreamTally, StreamTime, StreamTimes,
    StripeFacts, TRACE_ID_IN_LINK, TargetBooks, Ticks, Timing, TokenCounts, TraceFacts, UniqueNames, UnmeasuredContent,
    first_failed, split_origin,
};
pub use findings::{
    ArrivalFidelity, ClosedLoopShadow, Contribution, Dispersion, Distribution, Exponential, Findings, FlowTime, Gaps,
    GateFinding, GateState, Goodput, HeaderGroup, HeaderGroupKind, HistogramFinding, LedgerPart, LedgerRow,
    LlmFindings, MarkFinding, MarkState, MetricDistributions, Mode, ModePlace, PartQuantile, Quantile, Reason,
    ReportedPart, ScrapeFinding, ServiceQuantile, SessionFindings, Settling, SettlingState, ShadowQuantile, Shift,
    SlowRequest, StepTime, StreamFindings, TargetFindings, Uncertainty, Verdict, VerdictState,
};
pub use foreign::{
    FilePlace, ForeignClock, ForeignHistogram, ForeignInterval, ForeignLoad, ForeignRequest, ForeignRun, ForeignStarts,
    ForeignView, Habit, UnusedRows,
};
pub use merge::{MergeError, Merger, MissingStripes, merge, ranges};

use truetail_model::record::Snapshot;

/// One run: the load and the machine, and the recorded requests.
#[derive(Clone, Debug)]
pub struct Run {
    /// Load, machine and versions.
    pub facts: Facts,
    /// The recorded requests.
    pub snapshot: Snapshot,
}
