//! `truetail demo`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLE: &str = "\
Example:
  truetail demo";

/// The whole point in one command: the same fault through a closed and an open loop, beside the truth
///
/// Starts a server that stands still for a second, asks it first as 10 users who wait for their answers do, then on a
/// schedule that does not wait, and compares both with what is true. Takes 40 seconds.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub struct DemoArgs {
    /// Save the two runs in folders 'closed' and 'open' of this one [default: new ones under truetail-runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Do not save the two runs
    #[arg(long)]
    pub no_save: bool,
    /// No progress
    #[arg(long)]
    pub quiet: bool,
}
