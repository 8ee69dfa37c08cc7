//! The share of one worker.

use super::stripe::Stripe;

/// Share of one worker: worker `index` of `workers`, on the machine that has `stripe`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkerShare {
    /// From 0, below `workers`.
    pub index: u32,
    /// Number of workers on this machine, at least 1.
    pub workers: u32,
    /// Stripe of this machine. Machines may have different numbers of workers.
    pub stripe: Stripe,
}

impl WorkerShare {
    /// The whole load: the share of the only worker of the only machine.
    pub const WHOLE: WorkerShare = WorkerShare { index: 0, workers: 1, stripe: Stripe::WHOLE };

    /// Returns how many of `total` items of this machine, dealt one by one, this worker gets.
    pub const fn share_of(self, total: u64) -> u64 {
        let index = self.index as u64;
        let workers = self.workers as u64;
        total / workers + if index < total % workers { 1 } else { 0 }
    }

    /// Returns the index of its first arrival in the whole schedule.
    pub(super) const fn first(self) -> u64 {
        self.stripe.index() as u64 + self.index as u64 * self.stripe.count() as u64
    }

    /// Returns the distance from one of its arrivals to the next, by index. A machine deals its arrivals again to its
    /// workers, so the workers of all machines together have every arrival once.
    pub(super) const fn stride(self) -> u64 {
        self.workers as u64 * self.stripe.count() as u64
    }
}
