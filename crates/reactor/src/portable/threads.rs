//! All threads are equal, and share the process's time.

use std::io;

use nix::sys::resource::UsageWho;

/// Whose processor time counts as that of the calling thread: the whole process's.
pub const USAGE: UsageWho = UsageWho::RUSAGE_SELF;

/// Does nothing: sleeps end as late as the system likes.
pub fn minimize_timer_slack() {}

/// Does nothing: threads that show or save a run compete with its workers.
pub fn lower_priority() {}

/// Refuses.
///
/// # Errors
/// Always.
pub fn run_at_real_time() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
