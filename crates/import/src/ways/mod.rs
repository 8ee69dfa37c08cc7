//! Recordings of what was asked for, read as loads to be offered again.

pub mod access_log;
pub mod har;

pub use access_log::{AccessLog, AccessLogOptions, Placement, read_access_log};
pub use har::{HarFlow, HarOptions, flow_of_har};

use crate::rows::instant::instant;

/// Nanoseconds since 1970 of a point in time as files write it: `2026-11-20T06:00:00Z`, `20/Nov/2026:06:00:00 +0000` or a Unix
/// time.
pub fn unix_ns(text: &str) -> Option<u64> {
    instant(text.as_bytes()).ok().map(|time| time.ns)
}
