//! How a run is watched and ended from outside.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use truetail_reactor::Waker;

use crate::live::{Live, Progress};

/// What was asked of the workers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Asked {
    /// Nothing: go on.
    GoOn,
    /// Send nothing more, wait for what is in flight, within the drain limit.
    Stop,
    /// End now.
    StopNow,
}

/// A handle to a run, to be kept while [`crate::run`] is busy. Clones are the same handle.
#[derive(Clone, Default, Debug)]
pub struct Control(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    asked: AtomicU8,
    workers: Mutex<Vec<(Waker, Arc<Live>)>>,
}

impl Control {
    /// A handle for a run that has not begun.
    pub fn new() -> Control {
        Control::default()
    }

    /// Stop sending, drain, report. Arrivals intended after this moment are not planned any more.
    pub fn stop(&self) {
        self.ask(Asked::Stop);
    }

    /// Stop at once: what is in flight is counted as in flight at the end.
    pub fn stop_now(&self) {
        self.ask(Asked::StopNow);
    }

    /// Somebody asked the run to end before its time.
    pub fn was_stopped(&self) -> bool {
        self.asked() != Asked::GoOn
    }

    /// How the run stands. All zero before it begins.
    pub fn progress(&self) -> Progress {
        let workers = self.0.workers.lock().expect("no holder of this lock panics");
        Progress::of(workers.iter().map(|(_, live)| &**live))
    }

    pub(crate) fn asked(&self) -> Asked {
        match self.0.asked.load(Ordering::Relaxed) {
            0 => Asked::GoOn,
            1 => Asked::Stop,
            _ => Asked::StopNow,
        }
    }

    pub(crate) fn attach(&self, waker: Waker, live: Arc<Live>) {
        self.0.workers.lock().expect("no holder of this lock panics").push((waker, live));
    }

    fn ask(&self, what: Asked) {
        self.0.asked.fetch_max(what as u8, Ordering::Relaxed);
        let workers = self.0.workers.lock().expect("no holder of this lock panics");
        workers.iter().for_each(|(waker, _)| waker.wake());
    }
}
