//! Reading of logs by a thread beside the load.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};

use truetail_engine::host;
use truetail_model::record::KeptAnswers;

use crate::head_log::HeadLog;
use crate::reader::{TimingPlan, TimingReader, TimingResults};

/// Number of waiting logs, 16 MiB, from which a worker that hands over a log reads all of them, unless somebody does.
const MANY_WAITING: usize = 256;
/// Limit on the waiting logs. At it, a worker waits until it can read them.
const MAX_WAITING: usize = 4 * MANY_WAITING;

/// The readers of all workers. Each log is read once, and those of a worker in their order.
#[derive(Debug)]
pub(crate) struct ReadBeside {
    plan: Arc<TimingPlan>,
    /// Takes logs, each with the number of its worker. A worker never waits for the thread here.
    sender: Sender<(usize, HeadLog)>,
    waiting: AtomicUsize,
    readers: Mutex<Readers>,
    thread: OnceLock<Thread>,
    is_over: AtomicBool,
}

#[derive(Debug)]
struct Readers {
    logs: Receiver<(usize, HeadLog)>,
    /// Results that readers had when somebody looked.
    found: TimingResults,
    /// By the number of the worker.
    of_workers: Vec<TimingReader>,
}

impl ReadBeside {
    pub(crate) fn new(plan: TimingPlan) -> ReadBeside {
        let found = TimingResults::new(&plan, KeptAnswers::with_room());
        let (sender, logs) = channel();
        ReadBeside {
            plan: Arc::new(plan),
            sender,
            waiting: AtomicUsize::new(0),
            readers: Mutex::new(Readers { logs, found, of_workers: Vec::new() }),
            thread: OnceLock::new(),
            is_over: AtomicBool::new(false),
        }
    }

    pub(crate) fn plan(&self) -> &TimingPlan {
        &self.plan
    }

    /// Adds a worker, and returns its number.
    pub(crate) fn add_worker(&self) -> usize {
        let of_workers = &mut self.readers().of_workers;
        of_workers.push(TimingReader::new(Arc::clone(&self.plan)));
        of_workers.len() - 1
    }

    /// Takes a log of a worker, to be read later.
    pub(crate) fn hand_over(&self, worker: usize, log: HeadLog) {
        let waiting = self.waiting.fetch_add(1, Ordering::Relaxed) + 1;
        // The receiver is in the same place as the sender.
        let _ = self.sender.send((worker, log));
        self.thread.get().into_iter().for_each(Thread::unpark);
        if waiting >= MAX_WAITING {
            self.read_waiting(&mut self.readers());
        } else if waiting >= MANY_WAITING
            && let Ok(mut readers) = self.readers.try_lock()
        {
            self.read_waiting(&mut readers);
        }
    }

    /// Reads all logs that were handed over, and passes the results of all workers to `look`. Call it after the run.
    pub(crate) fn results<R>(&self, look: impl FnOnce(&TimingResults) -> R) -> R {
        let mut readers = self.readers();
        self.read_waiting(&mut readers);
        let Readers { found, of_workers, .. } = &mut *readers;
        for reader in of_workers {
            let none = TimingResults::new(&self.plan, KeptAnswers::empty());
            found.merge(std::mem::replace(&mut reader.results, none));
        }
        look(found)
    }

    /// Starts the thread that reads, if there can be one, and none was started. It has a lower priority than the
    /// caller.
    pub(crate) fn start(self: &Arc<ReadBeside>) {
        let beside = Arc::clone(self);
        let read = move || {
            host::lower_thread_priority();
            beside.read_until_over();
        };
        self.thread.get_or_init(|| match thread::Builder::new().name("truetail-timing".to_owned()).spawn(read) {
            Ok(handle) => handle.thread().clone(),
            // Waking this one changes nothing. Workers read what waits, and the rest is read after the run.
            Err(_) => thread::current(),
        });
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        self.is_over.store(true, Ordering::Release);
        self.thread.get().into_iter().for_each(Thread::unpark);
    }

    fn read_until_over(&self) {
        while !self.is_over.load(Ordering::Acquire) {
            self.read_waiting(&mut self.readers());
            thread::park();
        }
    }

    /// Reads the logs that wait. Only who has the readers takes a log, so they are read in their order.
    fn read_waiting(&self, readers: &mut Readers) {
        while let Ok((worker, log)) = readers.logs.try_recv() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            readers.of_workers[worker].read_log(&log);
        }
    }

    fn readers(&self) -> MutexGuard<'_, Readers> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::record::{Outcome, RequestRecord, Samples, SamplesOptions};
    use truetail_model::time::{Nanos, Timestamp};

    use super::*;
    use crate::head_log::Entry;
    use crate::source::TimingSource;

    /// Logs of each worker: enough that one reads them itself, if nobody else does.
    const LOGS: u64 = MANY_WAITING as u64 + 10;

    /// Hands over logs of two workers in turns, each with an answer of another name, and returns the results.
    fn results(has_thread: bool) -> TimingResults {
        let sources = vec![TimingSource::ServerTiming];
        let plan = TimingPlan { sources, names: Vec::new(), measure_from: Timestamp::ZERO };
        let beside = Arc::new(ReadBeside::new(plan));
        if has_thread {
            beside.start();
        }
        let workers = [beside.add_worker(), beside.add_worker()];
        for index in 0..2 * LOGS {
            let worker = workers[index as usize % 2];
            // The answer begins in one log and ends in the next.
            let name = ["a", "b"][worker];
            let head = format!("HTTP/1.1 200 OK\r\nServer-Timing: {name};dur={index}\r\n\r\n");
            let entries = [Entry::Head(head.as_bytes()), Entry::End { index, response_time: Nanos(index) }];
            for entry in entries {
                let mut log = HeadLog::with_room();
                log.add(3, entry);
                beside.hand_over(worker, log);
            }
        }
        let results = beside.results(TimingResults::clone);
        beside.stop();
        results
    }

    #[test]
    fn each_log_is_read_once_and_in_order_whoever_reads_it() {
        let record = |index| {
            let arrival = truetail_model::arrival::Arrival { index, intended_start: Timestamp::ZERO };
            RequestRecord::new(arrival, Timestamp::ZERO, Timestamp(index), Outcome::response(200))
        };
        let records = (0..2 * LOGS).map(record).collect();
        let samples = Samples::from_parts(SamplesOptions::default(), records, 1, &[], 2 * LOGS);
        for has_thread in [false, true] {
            let results = results(has_thread);
            assert_eq!((results.answers, results.without, results.unread), (2 * LOGS, 0, 0));
            assert_eq!(results.names, ["a", "b"]);
            for (index, times) in (0..).zip(results.times.of_samples(&samples)) {
                let place = index as usize % 2;
                assert_eq!((times.index(), times.get(1 - place)), (index, None));
                assert_eq!(times.get(place), Some(Nanos(index * 1_000_000)));
            }
        }
    }
}
