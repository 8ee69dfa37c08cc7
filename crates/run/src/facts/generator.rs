//! Statistics of the generator and its machine.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::messages::MessageBooks;

/// Statistics of the generator about itself and its machine.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct GeneratorStats {
    /// Number of worker threads.
    pub threads: u32,
    /// CPU time during the run.
    pub cpu: CpuTime,
    /// CPU time of the busiest worker. If it is close to the elapsed time, that worker had no time to spare.
    #[serde(default)]
    pub busiest_worker_cpu_ns: u64,
    /// Causes outside the generator that took CPU time from it.
    #[serde(default)]
    pub surroundings: CpuContention,
    /// Peak resident memory, if known.
    pub peak_memory_bytes: Option<u64>,
    /// The longest pauses, longest first, at most [`LONGEST_PAUSES`].
    pub pauses: Vec<Pause>,
    /// Number of pauses.
    pub pause_count: u64,
    /// Total length of all pauses.
    pub paused_ns: u64,
    /// Connections that were opened.
    pub connections_opened: u64,
    /// Highest number of connections that were open at once.
    pub connections_peak: u64,
    /// Limit on connections that truetail itself set because of open files or local ports. `None` if the user, the load
    /// or the protocol set the limit. Waiting for one of these connections is generator lag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_available: Option<u64>,
    /// The limit of this machine that determines `connections_available`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_limited_by: Option<MachineLimit>,
    /// HTTP/2 statistics; `None` without HTTP/2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Http2Stats>,
    /// Books of messages: `messages` in `run.json`. `None` without messages.
    #[serde(skip)]
    pub messages: Option<MessageBooks>,
    /// Idle connections that were closed because bytes arrived without a request.
    pub stray_answers: u64,
    /// Lines in answer heads that are not header fields and were skipped; `None` if no line was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_lines: Option<SkippedLines>,
    /// The workers' way of waiting for the next request.
    #[serde(default)]
    pub timing: Timing,
    /// True if all workers had real-time priority.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub realtime: bool,
    /// Requests that were held back so that several could be sent together. `None` if no request was, or the timing was
    /// not [`Timing::Auto`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticks: Option<Ticks>,
    /// Duration of one clock reading, nanoseconds, measured outside the run.
    #[serde(default)]
    pub clock_reading_ns: Option<u64>,
    /// The clock that takes the end of a response time.
    #[serde(default)]
    pub end_clock: EndClock,
    /// Answers without a kernel timestamp although the kernel should set one. They end when they were read.
    #[serde(default)]
    pub unstamped: u64,
    /// Number of times that the wall clock was set during the run. Stamps from these moments are not used.
    #[serde(default)]
    pub clock_steps: u64,
    /// Soft limit on open files during the run.
    pub open_files_limit: Option<u64>,
}

/// Skipped lines in the heads of HTTP/1.1 answers: lines that are not header fields, such as a warning of an
/// interpreter, a value with a control character, or a name with a space before the colon.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SkippedLines {
    /// Number of answers with such lines.
    pub answers: u64,
    /// The first such line, shortened, with control characters escaped.
    pub first: String,
}

impl fmt::Display for SkippedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answers = if self.answers == 1 { "1 answer".to_owned() } else { format!("{} answers", self.answers) };
        write!(f, "{answers} had a header line that is not HTTP and was skipped; the first: {}", self.first)
    }
}

impl SkippedLines {
    fn merged_with(self, part: SkippedLines) -> SkippedLines {
        SkippedLines { answers: self.answers.saturating_add(part.answers), ..self }
    }
}

impl GeneratorStats {
    /// Returns the length of the longest pause, nanoseconds; 0 without pauses.
    pub fn longest_pause_ns(&self) -> u64 {
        self.pauses.iter().map(|pause| pause.length_ns).max().unwrap_or(0)
    }

    /// Combines two generators, or two workers of one, into one with the threads of both. Peaks are added because they
    /// may have coincided. Sums saturate, since files may hold any numbers.
    pub fn merged_with(mut self, part: GeneratorStats) -> GeneratorStats {
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
        self.peak_memory_bytes = sum_if_known(self.peak_memory_bytes, part.peak_memory_bytes);
        self.connections_available =
            either(self.connections_available, part.connections_available, u64::saturating_add);
        self.connections_limited_by = either(self.connections_limited_by, part.connections_limited_by, Ord::min);
        self.streams = either(self.streams, part.streams, Http2Stats::merged_with);
        self.messages = either(self.messages, part.messages, MessageBooks::merged_with);
        self.ticks = either(self.ticks, part.ticks, Ticks::merged_with);
        self.skipped_lines = either(self.skipped_lines, part.skipped_lines, SkippedLines::merged_with);
        self.busiest_worker_cpu_ns = self.busiest_worker_cpu_ns.max(part.busiest_worker_cpu_ns);
        self.surroundings = self.surroundings.and(part.surroundings);
        self.clock_steps = self.clock_steps.max(part.clock_steps);
        // The whole is as good as its worst part, and as precise as its least precise part.
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

/// Returns the sum if both numbers are known.
fn sum_if_known(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.saturating_add(b?))
}

/// Combines both values, or returns the one that is known.
fn either<T>(a: Option<T>, b: Option<T>, both: impl FnOnce(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(both(a, b)),
        (one, other) => one.or(other),
    }
}

/// Limit of the generator's machine on simultaneous connections.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MachineLimit {
    /// The limit on the open files of a process.
    OpenFiles,
    /// The number of local ports for one destination.
    LocalPorts,
}

