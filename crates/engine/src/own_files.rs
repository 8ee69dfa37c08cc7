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
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    use std::thread;

    use super::*;

    /// Whether a descriptor is open, by the table of the calling thread.
    fn is_open(descriptor: i32) -> bool {
        // SAFETY: the call takes two numbers, and only asks.
        unsafe { libc::fcntl(descriptor, libc::F_GETFD) >= 0 }
    }

    #[test]
    fn what_one_thread_has_open_is_nothing_to_the_others() {
        let (mut reading, mut writing) = std::io::pipe().unwrap();
        let number = writing.as_raw_fd();
        let (own, before, after) = thread::spawn(move || {
            let before = is_open(number);
            // SAFETY: the pipe belongs to another thread, and this one opens nothing.
            (unsafe { take() }, before, is_open(number))
        })
        .join()
        .unwrap();
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

    #[test]
    fn signals_are_for_the_others_but_for_faults() {
        use nix::sys::signal::{SIGFPE, SIGINT, SIGPROF, SIGSEGV, SIGTERM};
        let blocked = thread::spawn(|| {
            // SAFETY: this thread uses no file at all.
            (unsafe { take() }, SigSet::thread_get_mask().unwrap())
        });
        let (own, blocked) = blocked.join().unwrap();
        for signal in [SIGINT, SIGTERM, SIGPROF] {
            assert_eq!(blocked.contains(signal), own, "{signal}");
        }
        assert!(!blocked.contains(SIGSEGV) && !blocked.contains(SIGFPE));
    }
}
