//! Watching and stopping a run from outside.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use truetail_model::record::Snapshot;
use truetail_model::time::{Clock, Nanos};

use crate::checkpoint::{Collected, Mailbox};
use crate::live::{Live, Progress};
use crate::start::Start;

/// How the workers are to end the run. Later variants are stronger, and a request never becomes weaker.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum StopRequest {
    /// They are to go on.
    None,
    /// They are to send nothing more and to wait for what is in flight, within the drain limit.
    Drain,
    /// They are to end at once.
    Now,
}

/// A handle to a run, for other threads while [`crate::run`] is busy. Clones belong to the same run.
#[derive(Clone, Default, Debug)]
pub struct Control(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    stop_request: OwnCacheLines<AtomicU8>,
    workers: Mutex<Vec<AttachedWorker>>,
    collected: Collected,
    /// The clock of the run and the instant at which it begins, once they are set.
    start: OnceLock<Start>,
    has_ended: AtomicBool,
}

/// Every worker reads the value in each turn, and must not wait for a cache line because of writes next to it.
#[derive(Default, Debug)]
#[repr(align(128))]
struct OwnCacheLines<T>(T);

/// What a handle needs of a worker.
#[derive(Debug)]
struct AttachedWorker {
    live: Arc<Live>,
    mailbox: Option<Arc<Mailbox>>,
}

impl Control {
    /// A handle for a run that has not begun.
    pub fn new() -> Control {
        Control::default()
    }

    /// Ends the run early: nothing more falls due, and what is in flight is waited for, within the drain limit. A worker reads
    /// the request in each turn, so after at most 20 ms of sleep or after a blocking call. Arrivals intended after that are
    /// not planned; a worker that kept up still sends what fell due just before.
    pub fn stop(&self) {
        self.request(StopRequest::Drain);
    }

    /// As [`Control::stop`], but without waiting: what is in flight is counted as in flight at the end.
    pub fn stop_now(&self) {
        self.request(StopRequest::Now);
    }

    /// The run was asked to end early, or a worker failed.
    pub fn was_stopped(&self) -> bool {
        self.stop_request() != StopRequest::None
    }

    /// Every worker has ended, and what they measured is merged. Always false for callables.
    pub fn has_ended(&self) -> bool {
        self.0.has_ended.load(Ordering::Relaxed)
    }

    pub(crate) fn end(&self) {
        self.0.has_ended.store(true, Ordering::Relaxed);
    }

    /// The progress of the run. All zero before it begins.
    pub fn progress(&self) -> Progress {
        let workers = self.0.workers.lock().expect("no holder of this lock panics");
        Progress::of(workers.iter().map(|worker| &*worker.live))
    }

    /// Time since the origin of the run; `None` before the clock of the run is set, and for callables.
    pub fn elapsed(&self) -> Option<Nanos> {
        self.0.start.get().map(|start| start.clock.now().since_origin())
    }

    /// The origin of the run, in nanoseconds since 1970 UTC; `None` as for [`Control::elapsed`].
    pub fn started_at_unix_ns(&self) -> Option<u64> {
        self.0.start.get().map(|start| start.clock.origin_unix_ns())
    }

    /// From the origin of the run to its beginning; above zero where it was late for an origin that was given.
    pub fn begins_after(&self) -> Nanos {
        self.0.start.get().map_or(Nanos::ZERO, |start| start.begins.since_origin())
    }

    /// The run has this clock, and begins then.
    pub(crate) fn set_start(&self, start: Start) {
        let _ = self.0.start.set(start);
    }

    /// What was last requested.
    pub(crate) fn stop_request(&self) -> StopRequest {
        match self.0.stop_request.0.load(Ordering::Relaxed) {
            0 => StopRequest::None,
            1 => StopRequest::Drain,
            _ => StopRequest::Now,
        }
    }

    /// Everything recorded so far about arrivals that have ended; those that have not are counted as planned and nothing
    /// else. `None` before the run and for callables. The copy is made by the caller; workers do next to nothing for it.
    pub fn recorded_so_far(&self) -> Option<Snapshot> {
        self.collect(true)
    }

    /// Everything that workers published during the run, without asking for more.
    pub(crate) fn published_so_far(&self) -> Option<Snapshot> {
        self.collect(false)
    }

    fn collect(&self, ask: bool) -> Option<Snapshot> {
        let workers = self.0.workers.lock().expect("no holder of this lock panics");
        let mailboxes: Vec<_> = workers.iter().filter_map(|worker| worker.mailbox.clone()).collect();
        drop(workers);
        self.0.collected.collect(&mailboxes.iter().map(|mailbox| &**mailbox).collect::<Vec<_>>(), ask)
    }

    /// Adds a worker to those that are watched; one with a mailbox publishes what it records.
    pub(crate) fn attach(&self, live: Arc<Live>, mailbox: Option<Arc<Mailbox>>) {
        self.0.workers.lock().expect("no holder of this lock panics").push(AttachedWorker { live, mailbox });
    }

    /// Wakes no worker: see [`Control::stop`].
    fn request(&self, what: StopRequest) {
        self.0.stop_request.0.fetch_max(what as u8, Ordering::Relaxed);
    }
}
