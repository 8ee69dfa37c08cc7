//! Control of a run by other threads: progress, current results and stopping.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use truetail_model::record::Snapshot;
use truetail_model::time::{Clock, Nanos};

use crate::checkpoint::{Collected, Mailbox};
use crate::live::{Live, Progress};
use crate::start::Start;

/// Requested end of the run. Later variants are stronger, and a request never becomes weaker.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum StopRequest {
    None,
    /// Send nothing more, and wait for requests in flight, within the drain limit.
    Drain,
    Now,
}

/// A handle to a run, for other threads while [`crate::run()`] is busy. Clones belong to the same run.
#[derive(Clone, Default, Debug)]
pub struct Control(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    stop_request: OwnCacheLines<AtomicU8>,
    workers: Mutex<Vec<AttachedWorker>>,
    collected: Collected,
    /// The clock of the run and its beginning, once they are set.
    start: OnceLock<Start>,
    /// Workers prepare themselves before the clock is set.
    is_prepared: AtomicBool,
    has_ended: AtomicBool,
}

/// Cache lines that hold one value. Every worker reads the value in each turn, and writes next to it would delay that.
#[derive(Default, Debug)]
#[repr(align(128))]
struct OwnCacheLines<T>(T);

#[derive(Debug)]
struct AttachedWorker {
    live: Arc<Live>,
    mailbox: Option<Arc<Mailbox>>,
}

impl Control {
    /// Returns a handle for a run that has not begun.
    pub fn new() -> Control {
        Control::default()
    }

    /// Ends the run early: no further request becomes due, and requests in flight are waited for, within the drain
    /// limit. A worker notices in its next turn, so after at most 20 ms of sleep or after a blocking call. Later
    /// arrivals are not planned; a worker that kept up still sends what became due just before.
    pub fn stop(&self) {
        self.request(StopRequest::Drain);
    }

    /// Ends the run without a drain: requests in flight are counted as in flight at end.
    pub fn stop_now(&self) {
        self.request(StopRequest::Now);
    }

    /// Returns true if the run was asked to end early, or a worker failed.
    pub fn was_stopped(&self) -> bool {
        self.stop_request() != StopRequest::None
    }

    /// Returns true if every worker has ended and the results are merged. Always false for callables.
    pub fn has_ended(&self) -> bool {
        self.0.has_ended.load(Ordering::Relaxed)
    }

    pub(crate) fn end(&self) {
        self.0.has_ended.store(true, Ordering::Relaxed);
    }

    /// Returns the progress of the run; all zero before it begins.
    pub fn progress(&self) -> Progress {
        let workers = self.0.workers.lock().expect("no holder of this lock panics");
        Progress::from_workers(workers.iter().map(|worker| &*worker.live))
    }

    /// Returns true while workers prepare themselves and the clock of the run is not set: they open channels.
    pub fn is_preparing(&self) -> bool {
        self.0.is_prepared.load(Ordering::Relaxed) && self.0.start.get().is_none()
    }

    pub(crate) fn begin_preparing(&self) {
        self.0.is_prepared.store(true, Ordering::Relaxed);
    }

    /// Returns the time since the origin of the run; `None` before its clock is set, and for callables.
    pub fn elapsed(&self) -> Option<Nanos> {
        self.0.start.get().map(|start| start.clock.now().since_origin())
    }

    /// Returns the origin of the run, in nanoseconds since 1970 UTC; `None` before it is set, and for callables.
    pub fn started_at_unix_ns(&self) -> Option<u64> {
        self.0.start.get().map(|start| start.clock.origin_unix_ns())
    }

    /// Returns the time from the origin of the run to its beginning. Above zero if the run was late for a given origin.
    pub fn begins_after(&self) -> Nanos {
        self.0.start.get().map_or(Nanos::ZERO, |start| start.begins.since_origin())
    }

    pub(crate) fn set_start(&self, start: Start) {
        let _ = self.0.start.set(start);
    }

    /// Returns the strongest request that was made.
    pub(crate) fn stop_request(&self) -> StopRequest {
        match self.0.stop_request.0.load(Ordering::Relaxed) {
            0 => StopRequest::None,
            1 => StopRequest::Drain,
            _ => StopRequest::Now,
        }
    }

    /// Returns everything recorded about arrivals that have ended; other arrivals count as planned and nothing else.
    /// `None` before the run and for callables. The caller makes the copy, at almost no cost to workers.
    pub fn recorded_so_far(&self) -> Option<Snapshot> {
        self.collect(true)
    }

    /// Returns everything that workers have given during the run, without asking for more.
    pub(crate) fn published_so_far(&self) -> Option<Snapshot> {
        self.collect(false)
    }

    fn collect(&self, ask: bool) -> Option<Snapshot> {
        let workers = self.0.workers.lock().expect("no holder of this lock panics");
        let mailboxes: Vec<_> = workers.iter().filter_map(|worker| worker.mailbox.clone()).collect();
        drop(workers);
        self.0.collected.collect(&mailboxes.iter().map(|mailbox| &**mailbox).collect::<Vec<_>>(), ask)
    }

    /// Adds a worker to the run. A worker with a mailbox publishes what it records.
    pub(crate) fn attach(&self, live: Arc<Live>, mailbox: Option<Arc<Mailbox>>) {
        self.0.workers.lock().expect("no holder of this lock panics").push(AttachedWorker { live, mailbox });
    }

    /// Raises the request. It wakes no worker: see [`Control::stop`].
    fn request(&self, what: StopRequest) {
        self.0.stop_request.0.fetch_max(what as u8, Ordering::Relaxed);
    }
}
