//! Start of a run.

use std::convert::Infallible;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use truetail_model::driver::{Driver, WorkerShare};
use truetail_model::time::{Nanos, Timestamp};
use truetail_reactor::{MonotonicClock, unix_ns};
use truetail_run::StartFacts;

/// Time from the call to the first intended start, to get every worker ready.
pub(crate) const LEAD: Nanos = Nanos::from_millis(20);

/// Time between two looks of a worker whether all are ready; a small part of [`LEAD`].
const LOOK_INTERVAL: Nanos = Nanos::from_millis(1);
/// Limit on the channels of all workers that are being opened at once. A server that accepts slowly would drop more,
/// and each would wait for what this machine does for the others.
const MAX_AT_ONCE: u64 = 64;
/// Limit on the time to open one channel. A run with a shorter timeout has that one.
const MAX_FOR_ONE: Nanos = Nanos::from_secs(10);

/// The clock of a run, and the start of sending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) clock: MonotonicClock,
    /// The origin, or a later instant if a run with a given origin was not ready in time.
    pub(crate) begins: Timestamp,
    at_unix_ns: Option<u64>,
}

impl Start {
    /// Returns a start as soon as the run can be ready, or at an instant of the wall clock. If the run cannot be ready
    /// by then, it begins late and its schedule does not move.
    pub(crate) fn at(instant_unix_ns: Option<u64>) -> Start {
        let Some(at) = instant_unix_ns else {
            return Start::with(MonotonicClock::starting_in(LEAD));
        };
        let ready = unix_ns().saturating_add(LEAD.0);
        let begins = Timestamp(ready.saturating_sub(at));
        Start { clock: MonotonicClock::with_origin_at(at), begins, at_unix_ns: Some(at) }
    }

    pub(crate) fn with(clock: MonotonicClock) -> Start {
        Start { clock, begins: Timestamp::ZERO, at_unix_ns: None }
    }

    /// Leaves out of each schedule the arrivals that are due before the run begins.
    pub(crate) fn skip_missed<'a>(&self, drivers: impl Iterator<Item = &'a mut Driver>) {
        if self.begins > Timestamp::ZERO {
            drivers.for_each(|driver| driver.begin_at(self.begins));
        }
    }

    /// Returns the report about the start. `missed` is the number of arrivals that were due before the run began.
    pub(crate) fn facts(&self, missed: u64) -> Option<StartFacts> {
        self.at_unix_ns.map(|at_unix_ns| StartFacts { at_unix_ns, late_ns: self.begins.0, missed })
    }
}

/// The start that all workers of a run share. It may become known only when all of them are ready.
#[derive(Debug)]
pub(crate) struct SharedStart {
    start: Arc<OnceLock<Start>>,
    /// Each worker holds a sender until it is ready. `None`: the start is known.
    preparing: Option<(Sender<Infallible>, Receiver<Infallible>)>,
}

impl SharedStart {
    /// Returns a start that no worker can put off.
    pub(crate) fn known(start: Start) -> SharedStart {
        SharedStart { start: Arc::new(OnceLock::from(start)), preparing: None }
    }

    /// Returns a start as soon as every worker is ready.
    pub(crate) fn when_ready() -> SharedStart {
        SharedStart { start: Arc::default(), preparing: Some(channel()) }
    }

    /// Returns the start, if it is known.
    pub(crate) fn get(&self) -> Option<Start> {
        self.start.get().copied()
    }

    pub(crate) fn for_worker(&self, ahead: Option<OpenAhead>) -> WorkerStart {
        let preparing = self.preparing.as_ref().map(|(sender, _)| sender.clone());
        WorkerStart { start: Arc::clone(&self.start), ahead, preparing }
    }

    /// Waits until every worker is ready or has ended, and returns the start.
    pub(crate) fn wait(self) -> Start {
        if let Some((own, workers)) = self.preparing {
            drop(own);
            // Nothing is ever sent: this returns when the last sender is dropped.
            let _ = workers.recv();
        }
        *self.start.get_or_init(|| Start::at(None))
    }
}

