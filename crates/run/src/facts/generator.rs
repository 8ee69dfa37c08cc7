//! What the generator knows of itself and of its machine.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the generator knows about itself.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct GeneratorStats {
    /// Worker threads.
    pub threads: u32,
    /// CPU time during the run.
    pub cpu: CpuTime,
    /// The CPU time of the worker that used most. If it is close to the elapsed time, that worker had no time to spare.
    #[serde(default)]
    pub busiest_worker_cpu_ns: u64,
    /// What took the processor away from it.
    #[serde(default)]
    pub surroundings: CpuContention,
    /// Peak resident memory, if known.
    pub peak_memory_bytes: Option<u64>,
    /// The longest pauses, longest first, at most [`LONGEST_PAUSES`].
    pub pauses: Vec<Pause>,
    /// How many pauses there were.
    pub pause_count: u64,
    /// Total length of all pauses.
    pub paused_ns: u64,
    /// Connections that were opened.
    pub connections_opened: u64,
    /// Most connections that were open at once.
    pub connections_peak: u64,
    /// Most connections that truetail would have opened on its own account, where open files or local ports set the limit;
    /// `None`: the user, the load or the protocol did. To wait for one of these is generator lag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_available: Option<u64>,
    /// The limit of this machine that `connections_available` follows from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_limited_by: Option<MachineLimit>,
    /// Requests that shared connections, in HTTP/2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Http2Stats>,
    /// Idle connections that were closed because bytes arrived without a request.
    pub stray_answers: u64,
    /// Header lines of answers that are no header fields and were skipped; `None`: there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_lines: Option<SkippedLines>,
    /// How its workers waited for the next request.
    #[serde(default)]
    pub timing: Timing,
    /// All its workers had real-time priority.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub realtime: bool,
    /// Requests that were held back so that several could be sent in one go; `None`: none were, or the timing was not
    /// [`Timing::Auto`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticks: Option<Ticks>,
    /// How long one reading of its clock takes, measured apart from the run.
    #[serde(default)]
    pub clock_reading_ns: Option<u64>,
    /// Which clock takes the end of a response time.
    #[serde(default)]
    pub end_clock: EndClock,
    /// Answers without a kernel timestamp although the kernel should set one; they end when they were read.
    #[serde(default)]
    pub unstamped: u64,
    /// How often the wall clock was set during the run; stamps from these moments are not used.
    #[serde(default)]
    pub clock_steps: u64,
    /// The soft limit on open files during the run.
    pub open_files_limit: Option<u64>,
}

/// Lines in the heads of HTTP/1.1 answers that are no header fields: a warning of an interpreter, a control character in a
/// value, a space before the colon. They were skipped.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SkippedLines {
    /// How many answers had any.
    pub answers: u64,
    /// The first of them, shortened, with control characters escaped.
    pub first: String,
}

impl fmt::Display for SkippedLines {
    /// A note for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answers = if self.answers == 1 { "1 answer".to_owned() } else { format!("{} answers", self.answers) };
        write!(f, "{answers} had a header line that is not HTTP and was skipped; the first: {}", self.first)
    }
}

impl SkippedLines {
    fn and(self, part: SkippedLines) -> SkippedLines {
        SkippedLines { answers: self.answers.saturating_add(part.answers), ..self }
    }
}

impl GeneratorStats {
    /// Two generators, or two workers of one, as one that had the threads of both. Peaks are added, because they may have
    /// been at the same time. The numbers may be those of a file, which can hold any, so sums saturate.
    pub fn and(mut self, part: GeneratorStats) -> GeneratorStats {
        let worker_offset = self.threads;
        self.pauses.extend(part.pauses.into_iter().map(|mut pause| {
            pause.worker = pause.worker.saturating_add(worker_offset);
            pause
        }));
        self.pauses.sort_by_key(|pause| std::cmp::Reverse(pause.length_ns));
        self.pauses.truncate(LONGEST_PAUSES);
        self.threads = self.threads.saturating_add(part.threads);
        let add = |whole: &mut u64, part: u64| *whole = whole.saturating_add(part);
        add(&mut self.cpu.user_ns, part.cpu.user_ns);
        add(&mut self.cpu.system_ns, part.cpu.system_ns);
        add(&mut self.pause_count, part.pause_count);
        add(&mut self.paused_ns, part.paused_ns);
        add(&mut self.connections_opened, part.connections_opened);
        add(&mut self.connections_peak, part.connections_peak);
        add(&mut self.stray_answers, part.stray_answers);
        add(&mut self.unstamped, part.unstamped);
        self.peak_memory_bytes = added(self.peak_memory_bytes, part.peak_memory_bytes);
        self.connections_available =
            either(self.connections_available, part.connections_available, u64::saturating_add);
        self.connections_limited_by = either(self.connections_limited_by, part.connections_limited_by, Ord::min);
        self.streams = either(self.streams, part.streams, Http2Stats::and);
        self.ticks = either(self.ticks, part.ticks, Ticks::and);
        self.skipped_lines = either(self.skipped_lines, part.skipped_lines, SkippedLines::and);
        self.busiest_worker_cpu_ns = self.busiest_worker_cpu_ns.max(part.busiest_worker_cpu_ns);
        self.surroundings = self.surroundings.and(part.surroundings);
        self.clock_steps = self.clock_steps.max(part.clock_steps);
        // The whole is no better than its worst part, and no more precise than its least precise one.
        if part.end_clock == EndClock::User {
            self.end_clock = EndClock::User;
        }
        if part.timing.precision() < self.timing.precision() {
            self.timing = part.timing;
        }
        self.realtime &= part.realtime;
        self.open_files_limit = either(self.open_files_limit, part.open_files_limit, u64::min);
        self
    }
}

