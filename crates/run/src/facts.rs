//! What is known of a run besides what was recorded. These types are the wire form of `run.json`, version 1: a field
//! may be added, none may change its meaning.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truetail_model::arrival::{Schedule, Spacing};
use truetail_model::record::Tally;
use truetail_model::workload::{LoadModel, LoadModelKind, Workload};

/// How a run was obtained.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum RunSource {
    /// Real sockets.
    Sockets,
    /// Virtual time.
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

/// What is known of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Facts {
    /// The version of truetail that made this.
    pub version: String,
    /// How the run was obtained.
    pub source: RunSource,
    /// When the run's origin was, nanoseconds since 1970 UTC; `None` in virtual time.
    pub started_at_unix_ns: Option<u64>,
    /// From the origin to the end of the drain, nanoseconds.
    pub elapsed_ns: u64,
    /// What was offered.
    pub offered: OfferedLoad,
    /// The machine that offered it; `None` in virtual time.
    pub host: Option<HostInfo>,
    /// What the generator knows of itself; `None` in virtual time.
    pub generator: Option<GeneratorStats>,
    /// The run was ended before its time, by the user or by a rule such as `--until`, which a note then names.
    pub interrupted: bool,
    /// Arrivals that were still to come were not planned because of that. `None`: nobody knows, as of runs that were saved
    /// before it was written down.
    pub cut_short: Option<bool>,
    /// Bytes of answers that were read.
    pub bytes_in: u64,
    /// Things to say that belong to no number, such as a preflight that met a status 404.
    pub notes: Vec<String>,
    /// What the tool itself said, where the run is another tool's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<crate::Claims>,
    /// The books of each target, in the order of [`Mix::targets`]; empty where there is but one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_target: Vec<TargetBooks>,
}

impl Facts {
    /// The schedule went to its end, as far as is known.
    pub fn is_complete(&self) -> bool {
        !self.interrupted || self.cut_short == Some(false)
    }
}

/// What was offered. `scenario` in `run.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OfferedLoad {
    /// The name of the scenario, where it has one.
    pub name: Option<String>,
    /// Who decides when the next request comes.
    pub model: LoadModelKind,
    /// The URL as it was given, with its placeholders; of several targets what they share: `http://HOST:PORT`.
    pub url: Option<String>,
    /// The HTTP method, where there is one for all.
    pub method: Option<String>,
    /// What the arrivals ask for, where they do not all ask for the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// The rate profile as the user writes it; `None` for the closed model.
    pub profile: Option<String>,
    /// `even` or `poisson`; `None` for the closed model.
    pub spacing: Option<String>,
    /// Seed of the spacing; `None` where nothing is drawn.
    pub seed: Option<u64>,
    /// Arrivals are before this much time.
    pub duration_ns: Option<u64>,
    /// At most this many arrivals.
    pub requests: Option<u64>,
    /// Users of the closed model.
    pub users: Option<u32>,
    /// Requests of one session of the partly open model.
    pub requests_per_session: Option<u32>,
    /// Think time of closed and partly open models.
    pub think_time_ns: Option<u64>,
    /// Cap on connections, as it was in force.
    pub connections: Option<u32>,
    /// What was asked in HTTP/2; `None`: HTTP/1.1, or no HTTP at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2: Option<Http2Config>,
    /// Timeout of a request.
    pub timeout_ns: Option<u64>,
    /// Drain limit.
    pub drain_ns: u64,
    /// Warm-up that was not measured.
    pub warmup_ns: u64,
}

