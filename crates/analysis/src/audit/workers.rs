//! Behaviour of each worker: whether it waits for its answer, its think time, and its sending interval.

use truetail_model::record::Histogram;
use truetail_model::time::Nanos;
use truetail_run::ForeignRequest;

/// Limit on the workers tracked individually.
const MAX_WORKERS: usize = 65_536;

#[derive(Clone, Copy, Default, Debug)]
struct Worker {
    start: u64,
    end: u64,
    requests: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Workers {
    workers: Vec<Worker>,
    seen: u32,
    /// Time from one start of a worker to its next.
    intervals: Histogram,
    /// Time from an answer to the worker's next start.
    thinks: Histogram,
    /// Starts before the answer to the worker's previous request.
    overlaps: u64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct WorkerFacts {
    pub(super) workers: u32,
    /// Pairs of consecutive requests of one worker.
    pub(super) pairs: u64,
    /// Share of pairs whose second request waits for the answer to the first.
    pub(super) share_waiting: f64,
    /// Median time from an answer to the next request.
    pub(super) think: Nanos,
    /// 90th percentile of the time from an answer to the next request.
    pub(super) think_high: Nanos,
    /// Median time between two starts.
    pub(super) interval: Nanos,
}

impl WorkerFacts {
    /// Returns true if the workers are users who wait for their answer and then send again almost at once. A think time
    /// beyond a tenth of the interval could also come from a connection pool with idle members.
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
                // The rows of this worker are out of order, so this pair says nothing.
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

    /// Returns `None` if fewer than two requests of any worker are known.
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
