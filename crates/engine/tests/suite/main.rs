//! Tests of the engine against servers that are controlled by the test.

mod addresses;
mod callable;
mod http2;
mod http_version;
mod messages;
mod messages_grpc;
mod opened_ahead;
mod origins;
mod outcomes;
mod parts_of_an_answer;
mod preflight;
mod requests;
mod scenarios;
mod schedule;
mod soak;
#[path = "../support/mod.rs"]
mod support;
mod tls;
mod turns;
