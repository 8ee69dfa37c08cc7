//! Baseline that a run is compared with.

use std::path::PathBuf;

use clap::Args;
use truetail_analysis::compare::CompareGate;

use super::values::run_folder;

/// The run that a run is compared with.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct BaselineArgs {
    /// Compare the run with this saved one: its folder, or a folder that holds several, which are repetitions. If
    /// nothing is there yet, the run says so and is not compared
    #[arg(long, value_name = "RUN", value_parser = run_folder, help_heading = "Baseline")]
    pub baseline: Option<PathBuf>,
    /// Fail the run (exit code 3) on this condition, such as 'p99 worse than 5%', or of streams 'ttft p99 worse than
    /// 10%'. Repeatable. The exit code is 4 if the runs cannot decide it, or should not be compared
    #[arg(long, value_name = "CONDITION", help_heading = "Baseline")]
    pub baseline_fail_if: Vec<CompareGate>,
    /// Save this run as the baseline if there is none yet, unless it is INVALID, was stopped, or failed
    #[arg(long, help_heading = "Baseline")]
    pub write_baseline: bool,
}