/// The channels that a worker opens before the load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenAhead {
    /// Number of channels to each origin.
    pub(crate) channels: u64,
    /// Limit on the channels that are being opened.
    pub(crate) at_once: usize,
    /// Limit on the time for one channel.
    pub(crate) for_one: Nanos,
}

impl OpenAhead {
    /// Returns the settings of the worker with this share. `timeout` is that of a message.
    pub(crate) fn new(channels: u64, timeout: Option<Nanos>, share: WorkerShare) -> OpenAhead {
        let at_once = (MAX_AT_ONCE / u64::from(share.workers)).max(1) as usize;
        OpenAhead { channels, at_once, for_one: timeout.map_or(MAX_FOR_ONE, |timeout| timeout.min(MAX_FOR_ONE)) }
    }
}

/// The start of a run, in the hands of one worker. A worker that ends counts as ready.
#[derive(Debug)]
pub(crate) struct WorkerStart {
    start: Arc<OnceLock<Start>>,
    /// The channels to open before the load; `None`: connections are opened for requests only.
    pub(crate) ahead: Option<OpenAhead>,
    /// Held until this worker is ready.
    preparing: Option<Sender<Infallible>>,
}

impl WorkerStart {
    /// Returns the start, if it is known.
    pub(crate) fn get(&self) -> Option<Start> {
        self.start.get().copied()
    }

    /// Says that this worker is ready.
    pub(crate) fn report_ready(&mut self) {
        drop(self.preparing.take());
    }

    /// Says that this worker is ready, and waits until all are.
    pub(crate) fn wait(mut self) -> Start {
        self.report_ready();
        loop {
            match self.get() {
                Some(start) => return start,
                None => thread::sleep(LOOK_INTERVAL.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::time::Clock;

    use super::*;

    #[test]
    fn a_run_that_is_late_does_not_move_its_schedule() {
        const LATE: u64 = 5_000_000_000;
        let asked = unix_ns() - LATE;
        let start = Start::at(Some(asked));
        assert!(start.begins.0 >= LATE + LEAD.0, "{start:?}");
        assert!(start.clock.now().0 >= LATE && start.clock.origin_unix_ns() == asked, "{start:?}");
        assert_eq!(start.facts(7), Some(StartFacts { at_unix_ns: asked, late_ns: start.begins.0, missed: 7 }));
    }

    #[test]
    fn a_run_that_is_early_waits() {
        let asked = unix_ns() + 3_600_000_000_000;
        let start = Start::at(Some(asked));
        assert_eq!((start.begins, start.clock.now()), (Timestamp::ZERO, Timestamp::ZERO));
        assert_eq!(start.facts(0), Some(StartFacts { at_unix_ns: asked, late_ns: 0, missed: 0 }));
        assert_eq!(Start::at(None).facts(0), None);
        let known = SharedStart::known(start);
        let mut worker = known.for_worker(None);
        worker.report_ready();
        assert_eq!(worker.get().map(|start| start.clock.origin_unix_ns()), Some(asked));
        assert_eq!(known.wait().clock.origin_unix_ns(), asked);
    }

    /// One worker is ready, and another one panics.
    #[test]
    fn a_start_waits_for_every_worker() {
        let shared = SharedStart::when_ready();
        let mut ready = shared.for_worker(None);
        let panics = shared.for_worker(None);
        let waiting = thread::spawn(move || shared.wait());
        ready.report_ready();
        assert!(ready.get().is_none() && !waiting.is_finished());
        let panicked = thread::spawn(move || {
            let _held = panics;
            panic!("as a bug in a worker would");
        });
        assert!(panicked.join().is_err());
        let start = waiting.join().unwrap();
        assert_eq!(ready.get().map(|start| start.clock.origin_unix_ns()), Some(start.clock.origin_unix_ns()));
    }
}
