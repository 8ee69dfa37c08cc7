//! Cancelling a laboratory run from another thread.

use std::io;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// A request to stop, shared by all its clones.
#[derive(Clone, Default, Debug)]
pub struct CancelToken(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    cancelled: AtomicBool,
    /// The running process group, while its leader is not reaped.
    running: Mutex<Option<Pid>>,
}

impl CancelToken {
    /// Creates a token that is not cancelled.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Asks the running process to end (SIGTERM, then SIGKILL), and prevents the start of another.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
    }

    /// Returns true if [`CancelToken::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Cancels, and kills the running process group at once. Meant for a program that is about to exit.
    pub fn kill(&self) {
        self.cancel();
        // The id of the group cannot be reused here: its leader is reaped only after `end_leader`.
        let running = self.0.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = *running {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Starts the leader of a process group, which [`CancelToken::kill`] kills from then on.
    pub(crate) fn spawn_leader(&self, spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
        let mut running = self.0.running.lock().unwrap_or_else(PoisonError::into_inner);
        let child = spawn()?;
        *running = Some(Pid::from_child(&child));
        Ok(child)
    }

    /// Marks the group as ended, before its leader is reaped.
    pub(crate) fn end_leader(&self) {
        *self.0.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
