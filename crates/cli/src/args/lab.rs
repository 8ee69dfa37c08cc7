//! `truetail lab`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use truetail_model::time::Nanos;

use super::values::length;

const EXAMPLE: &str = "\
Examples:
  truetail lab tools
  truetail lab run 02-single-hiccup
  truetail lab run 02 --tools ab,wrk,truetail --duration 12s";

const TOOLS_EXAMPLE: &str = "\
Examples:
  truetail lab tools
  truetail lab tools --json";

const RUN_EXAMPLE: &str = "\
Examples:
  truetail lab run 02-single-hiccup
  truetail lab run 02 --tools ab,wrk,truetail --duration 12s
  truetail lab run 04 --tools k6-constant-vus --force
  truetail lab run 02 --grpc
  truetail lab run 02 --json";

/// Compare the reports of other load tools with the truth
///
/// Runs wrk, k6, JMeter and other tools against truetail's own test server, which logs what really happened.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct LabArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: LabVerb,
}

/// The verbs of the laboratory. Clap finds the description of each at its arguments.
#[derive(Subcommand, Debug)]
pub(crate) enum LabVerb {
    Tools(ToolsArgs),
    Run(LabRunArgs),
}

/// List the load tools: which are installed, and how to install the others
#[derive(Args, Debug)]
#[command(before_help = TOOLS_EXAMPLE)]
pub(crate) struct ToolsArgs {
    /// Print the list as JSON on standard output, and nothing else
    #[arg(long)]
    pub json: bool,
}

const RUN_MORE: &str = "\
Each tool gets a fresh server, whose clock of faults starts at the tool's first request. The output of the \
tool and the log of the server are kept under --out, one folder per tool. A tool whose results are already there is not run \
again. Tools that are missing or fail do not stop the others. Ctrl-C ends the tool that is running.";

/// Run load tools through a scenario and compare their reports with the truth
#[derive(Args, Debug)]
#[command(before_help = RUN_EXAMPLE, after_help = RUN_MORE)]
pub(crate) struct LabRunArgs {
    /// Built-in scenario, by name or by the start of its name (02), or a TOML file
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// Tools to run, as 'truetail lab tools' names them, separated by commas [default: all that measure streams where
    /// the answers of the scenario are streams, else all others]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub tools: Vec<String>,
    /// Run the scenario over gRPC, with the tools that call it (needs a build with the feature serve-http2)
    #[arg(long)]
    pub grpc: bool,
    /// Scale every time of the scenario so that it takes this long [default: the scenario's own duration]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// Folder for the results, one folder per scenario [default: truetail-lab]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Run tools again even if their results are already there
    #[arg(long)]
    pub force: bool,
    /// Print the table as JSON on standard output, and nothing else
    #[arg(long)]
    pub json: bool,
    /// Show no progress
    #[arg(long)]
    pub quiet: bool,
}
