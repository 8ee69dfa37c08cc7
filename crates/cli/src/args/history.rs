//! `truetail history`.

use std::path::PathBuf;

use clap::Args;
use truetail_analysis::history::HistoryGate;

use super::compare::CompareAs;
use super::runs::WhichRunsArgs;
use crate::output_folder::PARENT;

const EXAMPLE: &str = "\
Examples:
  truetail history
  truetail history checkout --fail-if 'p99 slower than 5%'
  truetail history ci-runs --tag branch=main --since 90d --json";

/// Tell when response times changed in a series of saved runs
///
/// Takes the runs with the load of the newest one, weighs each by the confidence interval of its percentile, and names
/// the two runs between which the level changed. One or two odd runs in a row are no change.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct HistoryArgs {
    /// Name or part of the URL of the runs, or a folder of runs [default: the runs like the newest]
    #[arg(value_name = "NAME|DIR")]
    pub what: Option<String>,
    /// Folder of the runs, if a name is given
    #[arg(long, value_name = "DIR", default_value = PARENT)]
    pub dir: PathBuf,
    #[command(flatten)]
    pub which: WhichRunsArgs,
    /// Say what is meant to differ: with 'hosts' the URLs may, as for a server with another port each time
    #[arg(long = "as", value_name = "WHAT", help_heading = "Result")]
    pub compare_as: Option<CompareAs>,
    /// Fail (exit code 3) if the newest level is slower than the fastest one before it by more than this, such as 'p99
    /// slower than 5%'. Repeatable. The exit code is 4 if the runs cannot decide it
    #[arg(long, value_name = "CONDITION", help_heading = "Result")]
    pub fail_if: Vec<HistoryGate>,
    /// Print the result as JSON on standard output, and nothing else
    #[arg(long, help_heading = "Result")]
    pub json: bool,
}
