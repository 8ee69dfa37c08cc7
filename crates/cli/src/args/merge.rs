//! `truetail merge`.

use std::path::PathBuf;

use clap::Args;

use super::replay::speed;
use super::values::run_folder;

const EXAMPLE: &str = "\
Example:
  truetail merge truetail-runs/first truetail-runs/second --out merged
  truetail merge stripe-* --out merged";

/// Combine several runs of the same workload into one
///
/// The histograms are added up, so the percentiles of the result are exact. Nothing is averaged. Runs with --stripe
/// must be all stripes of one load, each once.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct MergeArgs {
    /// Folders of the runs, or their run.json files
    #[arg(required = true, value_name = "RUN", value_parser = run_folder)]
    pub runs: Vec<PathBuf>,
    /// Save the combined run in this folder
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Merge although stripes are missing. They are named, and what they held counts as never issued
    #[arg(long)]
    pub partial: bool,
    /// The recording that was offered, of --replay or --profile trace:FILE: with --partial it says what missing stripes
    /// held
    #[arg(long, value_name = "FILE", requires = "partial")]
    pub trace: Option<PathBuf>,
    /// The --speed that it was replayed at [default: 1]
    #[arg(long, value_name = "FACTOR", value_parser = speed, requires = "trace")]
    pub speed: Option<f64>,
    /// Replace the run that the folder of --out holds
    #[arg(long)]
    pub force: bool,
}
