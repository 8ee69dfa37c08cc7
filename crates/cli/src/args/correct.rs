//! `truetail correct`.

use std::path::PathBuf;

use clap::Args;
use truetail_model::time::Nanos;

use super::foreign::ForeignOptions;
use super::values::length;

const EXAMPLE: &str = "\
Example:
  truetail correct results.jtl --expected-interval 10ms";

/// Apply HdrHistogram's correction for coordinated omission to a result file
///
/// For each request that took longer than the expected interval, the correction adds the requests that a client with
/// that interval would have sent meanwhile. It is a repair, not a measurement. It is refused if the latencies already
/// count from intended starts, or if the tool corrected them already, because then the waiting would count twice.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct CorrectArgs {
    /// Result file of a load tool, an HdrHistogram log, or an access log; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub reading: ForeignOptions,
    /// Time between two requests of a user when nothing is slow
    #[arg(long, value_name = "TIME", value_parser = length, required = true, help_heading = "Load")]
    pub expected_interval: Nanos,
    /// Correct latencies that need no correction. The waiting then counts twice
    #[arg(long, help_heading = "Result")]
    pub anyway: bool,
    /// Print the result as JSON on standard output, and nothing else
    #[arg(long, help_heading = "Result")]
    pub json: bool,
}
