//! The load that a run offered.

use serde::{Deserialize, Serialize};
use truetail_model::cancellation::Cancellation;
use truetail_model::users::Users;
use truetail_model::workload::{LoadModel, LoadModelKind, Workload};

use super::grpc::GrpcConfig;
use super::messages::MessageConfig;
use super::mix::{ANY_METHOD, Mix};

/// The load that a run offered: `scenario` in `run.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OfferedLoad {
    /// Name of the scenario, if it has one.
    pub name: Option<String>,
    /// Load model: what decides when the next request is sent.
    pub model: LoadModelKind,
    /// URL as the user wrote it, with placeholders. With several targets, their common part: `http://HOST:PORT`.
    pub url: Option<String>,
    /// The HTTP method, if all requests have the same.
    pub method: Option<String>,
    /// Targets and weights, if the arrivals do not all request the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// The rate profile in the user's notation; `None` in the closed model.
    pub profile: Option<String>,
    /// `even` or `poisson`; `None` in the closed model.
    pub spacing: Option<String>,
    /// Seed of the spacing; `None` if nothing is random.
    pub seed: Option<u64>,
    /// Seed of the values that requests get when they begin, such as the texts of `--cache-bust`; `None` if they get
    /// none, and in flows. Requests with equal seeds are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values_seed: Option<u64>,
    /// Length of the schedule: every intended start is earlier.
    pub duration_ns: Option<u64>,
    /// Highest number of arrivals.
    pub requests: Option<u64>,
    /// Highest number of users in the closed model.
    pub users: Option<u32>,
    /// Number of users over time in the user's notation; `None` if it is constant, and in the other models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_over_time: Option<String>,
    /// Requests per session in the partly open model.
    pub requests_per_session: Option<u32>,
    /// Think time in the closed and the partly open model.
    pub think_time_ns: Option<u64>,
    /// The user's limit on connections. In runs of older versions without such a limit, truetail's own choice.
    pub connections: Option<u32>,
    /// True if each session had its own connection, so that `connections` limited the concurrent sessions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub connection_per_session: bool,
    /// HTTP/2 settings; `None` for HTTP/1.1, and for runs without HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2: Option<Http2Config>,
    /// Protocol of messages on channels; `None` for HTTP, and for runs without a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageConfig>,
    /// The kind of gRPC calls; `None` without gRPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc: Option<GrpcConfig>,
    /// True if the user wants to measure a service that only fails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_errors: bool,
    /// Requests that the users give up (`--cancel`); `None` if they give up none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Cancellation>,
    /// Timeout of a request.
    pub timeout_ns: Option<u64>,
    /// Longest duration of the drain.
    pub drain_ns: u64,
    /// Length of the warm-up, which is not measured.
    pub warmup_ns: u64,
}

impl OfferedLoad {
    /// Returns the load of `workload`. Name, target and method are empty; the caller fills them in.
    pub fn from_workload(workload: &Workload) -> OfferedLoad {
        let model = &workload.model;
        let limits = &workload.limits;
        let schedule = model.schedule();
        OfferedLoad {
            name: None,
            model: model.kind(),
            url: None,
            method: None,
            mix: None,
            profile: schedule.map(|schedule| schedule.profile.to_string()),
            spacing: schedule.map(|schedule| schedule.spacing.to_string()),
            seed: model.seed(),
            values_seed: None,
            duration_ns: model.horizon().duration.map(|duration| duration.0),
            requests: model.horizon().requests,
            users: model.users().map(Users::most),
            users_over_time: model.users().filter(|users| !users.is_constant()).map(ToString::to_string),
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
            messages: None,
            grpc: None,
            allow_errors: false,
            cancel: None,
            timeout_ns: limits.timeout.map(|timeout| timeout.0),
            drain_ns: limits.drain.0,
            warmup_ns: workload.warmup.0,
        }
    }

    /// Returns true if a Python function decided in the run what each request asks for and how many a session makes.
    pub fn asks_by_any_method(&self) -> bool {
        let of_targets = self.mix.iter().flat_map(|mix| &mix.targets).map(|target| target.method.as_str());
        of_targets.chain(self.method.as_deref()).any(|method| method == ANY_METHOD)
    }
}

/// Requested settings of HTTP/2.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Http2Config {
    /// Limit on simultaneous requests of one connection; `None` if only the server limits them.
    pub max_streams: Option<u32>,
}
