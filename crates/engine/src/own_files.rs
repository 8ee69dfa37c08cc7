//! A worker's own table of open files.
//!
//! All threads of a process share one, as a rule. Then each call that names a descriptor has to hold on to the file and let
//! go of it again, since another thread might close it meanwhile, and each connection that is opened or closed takes a lock
//! that all workers share. A thread whose table is its own spares both: a fiftieth of a closed loop's processor time.

#[cfg(target_os = "linux")]
use nix::sys::signal::SigSet;

/// Gives the calling thread, which is to run a worker, a table of its own in which only standard input, output and error
/// are open. True if that was done; where the system cannot do it nothing changes.
///
/// Signals that are meant for the process are handled by other threads from here on: a handler that writes to a descriptor
/// would find another file behind its number here.
///
/// # Safety
/// From here on this thread uses no descriptor that was opened before the call, but for those of the three standard
/// streams, nor does it drop one or leave one behind for another thread.
#[cfg(target_os = "linux")]
pub(crate) unsafe fn take() -> bool {
    /// The first descriptor after those of the standard streams.
    const FIRST: libc::c_uint = 3;
    if !random_numbers_need_no_file() {
        return false;
    }
    let Ok(before) = SigSet::thread_get_mask() else { return false };
    if signals_for_the_process().thread_block().is_err() {
        return false;
    }
    // The call itself, since older C libraries have no function for it. With this flag it takes a copy of the table that
    // the range is left out of, also where a container forbids unshare(2). Linux 5.9 and later.
    // SAFETY: the call takes three numbers and touches no memory of this process. What it closes is closed in this
    // thread's table only, since others use the one that it had; and of what is in it the caller promises to use nothing.
    let result = unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE) };
    if result != 0 {
        let _ = before.thread_set_mask();
    }
    result == 0
}

/// Libraries that want random numbers open a file for them, and keep it for all threads, where getrandom(2) is refused.
#[cfg(target_os = "linux")]
fn random_numbers_need_no_file() -> bool {
    let mut byte = 0u8;
    // SAFETY: the kernel writes one byte at most, to `byte`, which outlives the call.
    unsafe { libc::getrandom((&raw mut byte).cast(), 1, libc::GRND_NONBLOCK) == 1 }
}

/// All but those that a thread raises by a fault of its own: whoever handles those is to learn of them.
#[cfg(target_os = "linux")]
fn signals_for_the_process() -> SigSet {
    use nix::sys::signal::Signal::{SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    let mut signals = SigSet::all();
    [SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP].into_iter().for_each(|own| signals.remove(own));
    signals
}

/// Elsewhere there is one table for all.
///
/// # Safety
/// None is needed.
#[cfg(not(target_os = "linux"))]
pub(crate) unsafe fn take() -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;
    use std::path::PathBuf;
    use std::thread;

    use truetail_model::arrival::Horizon;
    use truetail_model::time::Nanos;
    use truetail_model::workload::{Limits, LoadModel, Workload};

    use super::*;
    use crate::{Control, Method, Plan, Target};

    /// Whether a descriptor is open, by the table of the calling thread.
    fn is_open(descriptor: i32) -> bool {
        // SAFETY: the call takes two numbers, and only asks.
        unsafe { libc::fcntl(descriptor, libc::F_GETFD) >= 0 }
    }

    #[test]
    fn what_one_thread_has_open_is_nothing_to_the_others() {
        let (mut reading, mut writing) = std::io::pipe().unwrap();
        let number = writing.as_raw_fd();
        let theirs = thread::spawn(move || (is_open(number), take_and_do_nothing(), is_open(number)));
        let (before, own, after) = theirs.join().unwrap();
        if !own {
            eprintln!("SKIPPED: this system gives no thread a table of its own");
            return;
        }
        assert!(before && !after, "the pipe was not closed in the thread's table");
        writing.write_all(b"x").unwrap();
        drop(writing);
        let mut all = Vec::new();
        reading.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"x", "here the pipe is open, and ends when it is closed here");
    }

    /// What the threads of this process that run workers have open.
    fn files_of_workers() -> Vec<PathBuf> {
        let tasks = fs::read_dir("/proc/self/task").unwrap().filter_map(|task| Some(task.ok()?.path()));
        let workers =
            tasks.filter(|task| fs::read(task.join("comm")).is_ok_and(|name| name.starts_with(b"truetail-0")));
        let files = workers.filter_map(|worker| fs::read_dir(worker.join("fd")).ok()).flatten();
        files.filter_map(|file| fs::read_link(file.ok()?.path()).ok()).collect()
    }

    #[test]
    fn a_worker_in_a_run_has_connections_and_none_of_its_callers_files() {
        if !thread::spawn(take_and_do_nothing).join().unwrap() {
            eprintln!("SKIPPED: this system gives no thread a table of its own");
            return;
        }
        let (_reading, writing) = std::io::pipe().unwrap();
        let callers = fs::read_link(format!("/proc/self/fd/{}", writing.as_raw_fd())).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        // Nobody answers: the one connection is there until the run is stopped.
        let model = LoadModel::Closed { users: 1, think_time: Nanos::ZERO, horizon: Horizon::default() };
        let workload = Workload { model, limits: Limits::default(), warmup: Nanos::ZERO };
        let plan = Plan::new(workload, Target::resolve(Method::Get, &url, &[], Vec::new()).unwrap());
        let control = Control::new();
        let running = thread::spawn({
            let control = control.clone();
            move || crate::run(&plan, &control).map(|measured| measured.snapshot.tally.in_flight_at_end)
        });
        let accepted = listener.accept().unwrap();
        let files = files_of_workers();
        control.stop_now();
        assert_eq!(running.join().unwrap().unwrap(), 1);
        drop(accepted);
        assert!(files.iter().any(|file| file.to_string_lossy().starts_with("socket:")), "{files:?}");
        assert!(!files.contains(&callers), "{files:?}");
    }

    fn take_and_do_nothing() -> bool {
        // SAFETY: whoever calls it opens and uses no file before its thread ends.
        unsafe { take() }
    }

    #[test]
    fn signals_are_for_the_others_but_for_faults() {
        use nix::sys::signal::{SIGFPE, SIGINT, SIGPROF, SIGSEGV, SIGTERM};
        let blocked = thread::spawn(|| (take_and_do_nothing(), SigSet::thread_get_mask().unwrap()));
        let (own, blocked) = blocked.join().unwrap();
        for signal in [SIGINT, SIGTERM, SIGPROF] {
            assert_eq!(blocked.contains(signal), own, "{signal}");
        }
        assert!(!blocked.contains(SIGSEGV) && !blocked.contains(SIGFPE));
    }
}
