//! The load that a run offered.

use serde::{Deserialize, Serialize};
use truetail_model::arrival::Spacing;
use truetail_model::workload::{LoadModel, LoadModelKind, Workload};

use super::mix::{ANY_METHOD, Mix};

/// What was offered. `scenario` in `run.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OfferedLoad {
    /// The name of the scenario, where it has one.
    pub name: Option<String>,
    /// Who decides when the next request comes.
    pub model: LoadModelKind,
    /// The URL as it was given, with its placeholders; of several targets what they share: `http://HOST:PORT`.
    pub url: Option<String>,
    /// The HTTP method, where there is one for all.
    pub method: Option<String>,
    /// What the arrivals ask for, where they do not all ask for the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// The rate profile as the user writes it; `None` for the closed model.
    pub profile: Option<String>,
    /// `even` or `poisson`; `None` for the closed model.
    pub spacing: Option<String>,
    /// Seed of the spacing; `None` where nothing is drawn.
    pub seed: Option<u64>,
    /// Arrivals are before this much time.
    pub duration_ns: Option<u64>,
    /// At most this many arrivals.
    pub requests: Option<u64>,
    /// Users of the closed model.
    pub users: Option<u32>,
    /// Requests of one session of the partly open model.
    pub requests_per_session: Option<u32>,
    /// Think time of closed and partly open models.
    pub think_time_ns: Option<u64>,
    /// The user's cap on connections. Runs of older versions have here what truetail chose where the user set none.
    pub connections: Option<u32>,
    /// Each session had a connection of its own, so that `connections` capped the sessions under way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub connection_per_session: bool,
    /// What was asked in HTTP/2; `None`: HTTP/1.1, or no HTTP at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2: Option<Http2Config>,
    /// A service that only fails is what the user wants to measure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_errors: bool,
    /// Timeout of a request.
    pub timeout_ns: Option<u64>,
    /// Drain limit.
    pub drain_ns: u64,
    /// Warm-up that was not measured.
    pub warmup_ns: u64,
}

impl OfferedLoad {
    /// The load of `workload`. Name, target and method are left empty; the caller fills them in.
    pub fn of(workload: &Workload) -> OfferedLoad {
        let (model, limits) = (&workload.model, &workload.limits);
        let schedule = model.schedule();
        OfferedLoad {
            name: None,
            model: model.kind(),
            url: None,
            method: None,
            mix: None,
            profile: schedule.map(|schedule| schedule.profile.to_string()),
            spacing: schedule.map(|schedule| spacing_name(schedule.spacing).to_owned()),
            seed: model.seed(),
            duration_ns: model.horizon().duration.map(|duration| duration.0),
            requests: model.horizon().requests,
            users: match model {
                LoadModel::Closed { users, .. } => Some(*users),
                LoadModel::Open(_) | LoadModel::PartlyOpen { .. } => None,
            },
            requests_per_session: match model {
                LoadModel::PartlyOpen { requests_per_session, .. } => Some(*requests_per_session),
                LoadModel::Open(_) | LoadModel::Closed { .. } => None,
            },
            think_time_ns: match model {
                LoadModel::Open(_) => None,
                LoadModel::Closed { think_time, .. } | LoadModel::PartlyOpen { think_time, .. } => Some(think_time.0),
            },
            connections: limits.connections,
            connection_per_session: workload.has_connection_per_session(),
            http2: None,
            allow_errors: false,
            timeout_ns: limits.timeout.map(|timeout| timeout.0),
            drain_ns: limits.drain.0,
            warmup_ns: workload.warmup.0,
        }
    }

    /// What each request asks for, and how many a session makes, was decided in the run, by somebody else.
    pub fn asks_by_any_method(&self) -> bool {
        let of_targets = self.mix.iter().flat_map(|mix| &mix.targets).map(|target| target.method.as_str());
        of_targets.chain(self.method.as_deref()).any(|method| method == ANY_METHOD)
    }
}

const fn spacing_name(spacing: Spacing) -> &'static str {
    match spacing {
        Spacing::Even => "even",
        Spacing::Poisson => "poisson",
    }
}

/// How HTTP/2 was to be spoken.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Http2Config {
    /// Cap on requests in flight at once on one connection; `None`: the server's alone.
    pub max_streams: Option<u32>,
}
