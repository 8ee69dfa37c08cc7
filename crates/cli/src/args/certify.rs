//! `truetail certify`.

use std::path::PathBuf;

use clap::Args;
use truetail_model::time::{Nanos, Rate};

use super::values::length;

const EXAMPLE: &str = "\
Examples:
  truetail certify -- oha -q {rate} -z {duration} -c 1000 --no-tui {url}
  truetail certify --rate 500 --duration 30s -- wrk -t2 -c10 -d{duration} --latency {url}
  truetail certify -- ab -k -t {seconds} -n 10000000 -c 10 {url}
  truetail certify --llm -- ./my-client {origin} {rate} {seconds}
  truetail certify --suite --adapter my-tool.toml --html suite.html --badge suite.svg";

const MORE: &str = "\
In the command, truetail fills in {url}, {origin} (the URL without its path), {address} (host and port), {rate} (requests \
per second), {duration} (such as 20s), {seconds} (such as 20), {timeout} (of a request, in seconds) and {rate/10} (for each of \
ten workers).\n\n\
Exit codes: 0 the tool keeps its schedule; 4 it does not, so its percentiles cannot be trusted; 1 undecided. With --suite: 0 \
the tool passed each situation that was tested; 3 it failed one; 4 it failed none, and one is undecided or none was tested.";

/// Test whether a load tool reports the true tail
///
/// Runs the command three times against truetail's own server: once while the server is healthy, once with a single
/// stall, once with pauses like a garbage collector's. The requests that arrive tell whether the tool keeps its
/// schedule or waits for the server. With --llm the server is a language model: once healthy, and once with a stall of
/// its queue and one of its tokens.
///
/// With --suite the tool goes through twelve situations, such as stalls, resets, timeouts and saturation. The result
/// says for each whether its report is right. Without a command or an adapter, truetail itself does.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE, after_help = MORE)]
pub(crate) struct CertifyArgs {
    /// Request rate for {rate} [default: 1000/s; with --llm, 20/s]
    #[arg(long, allow_hyphen_values = true)]
    pub rate: Option<Rate>,
    /// Duration of each run [default: 20s; with --llm, 60s; with --suite, 10s, and at least 2s]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// Test a load tool for language models: the server streams tokens at /v1/completions and /v1/chat/completions
    #[arg(long)]
    pub llm: bool,
    /// Run the suite of situations. See docs/certified.md
    #[arg(long, conflicts_with_all = ["rate", "llm"], help_heading = "Suite")]
    pub suite: bool,
    /// File that says how to start the tool, and where its figures are
    #[arg(long, value_name = "FILE.toml", requires = "suite", conflicts_with = "command", help_heading = "Suite")]
    pub adapter: Option<PathBuf>,
    /// Run only these situations, separated by commas
    #[arg(long, value_name = "NAMES", requires = "suite", value_delimiter = ',', help_heading = "Suite")]
    pub situations: Vec<String>,
    /// Write a page with the result of the suite to this file: one HTML file that loads nothing
    #[arg(long, value_name = "FILE", requires = "suite", help_heading = "Suite")]
    pub html: Option<PathBuf>,
    /// Write a badge with the result of the suite to this file
    #[arg(long, value_name = "FILE.svg", requires = "suite", help_heading = "Suite")]
    pub badge: Option<PathBuf>,
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
    #[arg(value_name = "COMMAND", last = true, required_unless_present = "suite")]
    pub command: Vec<String>,
}
