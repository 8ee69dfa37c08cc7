//! One process and its children: started in a group of its own, watched, ended with all of them, and what it used.

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

use crate::Stop;
use crate::memory::Memory;

/// Between two looks at a process.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// After being asked to end, so long a process may take before it is ended.
const LAST_WORDS: Nanos = Nanos::from_secs(3);

/// Who ended a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// It did.
    Itself,
    /// The laboratory: it had taken too long.
    TimeLimit,
    /// The user: everything was to stop.
    User,
}

impl EndedBy {
    /// `itself`, `the time limit` or `the user`.
    pub const fn name(self) -> &'static str {
        match self {
            EndedBy::Itself => "itself",
            EndedBy::TimeLimit => "the time limit",
            EndedBy::User => "the user",
        }
    }
}

/// How a process ended, and what it used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// Who ended it.
    pub by: EndedBy,
    /// Its exit code; `None` when a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// From its start to its end, to some 20 ms.
    pub wall_ns: u64,
    /// CPU time of it and of those of its children that it waited for.
    pub cpu: CpuTime,
    /// The most memory that was resident in one process of its group, as read every 200 ms; `None` where the system does
    /// not say.
    pub peak_memory_bytes: Option<u64>,
}

/// What is to be started.
#[derive(Debug)]
pub struct Job<'a> {
    /// Program and arguments; never empty.
    pub argv: &'a [String],
    /// Variables beside those there are.
    pub env: &'a [(String, String)],
    /// Where it runs.
    pub folder: &'a Path,
    /// What it reads; nothing where `None`.
    pub stdin: Option<File>,
    /// Where it prints.
    pub stdout: File,
    /// Where it complains.
    pub stderr: File,
    /// It is ended when it has taken so long.
    pub limit: Nanos,
}

/// Runs it to its end, to its limit, or until `stop`. Then nothing of its process group is left.
///
/// # Errors
/// When it cannot be started.
pub fn run(job: Job<'_>, stop: &Stop) -> io::Result<Ended> {
    let (program, args) = job.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(args).envs(job.env.iter().cloned()).current_dir(job.folder).process_group(0);
    command.stdin(job.stdin.map_or(Stdio::null(), Stdio::from)).stdout(job.stdout).stderr(job.stderr);
    let clock = MonotonicClock::starting_now();
    // Never waited for by this handle: `reap` does it, and asks what was used.
    let child = stop.starting(|| command.spawn())?;
    let pid = Pid::from_child(&child);
    let mut memory = Memory::of_group(child.id());
    let by = watch(pid, &clock, job.limit, stop, &mut memory);
    let wall_ns = clock.now().since_origin().0;
    // While its leader is not reaped, the number of the group cannot be anybody else's.
    let _ = kill_process_group(pid, Signal::KILL);
    stop.ended();
    let (exit_code, signal, cpu) = reap(pid)?;
    Ok(Ended { by, exit_code, signal, wall_ns, cpu, peak_memory_bytes: memory.peak_bytes() })
}

/// Looks at it until it has ended, and sees to it that it does.
fn watch(pid: Pid, clock: &MonotonicClock, limit: Nanos, stop: &Stop, memory: &mut Memory) -> EndedBy {
    let mut by = EndedBy::Itself;
    let mut kill_at = Timestamp::NEVER;
    while !has_ended(pid) {
        memory.watch();
        let now = clock.now();
        if by == EndedBy::Itself && (stop.wanted() || now.since_origin() >= limit) {
            by = if stop.wanted() { EndedBy::User } else { EndedBy::TimeLimit };
            kill_at = now + LAST_WORDS;
            let _ = kill_process_group(pid, Signal::TERM);
        }
        if now >= kill_at {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        thread::sleep(LOOK_EVERY);
    }
    by
}

/// Has it ended? It stays to be reaped.
fn has_ended(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(pid), options), Ok(None) | Err(rustix::io::Errno::INTR))
}

/// Reaps a process that has ended: exit code, signal, and CPU time.
fn reap(pid: Pid) -> io::Result<(Option<i32>, Option<i32>, CpuTime)> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are valid for writing for the whole call, and a zeroed `rusage`, which is made of integers
    // only, is a valid one whatever the call does.
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
