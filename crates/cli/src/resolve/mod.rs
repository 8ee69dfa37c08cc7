//! Resolved arguments: checked against each other, with defaults and file contents. Nothing is sent or saved here.

mod checks;
pub mod flow;
mod generator;
mod grpc;
pub mod grpc_schema;
pub mod input;
pub mod lab;
pub mod load;
mod messages;
pub mod replay;
pub mod request;
pub mod rows;
pub mod run;
pub mod scenario;
mod server_timing;
pub mod stream;
pub mod stripe;
pub mod tls;
pub mod trace;
