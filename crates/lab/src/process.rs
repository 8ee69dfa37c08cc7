//! Runs a process in a new process group, ends the whole group, and measures its use of resources.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde::{Deserialize, Serialize};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::MonotonicClock;
use truetail_run::CpuTime;

use crate::cancel::CancelToken;
use crate::peak_memory::PeakMemory;

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Time from SIGTERM to SIGKILL.
const TERM_GRACE: Nanos = Nanos::from_secs(3);

/// Reason that a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The process exited.
    Itself,
    /// The laboratory ended it at its time limit.
    TimeLimit,
    /// The user cancelled it.
    User,
}

impl EndedBy {
    /// Returns `itself`, `the time limit` or `the user`.
    pub const fn name(self) -> &'static str {
        match self {
            EndedBy::Itself => "itself",
            EndedBy::TimeLimit => "the time limit",
            EndedBy::User => "the user",
        }
    }
}

/// The end of a process, and its use of resources.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProcessExit {
    /// Reason of the end.
    pub by: EndedBy,
    /// Exit code; `None` if a signal ended the process.
    pub exit_code: Option<i32>,
    /// Signal that ended the process.
    pub signal: Option<i32>,
    /// Time from start to exit in nanoseconds, to within 20 ms.
    pub wall_ns: u64,
    /// CPU time, including that of children that the process waited for.
    pub cpu: CpuTime,
    /// The largest resident memory of any one process in the group, sampled every 200 ms; `None` if the system does
    /// not report it.
    pub peak_memory_bytes: Option<u64>,
}

/// A process to start.
#[derive(Debug)]
pub struct ProcessSpec<'a> {
    /// Program and arguments; never empty.
    pub argv: &'a [String],
    /// Environment variables added to the inherited ones.
    pub env: &'a [(String, String)],
    /// Working directory.
    pub folder: &'a Path,
    /// Standard input; empty if `None`.
    pub stdin: Option<File>,
    /// Standard output.
    pub stdout: File,
    /// Standard error.
    pub stderr: File,
    /// Time after which the process is ended.
    pub limit: Nanos,
}

/// Runs the process until it exits, reaches its limit or is cancelled. No process of its group survives.
///
/// # Errors
/// If the process cannot be started or reaped.
pub fn run(spec: ProcessSpec<'_>, token: &CancelToken) -> io::Result<ProcessExit> {
    let (program, args) = spec.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(args).envs(spec.env.iter().cloned()).current_dir(spec.folder).process_group(0);
    command.stdin(spec.stdin.map_or(Stdio::null(), Stdio::from)).stdout(spec.stdout).stderr(spec.stderr);
    let clock = MonotonicClock::starting_now();
    // `reap` waits for the child instead of this handle, because it also returns the CPU time.
    let child = token.spawn_leader(|| command.spawn())?;
    let pid = Pid::from_child(&child);
    let mut memory = PeakMemory::for_group(child.id());
    let by = supervise(pid, &clock, spec.limit, token, &mut memory);
    let wall_ns = clock.now().since_origin().0;
    // The id of the group cannot be reused until its leader is reaped.
    let _ = kill_process_group(pid, Signal::KILL);
    token.end_leader();
    let (exit_code, signal, cpu) = reap(pid)?;
    Ok(ProcessExit { by, exit_code, signal, wall_ns, cpu, peak_memory_bytes: memory.peak_bytes() })
}

/// Polls the process until it has ended. Ends it at its limit or if it is cancelled.
fn supervise(pid: Pid, clock: &MonotonicClock, limit: Nanos, token: &CancelToken, memory: &mut PeakMemory) -> EndedBy {
    let mut by = EndedBy::Itself;
    let mut kill_at = Timestamp::NEVER;
    while !has_ended(pid) {
        memory.sample();
        let now = clock.now();
        if by == EndedBy::Itself && (token.is_cancelled() || now.since_origin() >= limit) {
            by = if token.is_cancelled() { EndedBy::User } else { EndedBy::TimeLimit };
            kill_at = now + TERM_GRACE;
            let _ = kill_process_group(pid, Signal::TERM);
        }
        if now >= kill_at {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        thread::sleep(POLL_INTERVAL);
    }
    by
}

/// Returns true if the process has ended. Does not reap it.
fn has_ended(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None) | Err(rustix::io::Errno::INTR))
}

/// Reaps an ended process. Returns its exit code, signal and CPU time.
fn reap(pid: Pid) -> io::Result<(Option<i32>, Option<i32>, CpuTime)> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are valid for writes during the call. A zeroed `rusage` holds only integers, so it is
    // initialised whether the call succeeds or fails.
    let (reaped, usage) = unsafe {
        let reaped = libc::wait4(pid.as_raw_nonzero().get(), &raw mut status, 0, usage.as_mut_ptr());
        (reaped, usage.assume_init())
    };
    if reaped < 0 {
        return Err(io::Error::last_os_error());
    }
    let exit_code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
    Ok((exit_code, signal, CpuTime { user_ns: nanos(usage.ru_utime), system_ns: nanos(usage.ru_stime) }))
}

fn nanos(time: libc::timeval) -> u64 {
    (time.tv_sec as u64) * 1_000_000_000 + (time.tv_usec as u64) * 1_000
}
