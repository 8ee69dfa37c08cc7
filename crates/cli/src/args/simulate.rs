//! `truetail simulate`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLE: &str = "\
Examples:
  truetail simulate 02-single-hiccup
  truetail simulate my-scenario.toml --json
  truetail simulate freeze --out freeze";

/// A scenario in virtual time: what an ideal client would have measured, to the nanosecond
///
/// Three laboratories with fixed settings are simulated besides: freeze, every-nth and order-router.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub struct SimulateArgs {
    /// The name of a scenario that comes with truetail, its beginning (02), a TOML file, or a lab
    #[arg(value_name = "NAME|FILE")]
    pub scenario: String,
    /// Save the run in this folder, or each series of a lab in one of its own in it
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the result as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}
