//! What is known of this machine and this process. Absent where the system does not say.

use std::fs;

use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use truetail_run::{CpuTime, HostInfo};

/// Limits on open files of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenFiles {
    /// In force.
    pub soft: u64,
    /// The highest the process may set by itself.
    pub hard: u64,
}

/// The limits on open files; `None` where the system does not say.
pub fn open_files() -> Option<OpenFiles> {
    getrlimit(Resource::RLIMIT_NOFILE).ok().map(|(soft, hard)| OpenFiles { soft, hard })
}

/// Raises the soft limit on open files to the hard one, and says what is in force then.
pub fn raise_open_files() -> Option<OpenFiles> {
    let limits = open_files()?;
    if limits.soft < limits.hard {
        // A refusal leaves the limit as it is, which the answer then says.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, limits.hard, limits.hard);
    }
    open_files()
}

/// Files that this process has open.
pub fn files_in_use() -> u64 {
    fs::read_dir("/proc/self/fd").map_or(8, |entries| entries.count() as u64)
}

/// The lowest and the highest local port that the system hands out by itself.
pub(crate) fn local_port_range() -> Option<(u16, u16)> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ends = text.split_whitespace().map(|n| n.parse::<u16>().ok());
    let (low, high) = (ends.next()??, ends.next()??);
    (low <= high).then_some((low, high))
}

/// How many local ports the system hands out for one destination.
pub fn local_ports() -> Option<u32> {
    local_port_range().map(|(low, high)| u32::from(high - low) + 1)
}

/// Processors this process may use.
pub fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// CPU time of the calling thread so far (of the whole process where the system knows no threads).
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

/// Gives the calling thread a low priority, so that the workers of a run go first; without effect where the system knows
/// no priority of a thread.
pub fn let_others_go_first() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 10);
}

/// Most memory that was resident in this process so far.
pub fn peak_memory_bytes() -> Option<u64> {
    kibibytes_of(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The number after `key` in a file of `key  N kB` lines, in bytes.
fn kibibytes_of(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// This machine.
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
