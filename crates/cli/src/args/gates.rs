//! Options of every verb that judges a run.

use std::path::PathBuf;

use clap::Args;
use truetail_analysis::gates::Gate;

/// Conditions under which a run fails, and where the outcome is written.
#[derive(Args, Clone, Default, Debug)]
pub struct GateArgs {
    /// Fail the run (exit code 3) on this condition, such as 'p99 > 50ms' or 'error-rate > 1%'. Repeatable
    ///
    /// Write METRIC > LIMIT, or with >=, < or <=. METRIC is p50, p99.9 or any other percentile of response time, max or mean (limit
    /// 50ms); the same after service-time or first-byte ('service-time p99 > 5ms'); error-rate, unanswered or check-failures
    /// (limit 1%); or throughput (limit 950/s). 'p99{GET /items} > 20ms' is for one target. With --stream also first-event, event-gap
    /// and longest-gap ('event-gap p99 > 50ms') and incomplete-streams; with --llm ttft, itl and tpot; with --flow session-time and
    /// incomplete-sessions. The exit code is 4 if the run cannot decide a condition.
    #[arg(long, value_name = "CONDITION", help_heading = "Result")]
    pub fail_if: Vec<Gate>,
    /// Write the verdict, gates and checks to this file as JUnit XML
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub junit: Option<PathBuf>,
    /// Write a summary in Markdown to this file
    #[arg(long, value_name = "FILE", help_heading = "Result")]
    pub markdown: Option<PathBuf>,
    /// Add the Markdown summary to the page of the GitHub Actions job ($GITHUB_STEP_SUMMARY)
    #[arg(long, help_heading = "Result")]
    pub github: bool,
}
