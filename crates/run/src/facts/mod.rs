//! What is known about a run besides the recorded requests. These types are the wire form of `run.json`, version 1:
//! fields may be added, but none may change its meaning.

mod checkpoint;
mod checks;
mod event_marks;
mod gap_map;
mod generator;
mod llm;
mod mix;
mod offered;
mod sampled;
mod sampled_sessions;
mod sampled_streams;
mod session;
mod session_books;
mod session_part;
mod session_times;
mod stream;
mod stream_detail;
mod stream_ending;
mod stream_time;
mod stripe;
mod target_names;

use serde::{Deserialize, Serialize};
use truetail_model::driver::Stripe;

pub use checkpoint::CheckpointFacts;
pub use checks::{CheckCounts, FailedAnswer, FailedCheck, MAX_FAILED_ANSWERS, first_failed};
pub use event_marks::{EventMark, EventMarks};
pub use gap_map::GapMap;
pub use generator::{
    CpuContention, CpuTime, EndClock, GeneratorStats, HostInfo, Http2Stats, LONGEST_PAUSES, MachineLimit, Pause,
    SkippedLines, Ticks, Timing,
};
pub use llm::{ClientTokens, LlmApi, LlmFacts, ObjectiveCounts, SloCounts, TokenCounts};
pub use mix::{ANY_METHOD, Mix, MixTarget, TargetBooks};
pub use offered::{Http2Config, OfferedLoad};
pub use sampled::Sampled;
pub use sampled_sessions::{SampledRequest, SampledSession, SampledSessions, SessionEnding, SessionTrail};
pub use sampled_streams::{SampledStream, SampledStreams};
pub use session::{FlowFacts, SessionFacts};
pub use session_books::{EarlyEnd, NotReached, SessionTally, StepFacts};
pub use session_part::SessionPart;
pub use session_times::{SessionTime, SessionTimes};
pub use stream::{StreamFacts, StreamKind, StreamReading, StreamTally};
pub use stream_detail::StreamDetail;
pub use stream_ending::StreamEnding;
pub use stream_time::{StreamTime, StreamTimes};
pub use stripe::{Shard, Shards, StartFacts, StripeFacts};
pub use target_names::{UniqueNames, split_origin};

/// How a run was obtained.
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
        /// Its name.
        tool: String,
        /// Its version, where known.
        version: Option<String>,
    },
}

/// What is known about a run besides the recorded requests.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Facts {
    /// The version of truetail that made this.
    pub version: String,
    /// How the run was obtained.
    pub source: RunSource,
    /// The run's origin, in nanoseconds since 1970 UTC; `None` in virtual time.
    pub started_at_unix_ns: Option<u64>,
    /// From the origin to the end of the drain, nanoseconds.
    pub elapsed_ns: u64,
    /// What was offered.
    pub offered: OfferedLoad,
    /// The machine that sent the load; `None` in virtual time.
    pub host: Option<HostInfo>,
    /// What the generator knows about itself; `None` in virtual time.
    pub generator: Option<GeneratorStats>,
    /// The run was stopped early, by the user or by a stop condition such as `--until`, which a note then names.
    pub interrupted: bool,
    /// Stopping early removed arrivals that were still to come. `None`: unknown, as in runs saved before this field existed.
    pub cut_short: Option<bool>,
    /// It was saved while it went on, and never ended: `interrupted` and `cut_short` are true then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointFacts>,
    /// Bytes of answers that were read.
    pub bytes_in: u64,
    /// Things to say that belong to no number, such as a preflight that met a status 404.
    pub notes: Vec<String>,
    /// The command line that made it, quoted for a shell. Passwords, secret header values and long bodies are left out of
    /// it. `None` where there was none, and in a merged run whose parts had different ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What the tool itself said, where the run is another tool's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<crate::Claims>,
    /// Which part of the load it had, where several machines shared it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe: Option<StripeFacts>,
    /// When it was to begin, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<StartFacts>,
    /// The machines whose stripes were merged into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<Shards>,
    /// The books of each target, in the order of [`Mix::targets`]; empty where there is but one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_target: Vec<TargetBooks>,
    /// What became of the checks of answers, in the order in which they were set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckCounts>,
    /// The first few answers that failed a check, in the order of their arrivals. They are saved in a file of their own.
    #[serde(skip)]
    pub failed_answers: Vec<FailedAnswer>,
    /// Answers that came in pieces; `None` where they were not looked at as such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamFacts>,
    /// Sessions that followed a flow; `None` where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionFacts>,
}

impl Facts {
    /// The user's cap on connections, as far as it was this machine's.
    pub fn connections_here(&self) -> Option<u32> {
        let stripe = self.stripe.as_ref().and_then(StripeFacts::stripe).unwrap_or(Stripe::WHOLE);
        self.offered.connections.map(|all| stripe.share_of(u64::from(all)) as u32)
    }

    /// Why the books of streams are what no run can have: `None` where they balance with the `planned` measured arrivals.
    pub fn imbalance_of_streams(&self, planned: u64) -> Option<String> {
        let streams = self.stream.as_ref()?;
        let asked = streams.asked(&self.offered, &self.by_target, planned);
        streams.imbalance(asked.unwrap_or_else(|| streams.tally.planned.saturating_sub(streams.tally.not_reached)))
    }

    /// Whether the schedule ran to its end, if known.
    pub fn is_complete(&self) -> bool {
        !self.interrupted || self.cut_short == Some(false)
    }
}
