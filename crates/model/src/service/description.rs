//! The description of a service.

use serde::{Deserialize, Serialize};

use super::effect::{Gate, StallSchedule, pass_gates};
use super::fault::Fault;
use super::route::Route;
use super::stream::StreamDescription;
use crate::time::{Nanos, Timestamp};

/// How the processing time varies from request to request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variation {
    /// Every request takes exactly the baseline.
    #[default]
    Constant,
    /// Exponential with the baseline as its mean, from the service's seed.
    Exponential,
}

/// Paths that a server answers by itself: a request for one never comes to the service.
pub const CONTROL_PATHS: [&str; 2] = ["/clock", "/healthy"];
/// The same where answers are streams: what clients of language models ask besides.
pub const ABOUT_MODEL_PATHS: [&str; 4] = ["/health", "/metrics", "/v1/models", SGLANG_PATH];
/// What only sglang's server knows: no other has it.
pub const SGLANG_PATH: &str = "/get_server_info";

/// The description of a service.
#[derive(Clone, PartialEq, Debug)]
pub struct Service {
    /// The time to process one request when nothing is wrong.
    pub baseline: Nanos,
    /// How this time varies.
    pub variation: Variation,
    /// How many requests are processed at once; the others wait in one queue, first in, first out. `None`: no limit.
    pub concurrency: Option<u32>,
    /// Size of a response body in bytes.
    pub body_bytes: u32,
    /// What it answers with in place of that body; `None`: it streams only where it is asked to.
    pub stream: Option<StreamDescription>,
    /// Seed of everything random in the service, but for the gaps of streams.
    pub seed: u64,
    /// What goes wrong. If two faults would change the same answer, the first in the list does.
    pub faults: Vec<Fault>,
    /// Paths that are served in a way of their own. Of two that meet a path, the first in the list does.
    pub routes: Vec<Route>,
}

impl Service {
    /// A service that answers after `baseline` and never fails.
    pub fn healthy(baseline: Nanos) -> Service {
        Service {
            baseline,
            variation: Variation::Constant,
            concurrency: None,
            body_bytes: 2,
            stream: None,
            seed: 1,
            faults: Vec::new(),
            routes: Vec::new(),
        }
    }

    /// True if its server answers requests for `path` by itself; a query is no matter.
    pub fn is_aside(&self, path: &str) -> bool {
        let path = path.split(['?', '#']).next().unwrap_or(path);
        CONTROL_PATHS.contains(&path) || (self.stream.is_some() && ABOUT_MODEL_PATHS.contains(&path))
    }

    /// True if its streams share a batch.
    pub fn is_batched(&self) -> bool {
        self.stream.is_some_and(|stream| stream.batch().is_some())
    }

    /// True if the stalls of a gate leave no gap between them, so that from some instant on nothing gets through.
    pub fn never_reopens(&self) -> bool {
        self.route_ids().any(|route| {
            let schedules = self.faults_at(route).filter_map(Fault::stall_schedule);
            // A stall that happens a limited number of times has an end.
            let endless: Vec<StallSchedule> = schedules.filter(|stall| stall.times.is_none()).collect();
            Gate::ALL.into_iter().any(|side| {
                let last = endless.iter().filter(|stall| stall.gate == side).max_by_key(|stall| stall.first);
                let opens = |instant| endless.iter().find_map(|stall| stall.opens_at(side, instant));
                last.is_some_and(|last| pass_gates(last.first, opens) == Timestamp::NEVER)
            })
        })
    }
}
