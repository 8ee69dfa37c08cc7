//! What a tool is asked to do.

use truetail_model::time::{Nanos, Rate};

/// What a tool is asked to do. A closed tool takes `users`, an open one `rate`, with at most `connections` or workers.
#[derive(Clone, PartialEq, Debug)]
pub struct Load {
    /// The target, with a path: `http://127.0.0.1:8080/api`.
    pub url: String,
    /// Requests a second that an open tool is to offer.
    pub rate: Rate,
    /// For how long.
    pub duration: Nanos,
    /// Users of a closed tool.
    pub users: u32,
    /// Connections, workers or virtual users that an open tool may use: enough for the longest stall.
    pub connections: u32,
    /// Timeout of a request; `None` for the tool's own default, or none.
    pub timeout: Option<Nanos>,
}

impl Load {
    /// The duration in whole seconds, rounded up: what most tools take.
    pub fn whole_seconds(&self) -> u64 {
        self.duration.0.div_ceil(truetail_model::time::NANOS_PER_SECOND).max(1)
    }
}
