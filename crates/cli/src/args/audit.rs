//! `truetail audit`.

use std::path::PathBuf;

use clap::Args;
use truetail_model::time::Nanos;

use super::foreign::ForeignOptions;
use super::page::TypedArgs;
use super::values::{length, run_folder};

const EXAMPLE: &str = "\
Examples:
  truetail audit results.jtl
  truetail audit results.jtl --html audit.html
  truetail audit before.csv after.csv --json
  truetail audit log.csv --columns start=at,duration=took --units start=ms,duration=ms
  truetail audit --prometheus before.txt after.txt --run truetail-runs/20251120T075600Z-127.0.0.1-8080";

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
    #[arg(required_unless_present = "prometheus", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Compare the request times that a service published with the times that the users of --run waited: two pages of
    /// its metrics, in the text format of Prometheus, saved shortly before the run and shortly after it
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], requires = "run", help_heading = "Metrics of a service")]
    #[arg(conflicts_with_all = ["files", "html", "format", "columns", "units", "users", "expected_interval"])]
    pub prometheus: Vec<PathBuf>,
    /// Folder of a saved run, or its run.json
    #[arg(long, value_name = "RUN", value_parser = run_folder, requires = "prometheus")]
    #[arg(help_heading = "Metrics of a service")]
    pub run: Option<PathBuf>,
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
