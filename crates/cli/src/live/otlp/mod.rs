//! Metrics for an OpenTelemetry receiver: OTLP over HTTP, in protobuf encoding.
//!
//! | module | content |
//! |---|---|
//! | `endpoint` | the receiver |
//! | `payload` | encodes a state of a run as a message |
//! | `sender` | thread that sends messages |
//!
//! The message types are from opentelemetry-proto, and ureq sends them. opentelemetry-otlp would add an SDK with its
//! own metrics and an asynchronous runtime, but the metrics exist already.

mod endpoint;
mod payload;
mod sender;

pub(super) use endpoint::OtlpEndpoint;
pub(super) use sender::OtlpSender;
