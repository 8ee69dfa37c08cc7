//! The share of one worker.

use super::stripe::Stripe;

/// The share of the work that one worker has: worker `index` of `workers`, on the machine that has `stripe`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkerShare {
    /// From 0, below `workers`.
    pub index: u32,
    /// How many workers this machine has, at least 1.
    pub workers: u32,
    /// What this machine has of the load. Machines need not have equally many workers.
    pub stripe: Stripe,
}

impl WorkerShare {
    /// The whole work: the share of the only worker of the only machine.
    pub const WHOLE: WorkerShare = WorkerShare { index: 0, workers: 1, stripe: Stripe::WHOLE };

    /// How many of `total` things of this machine, dealt one by one, fall to this worker.
    pub const fn of(self, total: u64) -> u64 {
        let (index, workers) = (self.index as u64, self.workers as u64);
        total / workers + if index < total % workers { 1 } else { 0 }
    }

    /// The first of its arrivals, by its index in the whole schedule.
    pub(super) const fn first(self) -> u64 {
        self.stripe.index() as u64 + self.index as u64 * self.stripe.of() as u64
    }

    /// From one of its arrivals to the next. What a machine was dealt is dealt again to its workers, so that the workers of
    /// all machines together have every arrival once.
    pub(super) const fn stride(self) -> u64 {
        self.workers as u64 * self.stripe.of() as u64
    }
}
