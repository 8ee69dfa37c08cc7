//! Tests of flows: what is read, and what a run of one writes down.

#[path = "../../../../tests/missing.rs"]
mod missing;

mod any_simulated;
mod any_text;
mod hurl_files;
mod parsing;
mod runs;
mod server;
mod simulated;
