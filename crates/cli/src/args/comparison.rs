//! Conditions and output of a comparison, for `truetail compare` and `truetail ab`.

use std::path::PathBuf;

use clap::Args;
use truetail_analysis::compare::CompareGate;

/// Conditions of a comparison, and destination of its result.
#[derive(Args, Debug)]
pub(crate) struct ComparisonArgs {
    /// Fail the comparison (exit code 3) on this condition, such as 'p99 worse than 5%'. Repeatable. The exit code is 4
    /// if the runs cannot decide it
    ///
    /// Write PERCENTILE worse than SHARE; of streams a time before it: 'ttft p99 worse than 10%', or first-event,
    /// event-gap, longest-gap, itl, tpot; and 'goodput worse than 2%', which means percent points.
    #[arg(long, value_name = "CONDITION", help_heading = "Result")]
    pub fail_if: Vec<CompareGate>,
    /// Print the result as JSON on standard output, and nothing else
    #[arg(long, help_heading = "Result")]
    pub json: bool,
    /// Write a page with the curves, heat maps and ratios to this file: one HTML file that loads nothing
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub html: Option<PathBuf>,
    /// Append one row per run to this CSV file, for a spreadsheet or a change-point detector. A new file gets a header
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub append: Option<PathBuf>,
}
