//! The slowest requests of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One of the slowest requests.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SlowRequest {
    /// Its trace id: 32 hexadecimal digits; null without `--trace`.
    pub trace_id: Option<String>,
    /// True if its header asked for the trace to be recorded; false without a trace id.
    pub trace_sampled: bool,
    /// Name of its target, such as `GET /items`; null if unknown.
    pub target: Option<String>,
    /// Place in the whole schedule, from 0.
    pub index: u64,
    /// Intended start, from the origin.
    pub intended_start_ns: u64,
    /// Time from the intended start to the end. The time waited, if no answer came.
    pub response_time_ns: u64,
    /// Time from the actual start to the end.
    pub service_time_ns: u64,
    /// Outcome of the request, such as `response` or `timed_out`.
    pub outcome: String,
    /// Status of the answer; null without an answer.
    pub status: Option<u16>,
    /// Parts of the response time by name. They add up to it.
    pub parts: BTreeMap<String, u64>,
}
