//! A worker's own table of open files.
//!
//! All threads of a process share one, as a rule. Then each call that names a descriptor has to hold on to the file and let
//! go of it again, since another thread might close it meanwhile, and each connection that is opened or closed takes a lock
//! that all workers share. A thread whose table is its own spares both: a fiftieth of a closed loop's processor time.

/// Gives the calling thread, which is to run a worker, a table of its own in which only standard input, output and error
/// are open. True if that was done; where the system cannot do it nothing changes but the cost.
///
/// Signals are handled by other threads from here on: a handler that writes to a descriptor would find another file behind
/// its number here.
///
/// # Safety
/// From here on this thread uses no descriptor that was opened before the call, but for those of the three standard
/// streams, nor does it drop one or leave one behind for another thread.
#[cfg(target_os = "linux")]
pub(crate) unsafe fn take() -> bool {
    /// The first descriptor after those of the standard streams.
    const FIRST: libc::c_uint = 3;
    if block_signals().is_err() {
        return false;
    }
    // The call itself, since older C libraries have no function for it. With this flag it takes a copy of the table that
    // the range is left out of, also where a container forbids unshare(2). Linux 5.9 and later.
    // SAFETY: the call takes three numbers and touches no memory of this process. What it closes is closed in this
    // thread's table only, of which the caller promises that nothing in it is used.
    let result = unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE) };
    result == 0
}

/// Elsewhere there is one table for all.
///
/// # Safety
/// None is needed.
#[cfg(not(target_os = "linux"))]
pub(crate) unsafe fn take() -> bool {
    false
}

/// For the calling thread.
#[cfg(target_os = "linux")]
fn block_signals() -> nix::Result<()> {
    nix::sys::signal::SigSet::all().thread_block()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;
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
        let (own, before, after, theirs) = thread::spawn(move || {
            let before = is_open(number);
            // SAFETY: the pipe belongs to another thread, and what is opened below is opened after the call.
            let own = unsafe { take() };
            let after = is_open(number);
            let many: Vec<File> = (0..64).map(|_| File::open("/dev/null").unwrap()).collect();
            (own, before, after, many.iter().any(|file| file.as_raw_fd() == number))
        })
        .join()
        .unwrap();
        if !own {
            eprintln!("SKIPPED: this system gives no thread a table of its own");
            return;
        }
        assert!(before && !after, "the pipe was not closed in the thread's table");
        assert!(theirs, "its number can be had there");
        writing.write_all(b"x").unwrap();
        drop(writing);
        let mut all = Vec::new();
        reading.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"x", "here the pipe is open, and ends when it is closed here");
    }

    #[test]
    fn signals_are_for_the_others() {
        let blocked = thread::spawn(|| {
            // SAFETY: this thread uses no file at all.
            unsafe { take() };
            nix::sys::signal::SigSet::thread_get_mask().unwrap()
        });
        let blocked = blocked.join().unwrap();
        for signal in [nix::sys::signal::SIGINT, nix::sys::signal::SIGTERM, nix::sys::signal::SIGPROF] {
            assert!(blocked.contains(signal), "{signal}");
        }
    }
}
