//! The plan of a run that calls something in this process.

use std::num::NonZeroU64;

use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::record::SamplesOptions;
use truetail_model::time::{Nanos, Rate};
use truetail_model::users::Users;
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::OfferedLoad;

/// Method of waiting for the next intended start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum WaitStrategy {
    /// Sleeps. Uses no CPU while it waits, and wakes about 20 to 60 µs late on a quiet Linux machine. The lateness is
    /// recorded as generator lag and is part of the response time.
    #[default]
    Sleep,
    /// Sleeps until shortly before the intended start, then spins. Late by about 1 µs, and keeps a core busy.
    Spin,
}

/// Plan of one run of a callable.
#[derive(Clone, Debug)]
pub struct CallPlan {
    /// The offered load. Blocking calls cannot be cancelled and ignore the timeout of the limits. A worker makes one
    /// blocking call at a time, and an arrival that finds it busy waits (`connection_wait` in the record). For async
    /// calls `limits.connections` limits the calls in flight.
    pub workload: Workload,
    /// Threads that call, at least 1; each has its stripe of the schedule. Async calls ignore this.
    pub workers: u32,
    /// The workers' method of waiting for the next intended start.
    pub waiting: WaitStrategy,
    /// Selection of the calls that are kept one by one.
    pub samples: SamplesOptions,
    /// Number of failures in a row that ends the run; `None`: never.
    pub give_up_after: Option<NonZeroU64>,
}

/// Default of [`CallPlan::give_up_after`].
const GIVE_UP_AFTER: NonZeroU64 = NonZeroU64::new(1000).expect("not zero");

impl CallPlan {
    /// Returns a plan of evenly spaced arrivals at `rate` for `duration`, with one worker that sleeps, no warm-up and
    /// the default drain limit.
    pub fn at_rate(rate: Rate, duration: Nanos) -> CallPlan {
        let schedule = Schedule {
            profile: Profile::constant(rate),
            spacing: Spacing::Even,
            seed: 1,
            horizon: Horizon { duration: Some(duration), requests: None },
        };
        CallPlan::new(LoadModel::Open(schedule))
    }

    /// Returns a plan of any load model, with the defaults of [`CallPlan::at_rate`].
    pub fn new(model: LoadModel) -> CallPlan {
        let limits = Limits { timeout: None, ..Limits::default() };
        CallPlan {
            workload: Workload { model, limits, warmup: Nanos::ZERO },
            workers: 1,
            waiting: WaitStrategy::default(),
            samples: SamplesOptions::default(),
            give_up_after: Some(GIVE_UP_AFTER),
        }
    }

    /// Returns the number of workers: at most one per user, so that each worker has work.
    pub(super) fn worker_count(&self) -> u32 {
        self.workers.min(self.workload.model.users().map_or(u32::MAX, Users::most)).max(1)
    }

    /// Returns the workload with at most one call in flight for each worker.
    pub(super) fn blocking_workload(&self) -> Workload {
        let mut workload = self.workload.clone();
        workload.limits.connections = Some(self.worker_count());
        workload
    }

    /// Returns the load that is offered to blocking calls. For async calls it is
    /// `OfferedLoad::from_workload(&plan.workload)`.
    pub fn offered(&self) -> OfferedLoad {
        OfferedLoad::from_workload(&self.blocking_workload())
    }
}
