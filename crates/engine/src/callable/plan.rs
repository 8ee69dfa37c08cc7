//! What a harness is asked to do.

use std::num::NonZeroU64;

use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::record::SamplesOptions;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::Offered;

/// How a worker waits for the next intended start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Waiting {
    /// Sleeps. Costs no CPU while it waits, and wakes some 20 to 60 µs late on a quiet Linux machine; that lateness is
    /// recorded as generator lag and is inside the response time.
    #[default]
    Sleep,
    /// Sleeps until shortly before, then spins: late by a microsecond or so, for the price of a busy core.
    Spin,
}

/// One run of a callable.
#[derive(Clone, Debug)]
pub struct CallPlan {
    /// What is offered. A blocking call cannot be taken back, so the timeout of its limits is not used; a worker does one
    /// call at a time, and an arrival that finds its worker busy waits (`connection_wait` in the record). For async calls
    /// `limits.connections` caps the calls in flight.
    pub workload: Workload,
    /// Threads that call, each with its stripe of the schedule. At least 1. Async calls have one pump whatever this is.
    pub workers: u32,
    /// How they wait.
    pub waiting: Waiting,
    /// How many single calls to keep.
    pub samples: SamplesOptions,
    /// After so many failures without a success between them the run ends; `None`: never.
    pub give_up_after: Option<NonZeroU64>,
}

/// Failures in a row after which nobody learns more.
const GIVE_UP_AFTER: NonZeroU64 = NonZeroU64::new(1000).expect("not zero");

impl CallPlan {
    /// Even arrivals at `rate` for `duration`, one worker that sleeps, no warm-up, at most 30 s to catch up at the end.
    pub fn at_rate(rate: Rate, duration: Nanos) -> CallPlan {
        let schedule = Schedule {
            profile: Profile::constant(rate),
            spacing: Spacing::Even,
            seed: 1,
            horizon: Horizon { duration: Some(duration), requests: None },
        };
        CallPlan::new(LoadModel::Open(schedule))
    }

    /// Any load model, with everything else as in [`CallPlan::at_rate`].
    pub fn new(model: LoadModel) -> CallPlan {
        let limits = Limits { timeout: None, ..Limits::default() };
        CallPlan {
            workload: Workload { model, limits, warmup: Nanos::ZERO },
            workers: 1,
            waiting: Waiting::default(),
            samples: SamplesOptions::default(),
            give_up_after: Some(GIVE_UP_AFTER),
        }
    }

    /// How many workers there will be: never more than users, so that each has work.
    pub(super) fn effective_workers(&self) -> u32 {
        match self.workload.model {
            LoadModel::Closed { users, .. } => self.workers.min(users).max(1),
            _ => self.workers.max(1),
        }
    }

    /// The workload, capped at a call a worker.
    pub(super) fn workload_of_workers(&self) -> Workload {
        let mut workload = self.workload.clone();
        workload.limits.connections = Some(self.effective_workers());
        workload
    }

    /// What is offered to a callable that blocks, with as many calls in flight as there are workers. Async calls are
    /// offered `Offered::of(&plan.workload)`.
    pub fn offered(&self) -> Offered {
        Offered::of(&self.workload_of_workers())
    }
}
