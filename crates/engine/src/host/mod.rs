//! Facts about this machine and this process. A fact is `None` if the system does not tell it.

mod look;
pub(crate) mod surroundings;

use std::io;

use nix::sys::resource::{Resource, getrlimit, getrusage, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use truetail_model::time::{NANOS_PER_SECOND, Nanos};
use truetail_reactor::{clock_reading_ns, contention, machine, stamps, threads};
use truetail_run::{ClockFacts, CpuTime, HostInfo, MachineFacts};

pub use truetail_reactor::{
    LINUX_SERVICES,
    machine::ignores as ignores_signal,
    threads::{lower_priority as lower_thread_priority, run_at_real_time},
};

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
    machine::open_files().unwrap_or(8)
}

/// Returns the number of local ports that the system assigns for one destination.
pub fn local_ports() -> Option<u32> {
    machine::local_port_range().map(|(low, high)| u32::from(high - low) + 1)
}

/// Returns the number of processors that this process may use.
pub fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Returns the number of processors of this machine, with those that this process may not use.
pub(crate) fn machine_cpus() -> u32 {
    machine::online_cpus().unwrap_or_else(cpus)
}

/// Reads what may disturb a measurement on this machine, and looks at it for a second.
///
/// # Errors
/// If the process has no free file descriptor.
pub fn examine() -> io::Result<MachineFacts> {
    Ok(MachineFacts {
        cpus: cpus(),
        quota: contention::cpu_quota(),
        open_files: open_file_limits().map(|limits| limits.hard),
        local_ports: local_ports(),
        clock: ClockFacts {
            source: machine::clock_source(),
            available: machine::clock_sources(),
            reading_ns: clock_reading_ns(),
        },
        governor: machine::governor(),
        has_stamps: stamps::ARE_AVAILABLE && stamps::switch_on().is_some(),
        may_run_at_real_time: may_run_at_real_time(),
        look: look::look()?,
    })
}

/// Returns true if threads of this process may run at real time. Tries it in a thread that ends at once.
fn may_run_at_real_time() -> bool {
    std::thread::spawn(|| threads::run_at_real_time().is_ok()).join().unwrap_or(false)
}

/// Returns the CPU time of the calling thread; outside Linux, that of the whole process.
pub(crate) fn thread_cpu() -> CpuTime {
    let nanos = |t: nix::sys::time::TimeVal| (t.tv_sec() as u64) * 1_000_000_000 + (t.tv_usec() as u64) * 1_000;
    getrusage(threads::USAGE).map_or_else(
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
    machine::peak_memory_bytes(None)
}

/// Returns system, kernel, processors and memory of this machine.
pub fn describe() -> HostInfo {
    HostInfo {
        os: std::env::consts::OS.to_owned(),
        kernel: machine::kernel(),
        arch: std::env::consts::ARCH.to_owned(),
        cpu_model: machine::cpu_model(),
        cpus: cpus(),
        memory_bytes: machine::memory_bytes(),
    }
}
