//! The description of a service.

use serde::{Deserialize, Serialize};

use super::effect::{Gate, StallSchedule, pass_gates};
use super::fault::Fault;
use super::route::Route;
use super::stream::StreamDescription;
use crate::time::{Nanos, Timestamp};

/// Variation of the processing time between requests.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variation {
    /// Every request takes exactly the baseline.
    #[default]
    Constant,
    /// Exponential with the baseline as its mean, from the seed of the service.
    Exponential,
}

/// Order of the replies on a channel.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ReplyOrder {
    /// Replies leave in the order of their messages, so a reply waits for those before it.
    #[default]
    InOrder,
    /// Each reply leaves when it is ready.
    AsReady,
}

/// Paths that every server answers itself, without the service.
pub const CONTROL_PATHS: [&str; 2] = ["/clock", "/healthy"];
/// Further paths that a server of streams answers itself, for clients of language models.
pub const ABOUT_MODEL_PATHS: [&str; 4] = ["/health", "/metrics", "/v1/models", SGLANG_PATH];
/// Path that only sglang's server has.
pub const SGLANG_PATH: &str = "/get_server_info";

/// Description of a service.
#[derive(Clone, PartialEq, Debug)]
pub struct Service {
    /// Time to process one request when nothing is wrong.
    pub baseline: Nanos,
    /// Variation of the processing time.
    pub variation: Variation,
    /// Maximum number of requests processed at once; others wait in one first-in-first-out queue. `None`: no limit.
    pub concurrency: Option<u32>,
    /// Size of a response body in bytes.
    pub body_bytes: u32,
    /// Order of the replies on a channel, if the requests are messages.
    pub replies: ReplyOrder,
    /// Stream in place of that body; `None`: it streams only on request.
    pub stream: Option<StreamDescription>,
    /// Seed of everything random in the service, except the gaps of streams.
    pub seed: u64,
    /// Faults of all paths. If two faults would change the same answer, the first in the list changes it.
    pub faults: Vec<Fault>,
    /// Paths with their own work and faults. If two match a path, the first one in the list applies.
    pub routes: Vec<Route>,
}

impl Service {
    /// Creates a service that answers after `baseline` and never fails.
    pub fn healthy(baseline: Nanos) -> Service {
        Service {
            baseline,
            variation: Variation::Constant,
            concurrency: None,
            body_bytes: 2,
            replies: ReplyOrder::InOrder,
            stream: None,
            seed: 1,
            faults: Vec::new(),
            routes: Vec::new(),
        }
    }

    /// Returns true if the server answers requests for `path` itself. A query is ignored.
    pub fn is_answered_by_server(&self, path: &str) -> bool {
        let path = path.split(['?', '#']).next().unwrap_or(path);
        CONTROL_PATHS.contains(&path) || (self.stream.is_some() && ABOUT_MODEL_PATHS.contains(&path))
    }

    /// Returns true if its streams share a batch.
    pub fn is_batched(&self) -> bool {
        self.stream.is_some_and(|stream| stream.batch().is_some())
    }

    /// Returns true if the stalls of a gate leave no gap, so that nothing passes after some instant.
    pub fn never_reopens(&self) -> bool {
        self.route_ids().any(|route| {
            let schedules = self.faults_at(route).filter_map(Fault::stall_schedule);
            // A stall with a limited number of times has an end.
            let endless: Vec<StallSchedule> = schedules.filter(|stall| stall.times.is_none()).collect();
            Gate::ALL.into_iter().any(|side| {
                let last = endless.iter().filter(|stall| stall.gate == side).max_by_key(|stall| stall.first);
                let opens = |instant| endless.iter().find_map(|stall| stall.opens_at(side, instant));
                last.is_some_and(|last| pass_gates(last.first, opens) == Timestamp::NEVER)
            })
        })
    }
}
