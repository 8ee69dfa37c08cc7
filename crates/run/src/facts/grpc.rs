//! gRPC calls: what was asked for, and their statuses by name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truetail_model::record::GrpcStatus;

/// Requested calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GrpcConfig {
    /// Kind of all calls.
    pub kind: GrpcKind,
}

/// Kind of gRPC calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrpcKind {
    /// One message each way.
    Unary,
    /// One message, which any number of messages answers.
    ServerStreaming,
}

/// Statuses of calls.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct GrpcBooks {
    /// Measured calls by the name of their status.
    pub statuses: BTreeMap<String, u64>,
}

impl GrpcBooks {
    /// Returns the books of calls with these recorded statuses.
    pub fn new(statuses: &BTreeMap<u16, u64>) -> GrpcBooks {
        let one = |(status, n): (&u16, &u64)| Some((GrpcStatus::of_recorded(*status)?.name().to_owned(), *n));
        GrpcBooks { statuses: statuses.iter().filter_map(one).collect() }
    }
}