/// Both together, where both are known.
fn added(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.saturating_add(b?))
}

/// Both together, or the one that is known.
fn either<T>(a: Option<T>, b: Option<T>, both: impl FnOnce(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(both(a, b)),
        (one, other) => one.or(other),
    }
}

/// A limit of the generator's machine on the connections that it can have at once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MachineLimit {
    /// The limit on the open files of a process.
    OpenFiles,
    /// The number of local ports for one destination.
    LocalPorts,
}

/// What happened on the HTTP/2 connections.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Http2Stats {
    /// The most requests in flight at once.
    pub peak: u64,
    /// The fewest requests at once that the server allowed on a connection; `None`: it set no limit.
    pub allowed: Option<u32>,
    /// Requests that were sent again on another connection, because the server closed theirs with GOAWAY before it started
    /// on them.
    #[serde(default)]
    pub sent_again: u64,
}

impl Http2Stats {
    /// Adds two of them. Peaks are added, because they may have been at the same time.
    pub fn and(self, other: Http2Stats) -> Http2Stats {
        let allowed = [self.allowed, other.allowed].into_iter().flatten().min();
        Http2Stats {
            peak: self.peak.saturating_add(other.peak),
            allowed,
            sent_again: self.sent_again.saturating_add(other.sent_again),
        }
    }
}

/// Requests that [`Timing::Auto`] held back so that several could be sent in one go.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Ticks {
    /// The longest time for which a request was to be held back.
    pub longest_ns: u64,
    /// How many requests were sent in ticks, whatever their length.
    pub requests: u64,
}

impl Ticks {
    /// Both together.
    pub fn and(self, other: Ticks) -> Ticks {
        Ticks {
            longest_ns: self.longest_ns.max(other.longest_ns),
            requests: self.requests.saturating_add(other.requests),
        }
    }
}

/// CPU time a process used.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct CpuTime {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

impl CpuTime {
    /// Both together, in nanoseconds. The numbers may be those of a file, so the sum saturates.
    pub fn total_ns(self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }
}

/// What took the processor away from the generator during the run; `None` if the system does not say.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct CpuContention {
    /// Time in which the hypervisor ran something else, all processors together.
    pub steal_ns: Option<u64>,
    /// Time in which the control group was over its quota of CPU.
    pub throttled_ns: Option<u64>,
    /// Time in which some task of the machine waited for a processor.
    pub cpu_pressure_ns: Option<u64>,
}

impl CpuContention {
    /// Both together; known where both are.
    fn and(self, other: CpuContention) -> CpuContention {
        CpuContention {
            steal_ns: added(self.steal_ns, other.steal_ns),
            throttled_ns: added(self.throttled_ns, other.throttled_ns),
            cpu_pressure_ns: added(self.cpu_pressure_ns, other.cpu_pressure_ns),
        }
    }
}

/// A period in which a worker should have run and did not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pause {
    /// Which worker.
    pub worker: u32,
    /// Its start, from the origin.
    pub at_ns: u64,
    /// How long.
    pub length_ns: u64,
}

/// How many pauses are kept one by one.
pub const LONGEST_PAUSES: usize = 100;

/// Which clock takes the end of a response time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndClock {
    /// The generator's own clock, when it had read the answer; this includes the generator's backlog.
    #[default]
    User,
    /// The kernel's clock, when the last byte of the answer reached the host.
    Kernel,
}

/// How a worker waits for the next request: a trade-off between precision and CPU time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// Sleeps, and spins before a request is due: for [`Timing::SPIN_NS`], and for longer where more than one sleep in a hundred
    /// ended later than that.
    Precise,
    /// Sleeps until a request is due or an answer comes, for as much less as its sleeps usually end late.
    #[default]
    Balanced,
    /// As [`Timing::Balanced`] while that is cheap. At higher rates it sends requests in ticks, so that sleeping takes at most
    /// 1 / [`Timing::AUTO_SHARE`] of a processor, and holds none back for more than [`Timing::AUTO_TICK_NS`].
    Auto,
    /// Sleeps until the next tick of [`Timing::TICK_NS`] and does all that has come due by then at once.
    Cheap,
}

impl Timing {
    /// A timed sleep ends some 25 µs late on a machine of today; this, at least, is waited for without sleeping.
    pub const SPIN_NS: u64 = 30_000;
    /// No request is sent later than this for the sake of cheapness.
    pub const TICK_NS: u64 = 1_000_000;
    /// The sleeps of [`Timing::Auto`] are to take at most this part of a processor: 1 / 12.
    pub const AUTO_SHARE: u64 = 12;
    /// The longest tick of [`Timing::Auto`].
    pub const AUTO_TICK_NS: u64 = 200_000;

    /// Its place in the order of precision, the least precise first.
    const fn precision(self) -> u8 {
        match self {
            Timing::Cheap => 0,
            Timing::Auto => 1,
            Timing::Balanced => 2,
            Timing::Precise => 3,
        }
    }

    /// Its name, as users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Timing::Precise => "precise",
            Timing::Balanced => "balanced",
            Timing::Auto => "auto",
            Timing::Cheap => "cheap",
        }
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
