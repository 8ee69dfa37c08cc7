//! Groups of requests that took a similar, unusually long time.

use serde::{Deserialize, Serialize};

/// A group of requests with similar response times, apart from the others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Mode {
    /// Shortest response time of the group.
    pub low_ns: u64,
    /// Longest response time of the group.
    pub high_ns: u64,
    /// Requests of the group among those that the run keeps.
    pub requests: u64,
    /// Their share of the kept answers, in (0, 1].
    pub share: f64,
    /// The part in which they spent most of their time: `to the first byte`, for example.
    pub part: String,
    /// Share of that part in their response time, in (0, 1].
    pub part_share: f64,
    /// Place of the group in the run.
    pub place: ModePlace,
    /// The group in a sentence.
    pub message: String,
}

/// Place of a group of requests in the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModePlace {
    /// Over the whole run.
    Spread,
    /// One in this many requests, at equal distances.
    EveryNth(u64),
    /// Nearly all of them are of this target.
    Target(String),
    /// Nearly all of them have this value of a kept response header.
    Header {
        /// Name of the header.
        name: String,
        /// Its value.
        value: String,
    },
    /// Nearly all of them were on few connections.
    Connections {
        /// Number of these connections.
        slow: u64,
        /// Number of all connections.
        of: u64,
    },
    /// The connections of nearly all of them had been idle.
    AfterIdle {
        /// For at least this time.
        at_least_ns: u64,
    },
    /// Within this part of the run: times since its origin.
    Within {
        /// Intended start of the first.
        from_ns: u64,
        /// Intended start of the last.
        to_ns: u64,
    },
}
