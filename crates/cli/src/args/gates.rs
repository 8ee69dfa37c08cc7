//! Options of every verb that judges a run.

use std::path::PathBuf;

use clap::Args;
use truetail_analysis::gates::Gate;

/// Conditions under which a run fails, and where the outcome is written.
#[derive(Args, Clone, Default, Debug)]
pub struct GateArgs {
    /// Exit with 3 if this holds, and with 4 if the run cannot tell: METRIC > LIMIT, also >=, < and <=. Repeatable
    ///
    /// METRIC is the response time at p50, p99.9 or any other percentile, its max or mean (limit 50ms); the same of
    /// 'service-time' or 'first-byte' ('service-time p99 > 5ms'); error-rate (an error status, or no answer), unanswered or
    /// check-failures (limit 1%); or throughput (limit 950/s). 'p99{GET /items} > 20ms' is about one target.
    #[arg(long, value_name = "CONDITION", help_heading = "Result")]
    pub fail_if: Vec<Gate>,
    /// Write the verdict, the gates and the checks to this file as JUnit XML
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub junit: Option<PathBuf>,
    /// Write a summary in Markdown to this file
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub markdown: Option<PathBuf>,
    /// Add that summary to the page of a GitHub Actions job, the file that $GITHUB_STEP_SUMMARY names
    #[arg(long, help_heading = "Result")]
    pub github: bool,
}
