//! Facts about this machine and this process. A fact is `None` if the system does not tell it.

pub(crate) mod surroundings;
mod thread_priority;

use std::fs;

use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use truetail_model::time::{NANOS_PER_SECOND, Nanos};
use truetail_run::{CpuTime, HostInfo};

pub use thread_priority::{lower_thread_priority, run_at_real_time};

/// The limits on open files of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenFileLimits {
    /// The current limit.
    pub soft: u64,
    /// The highest limit that the process may set itself.
    pub hard: u64,
}

/// Returns the limits on open files.
pub fn open_file_limits() -> Option<OpenFileLimits> {
    getrlimit(Resource::RLIMIT_NOFILE).ok().map(|(soft, hard)| OpenFileLimits { soft, hard })
}

/// Raises the soft limit on open files to the hard limit if possible, and returns the resulting limits.
pub fn raise_open_file_limit() -> Option<OpenFileLimits> {
    let limits = open_file_limits()?;
    if limits.soft < limits.hard {
        // A refusal leaves the limit unchanged, which shows in the result.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, limits.hard, limits.hard);
    }
    open_file_limits()
}

/// Returns the number of files that this process has open, or a guess if the system does not tell.
pub fn open_file_count() -> u64 {
    fs::read_dir("/proc/self/fd").map_or(8, |entries| entries.count() as u64)
}

/// Returns the lowest and the highest local port that the system assigns.
pub(crate) fn local_port_range() -> Option<(u16, u16)> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ends = text.split_whitespace().map(|n| n.parse::<u16>().ok());
    let low = ends.next()??;
    let high = ends.next()??;
    (low <= high).then_some((low, high))
}

/// Returns the number of local ports that the system assigns for one destination.
pub fn local_ports() -> Option<u32> {
    local_port_range().map(|(low, high)| u32::from(high - low) + 1)
}

/// Returns the number of processors that this process may use.
pub fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Returns the CPU time of the calling thread; outside Linux, that of the whole process.
pub(crate) fn thread_cpu() -> CpuTime {
    #[cfg(target_os = "linux")]
    let who = UsageWho::RUSAGE_THREAD;
    #[cfg(not(target_os = "linux"))]
    let who = UsageWho::RUSAGE_SELF;
    let nanos = |t: nix::sys::time::TimeVal| (t.tv_sec() as u64) * 1_000_000_000 + (t.tv_usec() as u64) * 1_000;
    getrusage(who).map_or_else(
        |_| CpuTime::default(),
        |usage| CpuTime { user_ns: nanos(usage.user_time()), system_ns: nanos(usage.system_time()) },
    )
}

/// Returns the processor time of the calling thread, to the nanosecond.
pub fn thread_cpu_time() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Nanos(time.tv_sec as u64 * NANOS_PER_SECOND + time.tv_nsec as u64)
}

/// Returns the peak resident memory of this process, in bytes.
pub fn peak_memory_bytes() -> Option<u64> {
    kibibytes_of(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// Returns the number after `key` in a file of `key  N kB` lines, converted to bytes.
fn kibibytes_of(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Returns system, kernel, processors and memory of this machine.
pub fn describe() -> HostInfo {
    let cpu_model = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        text.lines()
            .find(|line| line.starts_with("model name"))
            .and_then(|line| line.split_once(':'))
            .map(|(_, model)| model.trim().to_owned())
    });
    HostInfo {
        os: std::env::consts::OS.to_owned(),
        kernel: fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned()),
        arch: std::env::consts::ARCH.to_owned(),
        cpu_model,
        cpus: cpus(),
        memory_bytes: fs::read_to_string("/proc/meminfo").ok().and_then(|text| kibibytes_of(&text, "MemTotal:")),
    }
}
