//! `truetail demo`.

use std::path::PathBuf;

use clap::Args;

use super::page::TypedArgs;

const EXAMPLE: &str = "\
Example:
  truetail demo";

/// See in 40 seconds how a closed loop hides a stall of the server
///
/// Starts a server that stalls for a second, measures it first with 10 users who wait for each answer (a closed loop),
/// then on a schedule that does not wait (an open loop), and compares both results with the truth.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct DemoArgs {
    /// Save the two runs in DIR/closed and DIR/open [default: new folders under truetail-runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the runs that DIR/closed and DIR/open hold
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Do not save the runs
    #[arg(long)]
    pub no_save: bool,
    /// Show no progress
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub typed: TypedArgs,
}
