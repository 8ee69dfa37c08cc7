//! `truetail certify`.

use std::path::PathBuf;

use clap::Args;
use truetail_model::time::{Nanos, Rate};

use super::values::length;

const EXAMPLE: &str = "\
Examples:
  truetail certify -- oha -q {rate} -z {duration} -c 1000 --no-tui {url}
  truetail certify --rate 500 --duration 30s -- wrk -t2 -c10 -d{duration} --latency {url}
  truetail certify -- ab -k -t {seconds} -n 10000000 -c 10 {url}";

const MORE: &str = "\
In the command, truetail fills in {url}, {rate} (requests per second), {duration} (such as 20s) and {seconds} (such as 20).\n\n\
Exit codes: 0 the tool keeps its schedule; 4 it does not, so its percentiles cannot be trusted; 1 undecided.";

/// Test whether a load tool reports the true tail
///
/// Runs the command three times against truetail's own server: once while the server is healthy, once with a single stall,
/// once with pauses like those of a garbage collector. The requests that arrive tell whether the tool keeps its schedule
/// or waits for the server.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE, after_help = MORE)]
pub struct CertifyArgs {
    /// Request rate for {rate}
    #[arg(long, default_value = "1000", allow_hyphen_values = true)]
    pub rate: Rate,
    /// Duration of each of the three runs
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = length, allow_hyphen_values = true)]
    pub duration: Nanos,
    /// Folder for the output of the command and the logs of the server [default: truetail-lab/certify]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the result as JSON on standard output, and nothing else
    #[arg(long)]
    pub json: bool,
    /// Show no progress
    #[arg(long)]
    pub quiet: bool,
    /// The load tool's command, after --
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub command: Vec<String>,
}
