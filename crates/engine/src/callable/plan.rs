//! The plan of a run that calls something in this process.

use std::num::NonZeroU64;

use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::record::SamplesOptions;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::OfferedLoad;

/// How a worker waits for the next intended start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum WaitStrategy {
    /// Sleeps. Uses no CPU while it waits, and wakes some 20 to 60 µs late on a quiet Linux machine. That lateness is
    /// recorded as generator lag and is part of the response time.
    #[default]
    Sleep,
    /// Sleeps until shortly before the intended start, then spins. Late by about a microsecond; keeps a core busy.
    Spin,
}

/// One run of a callable.
#[derive(Clone, Debug)]
pub struct CallPlan {
    /// What is offered. The timeout of the limits is not used for blocking calls, which cannot be cancelled. A worker makes
    /// one blocking call at a time; an arrival that finds it busy waits (`connection_wait` in the record). For async calls
    /// `limits.connections` caps the calls in flight.
    pub workload: Workload,
    /// Threads that call, at least 1; each has its stripe of the schedule. Not used for async calls.
    pub workers: u32,
    /// How they wait for the next intended start.
    pub waiting: WaitStrategy,
    /// Which calls are kept one by one.
    pub samples: SamplesOptions,
    /// The run ends after so many failures in a row; `None`: never.
    pub give_up_after: Option<NonZeroU64>,
}

/// Failures in a row after which the run ends by default.
const GIVE_UP_AFTER: NonZeroU64 = NonZeroU64::new(1000).expect("not zero");

impl CallPlan {
    /// Evenly spaced arrivals at `rate` for `duration`, one worker that sleeps, no warm-up, the default drain limit.
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
            waiting: WaitStrategy::default(),
            samples: SamplesOptions::default(),
            give_up_after: Some(GIVE_UP_AFTER),
        }
    }

    /// The number of workers: at most one a user, so that each has work.
    pub(super) fn worker_count(&self) -> u32 {
        match self.workload.model {
            LoadModel::Closed { users, .. } => self.workers.min(users).max(1),
            LoadModel::Open(_) | LoadModel::PartlyOpen { .. } => self.workers.max(1),
        }
    }

    /// The workload with at most one call in flight for each worker.
    pub(super) fn blocking_workload(&self) -> Workload {
        let mut workload = self.workload.clone();
        workload.limits.connections = Some(self.worker_count());
        workload
    }

    /// What is offered to blocking calls. Async calls are offered `OfferedLoad::of(&plan.workload)`.
    pub fn offered(&self) -> OfferedLoad {
        OfferedLoad::of(&self.blocking_workload())
    }
}
