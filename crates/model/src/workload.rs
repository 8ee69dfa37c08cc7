//! The load on a service: a load model and its limits.

use serde::{Deserialize, Serialize};

use crate::arrival::{Horizon, Schedule};
use crate::driver::Stripe;
use crate::time::Nanos;
use crate::users::Users;

/// Load model: decides when the next request is sent.
#[derive(Clone, PartialEq, Debug)]
pub enum LoadModel {
    /// Requests arrive on a schedule that never waits for the service.
    Open(Schedule),
    /// `users` each wait for their answer, think, and send again.
    Closed {
        /// The users over time, at least 1 at some time.
        users: Users,
        /// Time from the end of one request to the intended start of the next.
        think_time: Nanos,
        /// End of the load: no request is due at or after it.
        horizon: Horizon,
    },
    /// Sessions arrive on a schedule; within a session, each request waits for the previous answer.
    PartlyOpen {
        /// Intended starts of the first requests of sessions. Later requests also start before the end of the schedule.
        sessions: Schedule,
        /// Number of requests in one session, at least 1.
        requests_per_session: u32,
        /// Time from the end of one request to the intended start of the next in its session.
        think_time: Nanos,
    },
}

/// Name of a load model.
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
    /// Returns `open`, `closed` or `partly-open`.
    pub const fn name(self) -> &'static str {
        match self {
            LoadModelKind::Open => "open",
            LoadModelKind::Closed => "closed",
            LoadModelKind::PartlyOpen => "partly-open",
        }
    }
}

impl LoadModel {
    /// Returns the name of this model.
    pub const fn kind(&self) -> LoadModelKind {
        match self {
            LoadModel::Open(_) => LoadModelKind::Open,
            LoadModel::Closed { .. } => LoadModelKind::Closed,
            LoadModel::PartlyOpen { .. } => LoadModelKind::PartlyOpen,
        }
    }

    /// Returns the schedule of requests or sessions; `None` for the closed model, whose answers decide.
    pub const fn schedule(&self) -> Option<&Schedule> {
        match self {
            LoadModel::Open(schedule) | LoadModel::PartlyOpen { sessions: schedule, .. } => Some(schedule),
            LoadModel::Closed { .. } => None,
        }
    }

    /// Returns the users of the closed model.
    pub const fn users(&self) -> Option<&Users> {
        match self {
            LoadModel::Closed { users, .. } => Some(users),
            LoadModel::Open(_) | LoadModel::PartlyOpen { .. } => None,
        }
    }

    /// Returns the end of the schedule.
    pub const fn horizon(&self) -> Horizon {
        match self {
            LoadModel::Open(schedule) => schedule.horizon,
            LoadModel::PartlyOpen { sessions, .. } => sessions.horizon,
            LoadModel::Closed { horizon, .. } => *horizon,
        }
    }

    /// Returns the seed of the schedule; `None` for the closed model.
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
    /// Maximum number of requests in flight, and so of open connections; `None` for no limit. An arrival that finds no
    /// free connection waits in the client and keeps its intended start.
    pub connections: Option<u32>,
    /// If true, each session of the partly open model has its own connection, think times included, and `connections`
    /// limits sessions. Otherwise sessions share connections, and take one for each request.
    pub connection_per_session: bool,
    /// Number of channels of a scenario whose requests are messages. They go to the channels in turn, and many wait for
    /// their replies on one channel. `None`: requests have connections of their own, as in every run over sockets.
    pub channels: Option<u32>,
    /// Limit on the time from the actual start to the end of a request, connecting included; `None` for no limit.
    pub timeout: Option<Nanos>,
    /// Time after the horizon while the backlog is still sent and answers are awaited.
    pub drain: Nanos,
}

impl Default for Limits {
    /// No limit on connections, which are shared; a timeout of 30 s; a drain of 30 s.
    fn default() -> Limits {
        Limits {
            connections: None,
            connection_per_session: false,
            channels: None,
            timeout: Some(Nanos::from_secs(30)),
            drain: Nanos::from_secs(30),
        }
    }
}

/// A load and its limits.
#[derive(Clone, PartialEq, Debug)]
pub struct Workload {
    /// Load model, which decides when the next request is sent.
    pub model: LoadModel,
    /// Limits of the generator.
    pub limits: Limits,
    /// Arrivals intended before this time are sent and counted separately, but not measured. Part of the horizon.
    pub warmup: Nanos,
}

impl Workload {
    /// Returns the part of this load that the machine with `stripe` offers. It divides the cap on connections, and in
    /// the closed model the users and the requests. A schedule stays whole; a
    /// [`WorkerShare`](crate::driver::WorkerShare) with this stripe takes its own arrivals.
    #[must_use]
    pub fn for_stripe(&self, stripe: Stripe) -> Workload {
        let part = |total: u32| stripe.share_of(u64::from(total)) as u32;
        let mut mine = self.clone();
        mine.limits.connections = self.limits.connections.map(part);
        if let LoadModel::Closed { users, horizon, .. } = &mut mine.model {
            *users = users.dealt(stripe.index(), stripe.count());
            horizon.requests = horizon.requests.map(|total| stripe.share_of(total));
        }
        mine
    }

    /// Returns true if each session holds its connection from its first request to its end.
    pub fn has_connection_per_session(&self) -> bool {
        self.limits.connection_per_session && matches!(self.model, LoadModel::PartlyOpen { .. })
    }

    /// Returns the maximum number of workers that each have a permit for a connection and a user; at least 1.
    pub fn max_workers(&self) -> u32 {
        let by_users = self.model.users().map_or(u32::MAX, Users::most);
        self.limits.connections.unwrap_or(u32::MAX).min(by_users).max(1)
    }
}
