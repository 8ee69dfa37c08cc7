//! Other people's load tools: one folder for each, with how it is found and had, its command line for a load, and the
//! parser of what it prints.
//!
//! A [`Tool`] says *what* to run ([`Tool::command`]) and reads what came out ([`Tool::parse`]); whoever runs it is
//! `truetail-lab`. Nothing here starts a process but [`Tool::find`], which asks for a version. A parser takes bytes
//! and gives a [`ToolReport`] or a [`ParseError`] that names the line; it never panics and never fills anything in.

mod ab;
mod autocannon;
mod error;
mod failure_classifier;
mod gatling;
mod h2load;
mod hey;
mod hyperfoil;
mod jars;
mod jmeter;
mod k6;
mod load;
mod locate;
mod locust;
mod oha;
mod output;
mod output_reader;
mod registry;
mod report;
mod tool;
mod truetail;
pub mod units;
mod vegeta;
mod wrk;
mod wrk2;

pub use error::{CommandError, ParseError};
pub use load::LoadSpec;
pub use locate::{InstalledTool, SearchPath, ToolNotFound};
pub use output::{Invocation, ToolOutput};
pub use registry::{all, by_name, names};
pub use report::{ReportedRequest, ToolReport};
pub use tool::{InstallHint, Tool, ToolInfo};
