//! What the requests of each worker show: whether it waits for its answer, how long it thinks, and how often it sends.

use truetail_model::record::Histogram;
use truetail_model::time::Nanos;
use truetail_run::ForeignRequest;

/// Workers beyond so many are not followed one by one.
const MAX_WORKERS: usize = 65_536;

#[derive(Clone, Copy, Default, Debug)]
struct Worker {
    start: u64,
    end: u64,
    requests: u64,
}

/// The workers of a run, in bounded memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Workers {
    workers: Vec<Worker>,
    seen: u32,
    /// From one start of a worker to its next.
    intervals: Histogram,
    /// From an answer to the next start of its worker.
    thinks: Histogram,
    /// Starts before the answer to the worker's request before.
    overlaps: u64,
}

/// What is known of the workers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct WorkerFacts {
    /// How many there are.
    pub(super) workers: u32,
    /// Pairs of requests of one worker that follow each other.
    pub(super) pairs: u64,
    /// The share of them in which the second one waits for the answer to the first.
    pub(super) share_waiting: f64,
    /// The median time from an answer to the next request.
    pub(super) think: Nanos,
    /// The time from an answer to the next request that nine of ten pairs do not exceed.
    pub(super) think_high: Nanos,
    /// The median time between two starts.
    pub(super) interval: Nanos,
}

impl WorkerFacts {
    /// Users who wait for their answer, and then send again almost at once: a pause beyond a tenth of the
    /// interval could be that of a pool whose members are idle.
    pub(super) fn are_users(&self) -> bool {
        self.pairs >= 20 && self.share_waiting >= 0.98 && self.think_high.0 <= self.interval.0 / 10
    }
}

impl Workers {
    #[inline]
    pub(super) fn request(&mut self, number: u32, start: u64, request: &ForeignRequest) {
        let index = number as usize;
        if index >= self.workers.len() {
            self.seen = self.seen.max(number.saturating_add(1));
            if index >= MAX_WORKERS {
                return;
            }
            self.workers.resize(index + 1, Worker::default());
        }
        let worker = &mut self.workers[index];
        let end = start.saturating_add(request.duration.0);
        if worker.requests > 0 {
            if start < worker.start {
                // The rows of this worker are not in order: nothing follows from this pair.
                return;
            }
            self.intervals.record(Nanos(start - worker.start));
            match start.checked_sub(worker.end) {
                Some(think) => self.thinks.record(Nanos(think)),
                None => self.overlaps += 1,
            }
        }
        *worker = Worker { start, end, requests: worker.requests + 1 };
    }

    /// `None` where no request names its worker. An overlap of `precision` is none: it is left to rounding.
    pub(super) fn facts(&self) -> Option<WorkerFacts> {
        let pairs = self.intervals.count();
        (pairs > 0).then(|| WorkerFacts {
            workers: self.seen,
            pairs,
            share_waiting: self.thinks.count() as f64 / pairs as f64,
            think: self.thinks.quantile(0.5).unwrap_or_default(),
            think_high: self.thinks.quantile(0.9).unwrap_or_default(),
            interval: self.intervals.quantile(0.5).unwrap_or_default(),
        })
    }
}
