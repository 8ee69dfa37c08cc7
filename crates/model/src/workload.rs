//! The load on a service: a load model and its limits.

use serde::{Deserialize, Serialize};

use crate::arrival::{Horizon, Schedule};
use crate::driver::Stripe;
use crate::time::Nanos;

/// What decides when the next request is sent.
#[derive(Clone, PartialEq, Debug)]
pub enum LoadModel {
    /// Requests arrive on a schedule that never waits for the service.
    Open(Schedule),
    /// `users` each wait for their answer, think, and send again.
    Closed {
        /// How many, at least 1.
        users: u32,
        /// From the end of one request to the intended start of the next.
        think_time: Nanos,
        /// No request is due at or after its end.
        horizon: Horizon,
    },
    /// Sessions arrive on a schedule; within a session, each request waits for the previous answer.
    PartlyOpen {
        /// The intended starts of the first request of each session. Later requests also start before its end.
        sessions: Schedule,
        /// Requests in one session, at least 1.
        requests_per_session: u32,
        /// From the end of one request to the intended start of the next in its session.
        think_time: Nanos,
    },
}

/// The name of a load model.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadModelKind {
    /// See [`LoadModel::Open`].
    #[default]
    Open,
    /// See [`LoadModel::Closed`].
    Closed,
    /// See [`LoadModel::PartlyOpen`].
    PartlyOpen,
}

impl LoadModelKind {
    /// `open`, `closed` or `partly-open`.
    pub const fn name(self) -> &'static str {
        match self {
            LoadModelKind::Open => "open",
            LoadModelKind::Closed => "closed",
            LoadModelKind::PartlyOpen => "partly-open",
        }
    }
}

impl LoadModel {
    /// Its name.
    pub const fn kind(&self) -> LoadModelKind {
        match self {
            LoadModel::Open(_) => LoadModelKind::Open,
            LoadModel::Closed { .. } => LoadModelKind::Closed,
            LoadModel::PartlyOpen { .. } => LoadModelKind::PartlyOpen,
        }
    }

    /// When requests, or sessions, arrive; `None` for the closed model, where answers decide.
    pub const fn schedule(&self) -> Option<&Schedule> {
        match self {
            LoadModel::Open(schedule) | LoadModel::PartlyOpen { sessions: schedule, .. } => Some(schedule),
            LoadModel::Closed { .. } => None,
        }
    }

    /// The end of the schedule.
    pub const fn horizon(&self) -> Horizon {
        match self {
            LoadModel::Open(schedule) => schedule.horizon,
            LoadModel::PartlyOpen { sessions, .. } => sessions.horizon,
            LoadModel::Closed { horizon, .. } => *horizon,
        }
    }

    /// The seed of the schedule; `None` for the closed model, which has none.
    pub const fn seed(&self) -> Option<u64> {
        match self.schedule() {
            Some(schedule) => Some(schedule.seed),
            None => None,
        }
    }
}

/// Limits of the generator: connections and waiting times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most requests in flight at once, and so the most open connections. An arrival that finds no free connection
    /// waits in the client and keeps its intended start. `None`: no limit.
    pub connections: Option<u32>,
    /// In the partly open model, a session has a connection of its own from its first request to its end, think times
    /// included, so that `connections` is the most sessions under way. Otherwise sessions share connections, and one is
    /// taken for the time of a request.
    pub connection_per_session: bool,
    /// How long a request may take from its actual start, connecting included, before it times out. `None`: forever.
    pub timeout: Option<Nanos>,
    /// How long after the horizon the backlog is still sent and answers are awaited.
    pub drain: Nanos,
}

impl Default for Limits {
    /// No limit on connections, which are shared, a timeout of 30 s, a drain of 30 s.
    fn default() -> Limits {
        Limits {
            connections: None,
            connection_per_session: false,
            timeout: Some(Nanos::from_secs(30)),
            drain: Nanos::from_secs(30),
        }
    }
}

/// A load and its limits.
#[derive(Clone, PartialEq, Debug)]
pub struct Workload {
    /// What decides when the next request is sent.
    pub model: LoadModel,
    /// Limits of the generator.
    pub limits: Limits,
    /// Arrivals intended before this instant are sent and counted separately, but not measured. Part of the horizon.
    pub warmup: Nanos,
}

impl Workload {
    /// What the machine that has `stripe` offers of it: its part of the cap on connections, and in the closed model of the
    /// users and of the number of requests. A schedule stays whole; of its arrivals or sessions, a
    /// [`WorkerShare`](crate::driver::WorkerShare) with this stripe takes those that were dealt to it.
    #[must_use]
    pub fn of_stripe(&self, stripe: Stripe) -> Workload {
        let part = |total: u32| stripe.share_of(u64::from(total)) as u32;
        let mut mine = self.clone();
        mine.limits.connections = self.limits.connections.map(part);
        if let LoadModel::Closed { users, horizon, .. } = &mut mine.model {
            *users = part(*users);
            horizon.requests = horizon.requests.map(|total| stripe.share_of(total));
        }
        mine
    }

    /// Each session holds its connection from its first request to its end.
    pub fn has_connection_per_session(&self) -> bool {
        self.limits.connection_per_session && matches!(self.model, LoadModel::PartlyOpen { .. })
    }

    /// The most workers that can share this load, at least 1. A worker without a permit for a connection, or without a user,
    /// would have nothing to do.
    pub fn max_workers(&self) -> u32 {
        let by_users = match self.model {
            LoadModel::Closed { users, .. } => users,
            LoadModel::Open(_) | LoadModel::PartlyOpen { .. } => u32::MAX,
        };
        self.limits.connections.unwrap_or(u32::MAX).min(by_users).max(1)
    }
}
