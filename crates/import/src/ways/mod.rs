//! Recordings of requests, read as loads that can be sent again.

pub mod access_log;
pub mod conversations;
pub mod har;
mod hurl;
pub mod jmx;
pub mod k6;
mod load;
pub mod openapi;
pub mod postman;

pub use access_log::{AccessLog, AccessLogOptions, Placement, read_access_log};
pub use conversations::{ConversationOptions, MAX_TURNS, load_of_conversations};
pub use har::{HarFlow, HarOptions, flow_of_har};
pub use jmx::load_of_jmx;
pub use k6::load_of_k6;
pub use load::LoadFiles;
pub use openapi::{OpenApiOptions, OpenApiTargets, targets_of_openapi};
pub use postman::{PostmanFlow, flow_of_postman};

use crate::rows::instant::instant;

/// Limits on the names in a note, and on the characters of each.
const MAX_NAMES: usize = 5;
const MAX_NAME_CHARS: usize = 60;

/// Replaces control characters of a note. Names in a recording could otherwise move the cursor of a terminal.
fn shown(remark: &str) -> String {
    remark.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns the first of these names, separated by commas.
fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = if names.len() > MAX_NAMES { ", …" } else { "" };
    let first: Vec<String> = names.take(MAX_NAMES).map(shortened).collect();
    format!("{}{more}", first.join(", "))
}

fn shortened(name: String) -> String {
    match name.char_indices().nth(MAX_NAME_CHARS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

/// Returns `1 line`, `2 lines`.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Reads `2026-11-20T06:00:00Z`, `20/Nov/2026:06:00:00 +0000` or a Unix time. Returns nanoseconds since 1970.
pub fn unix_ns(text: &str) -> Option<u64> {
    instant(text.as_bytes()).ok().map(|time| time.ns)
}
