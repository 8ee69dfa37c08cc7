//! The share of one worker.

/// The share of the work that one worker has: worker `index` of `workers`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkerShare {
    /// From 0, below `workers`.
    pub index: u32,
    /// How many workers there are, at least 1.
    pub workers: u32,
}

impl WorkerShare {
    /// The whole work: the share of the only worker.
    pub const WHOLE: WorkerShare = WorkerShare { index: 0, workers: 1 };

    /// How many of `total` things, dealt one by one, fall to this worker.
    pub const fn of(self, total: u64) -> u64 {
        let (index, workers) = (self.index as u64, self.workers as u64);
        total / workers + if index < total % workers { 1 } else { 0 }
    }
}
