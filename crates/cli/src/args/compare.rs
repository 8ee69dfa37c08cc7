//! `truetail compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::comparison::ComparisonArgs;
use super::page::TypedArgs;
use super::values::run_folder;
use crate::output_folder::PARENT;

const EXAMPLE: &str = "\
Examples:
  truetail compare truetail-runs/before truetail-runs/after
  truetail compare --baseline main
  truetail compare old-1 old-2 old-3 --against new-1 new-2 new-3 --fail-if 'p99 worse than 5%'";

/// Tell whether response times differ between saved runs
///
/// For each percentile: the ratio of B to A with its 95 % confidence interval, and whether B is slower, faster, or
/// shows no difference. Several runs on a side are repetitions, which show how much runs of the same service differ.
/// With one run on each side that is unknown, and the interval holds only what is known within the runs. Of streams and
/// language models also their times, output tokens per second and goodput.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct CompareArgs {
    /// Folders of the runs of A, or their run.json files. Two runs without --against are A and B; with --baseline, all
    /// are B
    #[arg(required_unless_present = "baseline", value_name = "RUN", value_parser = run_folder)]
    pub runs: Vec<PathBuf>,
    /// Folders of the runs of B
    #[arg(long, value_name = "RUN", num_args = 1.., value_parser = run_folder)]
    pub against: Vec<PathBuf>,
    #[command(flatten)]
    pub from_history: FromHistoryArgs,
    /// Say what is meant to differ, so that it is no reason to refuse: with 'hosts' the URLs may, as for one service on
    /// two machines
    #[arg(long = "as", value_name = "WHAT", help_heading = "Result")]
    pub compare_as: Option<CompareAs>,
    #[command(flatten)]
    pub result: ComparisonArgs,
    /// Compare runs even if their loads, targets or generators differ, or one is INVALID
    #[arg(long, help_heading = "Result")]
    pub anyway: bool,
    #[command(flatten)]
    pub typed: TypedArgs,
}

/// Runs of A that come from saved runs.
#[derive(Args, Clone, Debug)]
pub(crate) struct FromHistoryArgs {
    /// Take the runs of A from the saved runs of this branch, or with this label: those like B since the last change of
    /// a percentile, at most the newest 10. The runs named are then B; without one, B is the newest saved run
    #[arg(long, value_name = "BRANCH|KEY=VALUE", conflicts_with = "against")]
    pub baseline: Option<String>,
    /// Folder of the saved runs of --baseline
    #[arg(long, value_name = "DIR", default_value = PARENT, requires = "baseline")]
    pub dir: PathBuf,
}

/// Something that is meant to differ between the runs of A and B.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum CompareAs {
    /// Destination of the requests.
    Hosts,
}
