//! `truetail report`.

use std::path::PathBuf;

use clap::Args;

use super::gates::GateArgs;
use super::screen::ScreenArgs;

const EXAMPLE: &str = "\
Example:
  truetail report truetail-runs/20251120T075600Z-127.0.0.1-8080";

/// Print the result of a saved run again
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub struct ReportArgs {
    /// The folder of the run
    pub run: PathBuf,
    /// Print run.json, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub gates: GateArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}
