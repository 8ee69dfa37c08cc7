//! Metrics for an OpenTelemetry receiver: OTLP over HTTP, in its protobuf encoding.
//!
//! | module | content |
//! |---|---|
//! | `endpoint` | where they go |
//! | `payload` | a state of a run as a message |
//! | `sender` | the thread that sends it |
//!
//! The messages are those of opentelemetry-proto, and ureq sends them. opentelemetry-otlp would bring an SDK with metrics of
//! its own and an asynchronous runtime; here the metrics exist already.

mod endpoint;
mod payload;
mod sender;

pub use endpoint::OtlpEndpoint;
pub use sender::OtlpSender;