impl OfferedLoad {
    /// What `workload` offers. Name, target and method are nobody's yet: whoever knows them fills them in.
    pub fn of(workload: &Workload) -> OfferedLoad {
        let (model, limits) = (&workload.model, &workload.limits);
        let schedule = schedule_of(model);
        OfferedLoad {
            name: None,
            model: model.kind(),
            url: None,
            method: None,
            mix: None,
            profile: schedule.map(|schedule| schedule.profile.to_string()),
            spacing: schedule.map(|schedule| spacing_name(schedule.spacing).to_owned()),
            seed: model.seed(),
            duration_ns: model.horizon().duration.map(|duration| duration.0),
            requests: model.horizon().requests,
            users: match model {
                LoadModel::Closed { users, .. } => Some(*users),
                _ => None,
            },
            requests_per_session: match model {
                LoadModel::PartlyOpen { requests_per_session, .. } => Some(*requests_per_session),
                _ => None,
            },
            think_time_ns: match model {
                LoadModel::Open(_) => None,
                LoadModel::Closed { think_time, .. } | LoadModel::PartlyOpen { think_time, .. } => Some(think_time.0),
            },
            connections: limits.connections,
            http2: None,
            timeout_ns: limits.timeout.map(|timeout| timeout.0),
            drain_ns: limits.drain.0,
            warmup_ns: workload.warmup.0,
        }
    }
}

/// How HTTP/2 was to be spoken.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Http2Config {
    /// Cap on requests in flight at once on one connection; `None`: the server's alone.
    pub max_streams: Option<u32>,
}

/// How HTTP/2 was spoken.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Http2Stats {
    /// Most requests that were in flight at once.
    pub peak: u64,
    /// The fewest requests at once that the server allowed on a connection; `None`: it set no limit.
    pub allowed: Option<u32>,
    /// Requests that were sent again on another connection, because the server had gone away from theirs and said that it had
    /// not taken them up.
    #[serde(default)]
    pub sent_again: u64,
}

impl Http2Stats {
    /// Both together. Peaks are added, for they may have been at the same time.
    pub fn and(self, other: Http2Stats) -> Http2Stats {
        let allowed = [self.allowed, other.allowed].into_iter().flatten().min();
        Http2Stats { peak: self.peak + other.peak, allowed, sent_again: self.sent_again + other.sent_again }
    }
}

fn schedule_of(model: &LoadModel) -> Option<&Schedule> {
    match model {
        LoadModel::Open(schedule) => Some(schedule),
        LoadModel::PartlyOpen { sessions, .. } => Some(sessions),
        LoadModel::Closed { .. } => None,
    }
}

const fn spacing_name(spacing: Spacing) -> &'static str {
    match spacing {
        Spacing::Even => "even",
        Spacing::Poisson => "poisson",
    }
}

/// What the arrivals of a run ask for. Arrival k gets the same request in each run with the same mix.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mix {
    /// The targets, in the order in which they were given.
    pub targets: Vec<MixTarget>,
    /// Rows of data that fill their placeholders in; 0 where there are none.
    pub rows: u32,
    /// `in-order` or `random`; `None` without rows.
    pub order: Option<String>,
    /// Seed of what is drawn; `None` in a whole of runs that had different ones.
    pub seed: Option<u64>,
    /// Hash of every request and every weight: 16 hexadecimal digits.
    pub hash: String,
}

/// One target of a mix.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MixTarget {
    /// HTTP method.
    pub method: String,
    /// URL, with its placeholders.
    pub url: String,
    /// Its share of the arrivals is this part of the sum of all weights.
    pub weight: u32,
}

/// What became of the measured arrivals of one target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TargetBooks {
    /// HTTP method.
    pub method: String,
    /// URL, with its placeholders.
    pub url: String,
    /// Its books; those of all targets together are those of the run.
    pub tally: Tally,
    /// Answers by HTTP status.
    pub statuses: BTreeMap<u16, u64>,
}

impl TargetBooks {
    /// Adds the books of the same target in another part of the run.
    pub fn merge(&mut self, other: &TargetBooks) {
        self.tally.merge(&other.tally);
        other.statuses.iter().for_each(|(status, n)| *self.statuses.entry(*status).or_default() += n);
    }
}

