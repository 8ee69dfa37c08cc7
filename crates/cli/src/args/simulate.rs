//! `truetail simulate`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLE: &str = "\
Examples:
  truetail simulate 02-single-hiccup
  truetail simulate my-scenario.toml --json";

/// A scenario in virtual time: what an ideal client would have measured, to the nanosecond
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub struct SimulateArgs {
    /// The name of a scenario that comes with truetail, its beginning (02), or a TOML file
    #[arg(value_name = "NAME|FILE")]
    pub scenario: String,
    /// Save the run in this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the result as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}
