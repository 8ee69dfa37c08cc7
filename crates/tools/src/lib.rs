//! Other load tools. For each: detection and installation, a command line for a load, and a parser of its output.
//!
//! A [`Tool`] states the command line ([`Tool::command`]) and parses the output ([`Tool::parse`]); `truetail-lab` runs
//! it. This crate only starts processes to ask for a version ([`Tool::locate`]). A parser takes bytes and returns a
//! [`ToolReport`], or a [`ParseError`] that names the line. It never panics, and never invents unreported figures.
//!
//! To add a tool, add a folder next to this file, and two lines in this file: its module, and its place in [`all`].

#![warn(unreachable_pub)]

mod ab;
mod aiperf;
mod autocannon;
mod fortio;
mod gatling;
mod ghz;
pub mod grpc;
mod guidellm;
mod h2load;
mod hey;
mod hyperfoil;
mod inference_perf;
mod jmeter;
mod k6;
mod locust;
mod oha;
mod truetail;
mod vegeta;
mod wrk;
mod wrk2;

mod error;
mod failure_classifier;
pub mod files;
mod grpc_go;
mod jars;
mod known_tool;
mod load;
mod locate;
mod model;
mod output;
mod output_reader;
pub mod python;
mod report;
mod serving;
mod tool;
pub mod units;

pub use error::{CommandError, ParseError};
pub use failure_classifier::FailureClassifier;
pub use load::LoadSpec;
pub use locate::{InstalledTool, SearchPath, ToolNotFound};
pub use output::{Invocation, ToolOutput};
pub use report::{ReportedRequest, ToolReport};
pub use tool::{InstallHint, Protocols, Tool, ToolInfo};

/// Returns every tool, in the order of the documentation.
#[rustfmt::skip]
pub fn all() -> &'static [&'static dyn Tool] {
    static ALL: &[&dyn Tool] = &[
        &ab::TOOL,
        &hey::TOOL,
        &wrk::TOOL,
        &wrk2::TOOL,
        &vegeta::TOOL,
        &k6::CONSTANT_VUS,
        &k6::CONSTANT_ARRIVAL_RATE,
        &jmeter::THREAD_GROUP,
        &jmeter::PRECISE_THROUGHPUT,
        &locust::TOOL,
        &gatling::TOOL,
        &hyperfoil::TOOL,
        &oha::TOOL,
        &h2load::TOOL,
        &autocannon::TOOL,
        &ghz::TOOL,
        &ghz::WITHOUT_WAITING,
        &fortio::TOOL,
        &truetail::OPEN,
        &truetail::CLOSED,
        &truetail::MODEL,
        &guidellm::TOOL,
        &aiperf::TOOL,
        &inference_perf::TOOL,
        &serving::UNLIMITED,
        &serving::LIMITED,
        &serving::SGLANG,
        &k6::MODEL,
        &locust::MODEL,
    ];
    ALL
}

/// Returns the names of [`all`] tools.
pub fn names() -> Vec<&'static str> {
    all().iter().map(|tool| tool.name()).collect()
}

/// Returns the tool of that name.
pub fn by_name(name: &str) -> Option<&'static dyn Tool> {
    all().iter().copied().find(|tool| tool.name() == name)
}
