//! gRPC calls: what was asked for, and their statuses by name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truetail_model::record::GrpcStatus;

/// Requested calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GrpcConfig {
    /// Kind of all calls.
    pub kind: GrpcKind,
    /// Planned distance of the messages that a call sends; without it, a call sends them at once.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message_gap_ns: Option<u64>,
}

/// Kind of gRPC calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrpcKind {
    /// One message each way.
    Unary,
    /// One message, which any number of messages answers.
    ServerStreaming,
    /// Any number of messages, which one message answers.
    ClientStreaming,
    /// Any number of messages each way.
    Bidirectional,
}

impl GrpcKind {
    /// Returns the kind of a method, by whether each side sends a stream of messages.
    pub const fn new(client_streams: bool, server_streams: bool) -> GrpcKind {
        match (client_streams, server_streams) {
            (false, false) => GrpcKind::Unary,
            (false, true) => GrpcKind::ServerStreaming,
            (true, false) => GrpcKind::ClientStreaming,
            (true, true) => GrpcKind::Bidirectional,
        }
    }

    /// Returns true if a call sends any number of messages.
    pub const fn client_streams(self) -> bool {
        matches!(self, GrpcKind::ClientStreaming | GrpcKind::Bidirectional)
    }

    /// Returns true if any number of messages answers a call.
    pub const fn server_streams(self) -> bool {
        matches!(self, GrpcKind::ServerStreaming | GrpcKind::Bidirectional)
    }
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
