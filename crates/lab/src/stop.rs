//! A wish to end, from another thread.

use std::io;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// Says to everybody who holds a clone of it that the user wants to end.
#[derive(Clone, Default, Debug)]
pub struct Stop(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    wanted: AtomicBool,
    /// The process group that runs, whose leader is not reaped.
    running: Mutex<Option<Pid>>,
}

impl Stop {
    /// Nobody wants to end yet.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Ends what runs, and begins nothing more.
    pub fn now(&self) {
        self.0.wanted.store(true, Ordering::Release);
    }

    /// Was it wanted?
    pub fn wanted(&self) -> bool {
        self.0.wanted.load(Ordering::Acquire)
    }

    /// Ends what runs, with all its children, without asking it: for a process that is about to end itself.
    pub fn kill(&self) {
        self.now();
        // The group cannot become anybody else's meanwhile: its leader is reaped only after [`Stop::ended`].
        let running = self.0.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = *running {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Starts the leader of a process group, which [`Stop::kill`] ends from then on.
    ///
    /// # Errors
    /// Those of `spawn`.
    pub(crate) fn starting(&self, spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
        let mut running = self.0.running.lock().unwrap_or_else(PoisonError::into_inner);
        let child = spawn()?;
        *running = Some(Pid::from_child(&child));
        Ok(child)
    }

    /// The group that was started has ended, and its leader is about to be reaped.
    pub(crate) fn ended(&self) {
        *self.0.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