/// The machine.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct HostInfo {
    /// Such as `linux`.
    pub os: String,
    /// Kernel release, where known.
    pub kernel: Option<String>,
    /// Such as `x86_64`.
    pub arch: String,
    /// Model of the processor, where known.
    pub cpu_model: Option<String>,
    /// Processors this process may use.
    pub cpus: u32,
    /// Main memory, where known.
    pub memory_bytes: Option<u64>,
}

/// CPU time a process used.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct CpuTime {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

/// What took the processor away from the generator during the run; `None` where the system does not say.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct CpuContention {
    /// Time in which the hypervisor ran something else, all processors together.
    pub steal_ns: Option<u64>,
    /// Time in which the control group was over its quota of CPU.
    pub throttled_ns: Option<u64>,
    /// Time in which some task of the machine waited for a processor.
    pub cpu_pressure_ns: Option<u64>,
}

/// A stretch of time in which a worker of the generator should have run and did not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pause {
    /// Which worker.
    pub worker: u32,
    /// From the origin to its beginning.
    pub at_ns: u64,
    /// How long.
    pub length_ns: u64,
}

/// How many pauses are kept one by one.
pub const LONGEST_PAUSES: usize = 100;

/// Whose instant ends a response time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndClock {
    /// The generator's own, when it had read the answer: its backlog is inside.
    #[default]
    User,
    /// The kernel's, when the last byte of the answer had reached the host.
    Kernel,
}

/// What a worker does between two requests: precision is paid for with processor time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// Sleeps, and spins before a request is due: for [`Timing::SPIN_NS`], and for longer where more than one sleep in a hundred
    /// ended later than that.
    Precise,
    /// Sleeps until a request is due or an answer comes, for as much less as its sleeps usually end late.
    #[default]
    Balanced,
    /// Sleeps until the next tick of [`Timing::TICK_NS`] and does all that has come due by then at once.
    Cheap,
}

impl Timing {
    /// A timed sleep ends some 25 µs late on a machine of today; this, at least, is waited for without sleeping.
    pub const SPIN_NS: u64 = 30_000;
    /// No request is sent later than this for the sake of cheapness.
    pub const TICK_NS: u64 = 1_000_000;

    /// Its name, as users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Timing::Precise => "precise",
            Timing::Balanced => "balanced",
            Timing::Cheap => "cheap",
        }
    }
}

/// What the generator knows of itself.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct GeneratorStats {
    /// Worker threads.
    pub threads: u32,
    /// CPU time during the run.
    pub cpu: CpuTime,
    /// Most CPU time that one worker used: when it comes near the elapsed time, that worker had no time to spare.
    #[serde(default)]
    pub busiest_worker_cpu_ns: u64,
    /// What took the processor away from it.
    #[serde(default)]
    pub surroundings: CpuContention,
    /// Most memory that was resident, where known.
    pub peak_memory_bytes: Option<u64>,
    /// The longest pauses, longest first, at most [`LONGEST_PAUSES`].
    pub pauses: Vec<Pause>,
    /// How many pauses there were.
    pub pause_count: u64,
    /// All pauses together.
    pub paused_ns: u64,
    /// Connections that were opened.
    pub connections_opened: u64,
    /// Most connections that were open at once.
    pub connections_peak: u64,
    /// Requests that shared connections, in HTTP/2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Http2Stats>,
    /// Idle connections on which bytes came that nobody had asked for; they were closed.
    pub stray_answers: u64,
    /// What its workers did between two requests.
    #[serde(default)]
    pub timing: Timing,
    /// What one reading of its clock takes, measured beside the run.
    #[serde(default)]
    pub clock_reading_ns: Option<u64>,
    /// Whose instant ends a response time.
    #[serde(default)]
    pub end_clock: EndClock,
    /// Answers of which the system did not say when they arrived, although it was asked: they end when they were read.
    #[serde(default)]
    pub unstamped: u64,
    /// How often the wall clock was set during the run (stamps of these moments are not used).
    #[serde(default)]
    pub clock_steps: u64,
    /// Soft limit on open files, as it was in force.
    pub open_files_limit: Option<u64>,
}
