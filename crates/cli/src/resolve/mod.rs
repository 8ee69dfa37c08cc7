//! Resolved arguments: checked against each other, with defaults and file contents. Nothing is saved here. Only three
//! modules send something: `grpc_schema` may ask a gRPC server for its schema, and `recognise` and `prompts` ask a
//! language model.

pub(crate) mod agents;
mod cancel;
pub(crate) mod checks;
pub(crate) mod flow;
mod generator;
pub(crate) mod grpc;
mod grpc_channel;
pub(crate) mod grpc_schema;
pub(crate) mod input;
mod kept_headers;
pub(crate) mod lab;
pub(crate) mod load;
pub(crate) mod load_target;
pub(crate) mod messages;
pub(crate) mod prompts;
pub(crate) mod recognise;
pub(crate) mod replay;
pub(crate) mod request;
pub(crate) mod rows;
pub(crate) mod run;
pub(crate) mod scenario;
mod server_timing;
pub(crate) mod stream;
pub(crate) mod stripe;
pub(crate) mod tls;
pub(crate) mod trace;
