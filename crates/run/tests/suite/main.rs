//! Tests of writing, reading, merging and refusing run folders.

mod broken;
mod catalog;
mod hlog_in_python;
mod impossible;
mod merge;
#[path = "../../../../tests/missing.rs"]
mod missing;
mod round_trip;
mod sessions;
mod streams;
#[path = "../support/mod.rs"]
mod support;
mod targets;
mod timeline;
mod wire_v1;
