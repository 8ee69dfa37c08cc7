//! Everything known about a run besides the recorded requests. These types are the wire form of `run.json`, version 1:
//! fields may be added, but no field may change its meaning.

mod checkpoint;
mod checks;
mod event_marks;
mod gap_lists;
mod gap_map;
mod generator;
mod grpc;
mod kept_headers;
mod kept_streams;
mod llm;
mod llm_finish;
mod machine;
mod mark;
mod messages;
mod mix;
mod offered;
mod request_stream;
mod sampled;
mod sampled_sessions;
mod sampled_streams;
mod scrape;
mod server_timing;
mod session;
mod session_books;
mod session_part;
mod session_times;
mod spans;
mod stamp;
mod stream;
mod stream_detail;
mod stream_ending;
mod stream_reading;
mod stream_rows;
mod stream_time;
mod stripe;
mod target_names;
mod trace;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truetail_model::driver::Stripe;

pub use checkpoint::CheckpointFacts;
pub use checks::{CheckCounts, FailedAnswer, FailedCheck, MAX_FAILED_ANSWERS, first_failed};
pub use event_marks::{EventMark, EventMarks};
pub(crate) use gap_lists::MAX_GAPS;
pub use gap_lists::{GapList, GapLists, MAX_GAPS_OF_STREAM};
pub use gap_map::GapMap;
pub use generator::{
    CpuContention, CpuTime, EndClock, GeneratorStats, HostInfo, Http2Stats, LONGEST_PAUSES, MachineLimit, Pause,
    SkippedLines, Ticks, Timing,
};
pub use grpc::{GrpcBooks, GrpcConfig, GrpcKind};
pub(crate) use kept_headers::OTHER_VALUE;
pub use kept_headers::{
    HeaderPlace, HeaderRow, HeaderValue, KeptHeader, KeptHeaders, MAX_HEADER_VALUES, MAX_KEPT_HEADERS,
};
pub use kept_streams::KeptStreams;
pub use llm::{
    ClientTokens, DialectFile, LlmApi, LlmFacts, LlmReading, ObjectiveCounts, PromptFacts, SloCounts, TokenCounts,
    UnmeasuredContent,
};
pub use llm_finish::{FinishCounts, FinishReason};
pub use machine::{ClockFacts, MachineFacts, MachineLook};
pub use mark::Mark;
pub use messages::{MessageBooks, MessageConfig};
pub use mix::{ANY_METHOD, Mix, MixTarget, TargetBooks};
pub use offered::{Http2Config, OfferedLoad};
pub use request_stream::{RequestStream, RequestStreams, RequestTokens};
pub use sampled::Sampled;
pub use sampled_sessions::{SampledRequest, SampledSession, SampledSessions, SessionEnding, SessionTrail};
pub use sampled_streams::{SampledStream, SampledStreams};
pub use scrape::{
    MAX_SERVICE_POINTS, MAX_SERVICE_SERIES, Scrape, ServiceBucket, ServiceHistogram, ServiceSeries, StatedQuantile,
};
pub use server_timing::{MAX_PARTS, ReportedTimes, ServerTiming};
pub use session::{FlowFacts, SessionFacts, SessionGoodput};
pub use session_books::{EarlyEnd, NotReached, SessionTally, StepFacts};
pub use session_part::SessionPart;
pub use session_times::{SessionTime, SessionTimes};
pub use spans::SpanBooks;
pub use stamp::{StampBooks, StampUnit};
pub use stream::{StreamFacts, StreamTally};
pub use stream_detail::StreamDetail;
pub use stream_ending::StreamEnding;
pub use stream_reading::{StreamKind, StreamReading};
pub use stream_rows::{StreamRow, StreamRowBooks, StreamRows};
pub use stream_time::{StreamTime, StreamTimes};
pub use stripe::{Shard, Shards, StartFacts, StripeFacts};
pub use target_names::{UniqueNames, split_origin};
pub use trace::{TRACE_ID_IN_LINK, TraceFacts};

/// Origin of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum RunSource {
    /// Real sockets.
    Sockets,
    /// The simulator.
    Simulator,
    /// A callable in this process.
    Callable,
    /// Another tool's result.
    Import {
        /// Name of the tool.
        tool: String,
        /// Version of the tool, if known.
        version: Option<String>,
    },
}

