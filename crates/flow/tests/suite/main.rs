//! Tests of flows: parsing, and the records of runs.

#[path = "../../../../tests/missing.rs"]
mod missing;

mod agents;
mod any_simulated;
mod any_text;
mod connections;
mod guided;
mod http2;
mod hurl_files;
mod parsing;
#[allow(dead_code, reason = "the other tests use the rest of it")]
#[path = "../../../engine/tests/support/raw_http2.rs"]
mod raw_http2;
mod redirects;
mod retries;
mod runs;
mod server;
mod server_http2;
mod several;
mod several_origins;
mod simulated;