/// Statistics of the HTTP/2 connections.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Http2Stats {
    /// Highest number of requests in flight at once.
    pub peak: u64,
    /// Lowest limit that the server set on simultaneous requests of one connection; `None` if the server set no limit.
    pub allowed: Option<u32>,
    /// Requests that were sent again, because the server closed their connection with GOAWAY before it processed them.
    #[serde(default)]
    pub sent_again: u64,
}

impl Http2Stats {
    /// Adds the statistics of another generator. Peaks are added because they may have coincided.
    pub fn merged_with(self, other: Http2Stats) -> Http2Stats {
        let allowed = [self.allowed, other.allowed].into_iter().flatten().min();
        Http2Stats {
            peak: self.peak.saturating_add(other.peak),
            allowed,
            sent_again: self.sent_again.saturating_add(other.sent_again),
        }
    }
}

/// Requests that [`Timing::Auto`] held back so that several could be sent together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Ticks {
    /// Longest tick, nanoseconds: no request was meant to be held back for longer.
    pub longest_ns: u64,
    /// Number of requests that were sent in ticks.
    pub requests: u64,
}

impl Ticks {
    /// Combines two counts.
    pub fn merged_with(self, other: Ticks) -> Ticks {
        Ticks {
            longest_ns: self.longest_ns.max(other.longest_ns),
            requests: self.requests.saturating_add(other.requests),
        }
    }
}

/// CPU time of a process, nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct CpuTime {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

impl CpuTime {
    /// Returns the sum of both times, nanoseconds. It saturates, since files may hold any numbers.
    pub fn total_ns(self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }
}

/// Causes that took the CPU from the generator during the run. A time is `None` if the system does not report it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct CpuContention {
    /// Time that the hypervisor ran something else, summed over all processors.
    pub steal_ns: Option<u64>,
    /// Time that the control group was over its CPU quota.
    pub throttled_ns: Option<u64>,
    /// Time that some task of the machine waited for a processor.
    pub cpu_pressure_ns: Option<u64>,
}

impl CpuContention {
    fn and(self, other: CpuContention) -> CpuContention {
        CpuContention {
            steal_ns: sum_if_known(self.steal_ns, other.steal_ns),
            throttled_ns: sum_if_known(self.throttled_ns, other.throttled_ns),
            cpu_pressure_ns: sum_if_known(self.cpu_pressure_ns, other.cpu_pressure_ns),
        }
    }
}

/// A period when a worker should have run but did not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pause {
    /// Index of the worker.
    pub worker: u32,
    /// Start, nanoseconds from the origin.
    pub at_ns: u64,
    /// Length, nanoseconds.
    pub length_ns: u64,
}

/// Number of pauses that are kept one by one.
pub const LONGEST_PAUSES: usize = 100;

/// The clock that takes the end of a response time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndClock {
    /// The generator's own clock, after it read the answer. The time includes the generator's backlog.
    #[default]
    User,
    /// The kernel's clock, when the last byte of the answer reached the host.
    Kernel,
}

/// Way of waiting for the next request: a trade-off between precision and CPU time.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// Sleeps, then spins until the request is due. It spins for [`Timing::SPIN_NS`], or longer if more than one sleep
    /// in a hundred ends later than that.
    Precise,
    /// Sleeps until a request is due or an answer comes. Each sleep is shortened by the usual oversleep.
    #[default]
    Balanced,
    /// Like [`Timing::Balanced`] while that is cheap, else in ticks of at most [`Timing::AUTO_TICK_NS`]. Sleeping then
    /// takes at most 1 / [`Timing::AUTO_SHARE`] of a processor.
    Auto,
    /// Sleeps until the next tick of [`Timing::TICK_NS`], then does everything that has become due.
    Cheap,
}

impl Timing {
    /// Shortest time to spin before a request. Today's machines oversleep by about 25 µs.
    pub const SPIN_NS: u64 = 30_000;
    /// Longest delay of a request for the sake of lower CPU use.
    pub const TICK_NS: u64 = 1_000_000;
    /// The sleeps of [`Timing::Auto`] take at most this part of a processor: 1 / 12.
    pub const AUTO_SHARE: u64 = 12;
    /// The longest tick of [`Timing::Auto`].
    pub const AUTO_TICK_NS: u64 = 200_000;

    /// Returns the rank in the order of precision, least precise first.
    const fn precision(self) -> u8 {
        match self {
            Timing::Cheap => 0,
            Timing::Auto => 1,
            Timing::Balanced => 2,
            Timing::Precise => 3,
        }
    }

    /// Returns the name that users write.
    pub const fn name(self) -> &'static str {
        match self {
            Timing::Precise => "precise",
            Timing::Balanced => "balanced",
            Timing::Auto => "auto",
            Timing::Cheap => "cheap",
        }
    }
}

/// The machine that sent the load.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct HostInfo {
    /// Operating system, such as `linux`.
    pub os: String,
    /// Kernel release, if known.
    pub kernel: Option<String>,
    /// Architecture, such as `x86_64`.
    pub arch: String,
    /// Model of the processor, if known.
    pub cpu_model: Option<String>,
    /// Number of processors that this process may use.
    pub cpus: u32,
    /// Main memory, if known.
    pub memory_bytes: Option<u64>,
}