/// Everything known about a run besides the recorded requests.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Facts {
    /// Version of truetail that made the run.
    pub version: String,
    /// Origin of the run.
    pub source: RunSource,
    /// The run's time origin, in nanoseconds since 1970 UTC; `None` in virtual time.
    pub started_at_unix_ns: Option<u64>,
    /// Time from the origin to the end of the drain, nanoseconds.
    pub elapsed_ns: u64,
    /// The offered load.
    pub offered: OfferedLoad,
    /// The machine that sent the load; `None` in virtual time.
    pub host: Option<HostInfo>,
    /// Statistics of the generator about itself; `None` in virtual time.
    pub generator: Option<GeneratorStats>,
    /// True if the user or a stop condition such as `--until` stopped the run early. A note names the stop condition.
    pub interrupted: bool,
    /// True if the early stop removed arrivals. `None` if unknown, as in runs saved before this field existed.
    pub cut_short: Option<bool>,
    /// Set if the run was saved while in progress and never ended. `interrupted` and `cut_short` are then true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointFacts>,
    /// Bytes of all answers that were read.
    pub bytes_in: u64,
    /// Notes that belong to no number, such as a preflight that was answered with status 404.
    pub notes: Vec<String>,
    /// The command line of the run, quoted for a shell, without passwords, secret header values and long bodies. `None`
    /// if the run has no command line, or if its parts had different ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Labels that the user gave the run, and what the environment says of the commit, the branch and the job.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// Statements of the other tool, in a run that was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<crate::Claims>,
    /// Trace ids of the requests; `None` without `--trace`, or if the parts of the run had different ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceFacts>,
    /// Times that the service reported with its answers or as spans; `None` without `--server-timing` and spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_timing: Option<ServerTiming>,
    /// Values of response headers that the user chose; `None` without `--keep-header`. In `run.json`, their findings
    /// are beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_headers: Option<KeptHeaders>,
    /// Numbers that services published about themselves; empty without `--scrape`. In `run.json`, their findings
    /// are beside them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scrapes: Vec<Scrape>,
    /// Commands that the run started, in the order of their times; empty without `--event`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// This machine's part of a load that several machines shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe: Option<StripeFacts>,
    /// Start time of the run, if one was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<StartFacts>,
    /// The machines whose stripes were merged into this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<Shards>,
    /// Books of each target, in the order of [`Mix::targets`]; empty if the run has only one target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_target: Vec<TargetBooks>,
    /// Results of the checks of answers, in the user's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckCounts>,
    /// The first answers that failed a check, in the order of their arrivals. They are saved in a separate file.
    #[serde(skip)]
    pub failed_answers: Vec<FailedAnswer>,
    /// Streamed answers; `None` if answers were not read as streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamFacts>,
    /// Sessions that followed a flow; `None` without a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionFacts>,
}

impl Facts {
    /// Returns the books of messages, if the requests were messages.
    pub fn messages(&self) -> Option<MessageBooks> {
        self.generator.as_ref()?.messages.clone()
    }

    /// Returns the number of measured answers without a status that say that the request failed.
    pub fn error_replies(&self) -> u64 {
        self.messages().map_or(0, |messages| messages.error_replies)
    }

    /// Returns this machine's share of the user's limit on connections.
    pub fn connections_here(&self) -> Option<u32> {
        let stripe = self.stripe.as_ref().and_then(StripeFacts::stripe).unwrap_or(Stripe::WHOLE);
        self.offered.connections.map(|all| stripe.share_of(u64::from(all)) as u32)
    }

    /// Returns the reason why the books of streams do not fit `planned` measured arrivals; `None` if they balance.
    pub fn imbalance_of_streams(&self, planned: u64) -> Option<String> {
        let streams = self.stream.as_ref()?;
        let asked = streams.planned_requests(&self.offered, &self.by_target, planned);
        streams.imbalance(asked.unwrap_or_else(|| streams.tally.planned.saturating_sub(streams.tally.not_reached)))
    }

    /// Returns true if the schedule is known to have run to its end.
    pub fn is_complete(&self) -> bool {
        !self.interrupted || self.cut_short == Some(false)
    }
}
