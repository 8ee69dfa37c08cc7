//! How a run is watched and ended from outside.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use truetail_model::record::Snapshot;

use crate::checkpoint::{Collected, Mailbox};
use crate::live::{Live, Progress};

/// What was asked of the workers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum StopRequest {
    /// Nothing: go on.
    None,
    /// Send nothing more, wait for what is in flight, within the drain limit.
    Drain,
    /// End now.
    Now,
}

/// A handle to a run, to be kept while [`crate::run`] is busy. Clones are the same handle.
#[derive(Clone, Default, Debug)]
pub struct Control(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    asked: Alone<AtomicU8>,
    workers: Mutex<Vec<Attached>>,
    collected: Collected,
}

/// In cache lines of its own: every worker reads it in each turn, and what is beside it is written to.
#[derive(Default, Debug)]
#[repr(align(128))]
struct Alone<T>(T);

/// What is needed of a worker from outside.
#[derive(Debug)]
struct Attached {
    live: Arc<Live>,
    mailbox: Option<Arc<Mailbox>>,
}

impl Control {
    /// A handle for a run that has not begun.
    pub fn new() -> Control {
        Control::default()
    }

    /// Stop sending, drain, report. Each worker obeys when it looks, which is after 20 ms of sleep at most, or after a call that
    /// blocks; what is intended after that is not planned any more.
    pub fn stop(&self) {
        self.ask(StopRequest::Drain);
    }

    /// Stop as soon: what is in flight is counted as in flight at the end.
    pub fn stop_now(&self) {
        self.ask(StopRequest::Now);
    }

    /// Somebody asked the run to end before its time, or a worker failed.
    pub fn was_stopped(&self) -> bool {
        self.stop_request() != StopRequest::None
    }

    /// How the run stands. All zero before it begins.
    pub fn progress(&self) -> Progress {
        let workers = self.0.workers.lock().expect("no holder of this lock panics");
        Progress::of(workers.iter().map(|worker| &*worker.live))
    }

    pub(crate) fn stop_request(&self) -> StopRequest {
        match self.0.asked.0.load(Ordering::Relaxed) {
            0 => StopRequest::None,
            1 => StopRequest::Drain,
            _ => StopRequest::Now,
        }
    }

    /// All that was recorded so far, of arrivals that have ended; what has not ended yet is planned in its books and
    /// nothing else. `None` where nothing can be had: before the run, and of callables. It costs the workers next to
    /// nothing, and the caller the copy.
    pub fn recorded_so_far(&self) -> Option<Snapshot> {
        self.collect(true)
    }

    /// What workers gave away during the run, all of it.
    pub(crate) fn published_so_far(&self) -> Option<Snapshot> {
        self.collect(false)
    }

    fn collect(&self, ask: bool) -> Option<Snapshot> {
        let workers = self.0.workers.lock().expect("no holder of this lock panics");
        let mailboxes: Vec<_> = workers.iter().filter_map(|worker| worker.mailbox.clone()).collect();
        drop(workers);
        self.0.collected.collect(&mailboxes.iter().map(|mailbox| &**mailbox).collect::<Vec<_>>(), ask)
    }

    pub(crate) fn attach(&self, live: Arc<Live>, mailbox: Option<Arc<Mailbox>>) {
        self.0.workers.lock().expect("no holder of this lock panics").push(Attached { live, mailbox });
    }

    /// Nobody is woken for it: see [`Control::stop`].
    fn ask(&self, what: StopRequest) {
        self.0.asked.0.fetch_max(what as u8, Ordering::Relaxed);
    }
}
