//! Timer slack, priority and processor time of threads.

use std::io;
use std::num::NonZeroU64;

use nix::sys::resource::UsageWho;
use syscalls::{Sysno, syscall};

/// Whose processor time counts as that of the calling thread.
pub const USAGE: UsageWho = UsageWho::RUSAGE_THREAD;

/// Asks the kernel not to delay timed sleeps of this thread to batch them with other threads': a timer slack of 1 ns
/// instead of 50 µs.
pub fn minimize_timer_slack() {
    let _ = rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN));
}

/// Lowers the priority of the calling thread, so that the workers of a run go first.
pub fn lower_priority() {
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 10);
}

/// Gives the calling thread the lowest real-time priority. It runs before all threads without real-time priority.
///
/// # Errors
/// If this process lacks the permission.
pub fn run_at_real_time() -> io::Result<()> {
    const CALLING_THREAD: usize = 0;
    let priority: libc::c_int = 1;
    // Makes the system call directly, because not every C library passes it on.
    // SAFETY: the kernel reads a `sched_param`, which is one `int`, at the last argument and keeps no pointer.
    let set = unsafe { syscall!(Sysno::sched_setscheduler, CALLING_THREAD, libc::SCHED_RR, &raw const priority) };
    set.map(|_| ()).map_err(|error| io::Error::from_raw_os_error(error.into_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns policy and priority of the calling thread: fields 41 and 40 of its `stat` (proc_pid_stat(5)).
    fn scheduling() -> (i32, i32) {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("what every process may read");
        let fields: Vec<i64> = stat
            .rsplit_once(')')
            .map(|(_, after)| after.split_whitespace().map(|field| field.parse().unwrap_or(-1)).collect())
            .expect("a name in brackets");
        (fields[41 - 3] as i32, fields[40 - 3] as i32)
    }

    #[test]
    fn real_time_is_for_the_calling_thread_or_refused() {
        let other = std::thread::spawn(|| (run_at_real_time().map_err(|error| error.kind()), scheduling()));
        match other.join().expect("no assertion in it") {
            (Ok(()), seen) => assert_eq!(seen, (libc::SCHED_RR, 1)),
            (Err(kind), (policy, _)) => {
                assert_eq!((kind, policy), (io::ErrorKind::PermissionDenied, libc::SCHED_OTHER));
            }
        }
        assert_eq!(scheduling().0, libc::SCHED_OTHER);
    }
}
