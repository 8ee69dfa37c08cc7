//! `truetail audit`.

use std::path::PathBuf;

use clap::Args;
use truetail_model::time::Nanos;

use super::foreign::ForeignOptions;
use super::page::TypedArgs;
use super::values::length;

const EXAMPLE: &str = "\
Examples:
  truetail audit results.jtl
  truetail audit results.jtl --html audit.html
  truetail audit before.csv after.csv --json
  truetail audit log.csv --columns start=at,duration=took --units start=ms,duration=ms";

/// Tell whether a load tool left out requests, from its result file
///
/// A client that waits for answers stops sending while the service is slow, so its file lacks the requests that would
/// have been slow too: coordinated omission. The audit looks for that in single requests, says how many requests are
/// missing, and estimates the percentiles with them. It knows the files of most load tools by their content. The exit
/// code is 3 if the omission is likely or certain, and 4 if the file cannot tell.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct AuditArgs {
    /// Result files of load tools, or access logs; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: ForeignOptions,
    /// Time between two requests of a user when nothing is slow, if the file does not show it
    #[arg(long, value_name = "TIME", value_parser = length, help_heading = "Load")]
    pub expected_interval: Option<Nanos>,
    /// Print the result as JSON on standard output, and nothing else. Several files become an array
    #[arg(long, help_heading = "Result")]
    pub json: bool,
    /// Write a page with the finding, the file over time and its percentiles to this file: one HTML file that loads
    /// nothing
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub typed: TypedArgs,
}
