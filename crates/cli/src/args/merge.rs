//! `truetail merge`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLE: &str = "\
Example:
  truetail merge truetail-runs/first truetail-runs/second --out merged";

/// Make one run of several of the same workload: counts are added, no quantile is averaged
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub struct MergeArgs {
    /// The folders of the runs
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Save the whole in this folder
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}
