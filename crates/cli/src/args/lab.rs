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
  truetail lab run 02 --json";

/// Other people's load tools in front of the misbehaving server: which of them tells its truth?
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE, subcommand_required = true, arg_required_else_help = true)]
pub struct LabArgs {
    /// What to do there.
    #[command(subcommand)]
    pub verb: LabVerb,
}

/// The verbs of the laboratory.
#[derive(Subcommand, Debug)]
pub enum LabVerb {
    /// Which load tools are here, in which version, and how the others are had
    Tools(ToolsArgs),
    /// Run load tools through a scenario, one at a time, and set what they say beside the truth
    Run(LabRunArgs),
}

/// `truetail lab tools`.
#[derive(Args, Debug)]
#[command(before_help = TOOLS_EXAMPLE)]
pub struct ToolsArgs {
    /// Print the list as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

const RUN_MORE: &str = "\
Each tool gets a server of its own, whose fault clock starts at the tool's first request. What the tool printed and wrote, \
and what the server saw, is kept under --out in a folder a tool, and read again the next time: tools whose results are there \
are not run again. Tools that are missing or fail do not stop the others. Ctrl-C ends the tool that runs.";

/// Run load tools through a scenario, one at a time, and set what they say beside the truth
#[derive(Args, Debug)]
#[command(before_help = RUN_EXAMPLE, after_help = RUN_MORE)]
pub struct LabRunArgs {
    /// The name of a scenario that comes with truetail, its beginning (02), or a TOML file
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// Only these tools, by their names in `truetail lab tools`, separated by commas [default: all]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub tools: Vec<String>,
    /// A shorter or longer picture: every time of the scenario is scaled [default: the scenario's own]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// Where results are kept, in a folder a scenario [default: truetail-lab]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Run even the tools whose results are there
    #[arg(long)]
    pub force: bool,
    /// Print the table as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// No progress
    #[arg(long)]
    pub quiet: bool,
}
