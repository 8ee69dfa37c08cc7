//! Options of every verb that judges a run.

use std::path::PathBuf;

use clap::Args;
use truetail_analysis::gates::{FailIf, Gate};
use truetail_stream::Objective;

use super::slo::SloArg;
use crate::error::{Result, usage_error};

/// Conditions that decide whether a run passes, and files for the outcome.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct GateArgs {
    /// Objective that must hold, else the run fails (exit code 3), such as 'p99 < 50ms' or 'error-rate < 1%'.
    /// Repeatable
    ///
    /// Write METRIC < LIMIT or METRIC <= LIMIT, or 'throughput > 950/s'. METRIC is the same as for the opposite
    /// condition. The exit code is 4 if the run cannot decide it. Of language models also what each request must meet
    /// to count in goodput: 'ttft < 200ms', 'tpot < 50ms' or 'e2e < 5s'.
    #[arg(long, value_name = "OBJECTIVE", help_heading = "Result")]
    pub slo: Vec<SloArg>,
    /// Fail the run (exit code 3) on this condition, such as 'p99 > 50ms': the opposite of --slo. Repeatable
    ///
    /// Write METRIC > LIMIT or METRIC >= LIMIT. METRIC is p50, p99.9 or any other percentile of response time, max or
    /// mean (limit 50ms); the same after service-time or first-byte ('service-time p99 > 5ms'); error-rate, unanswered
    /// or check-failures (limit 1%); or throughput, with < (limit 950/s). 'p99{GET /items} > 20ms' is for one target.
    /// Of streams also first-event, event-gap and longest-gap ('event-gap p99 > 50ms') and incomplete-streams; of
    /// language models ttft, itl, tpot and goodput ('goodput < 99%'); of flows session-time and incomplete-sessions.
    /// The exit code is 4 if the run cannot decide a condition.
    #[arg(long, value_name = "CONDITION", help_heading = "Result")]
    pub fail_if: Vec<FailIf>,
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

/// Message for goodput without objectives of each request.
pub(crate) fn empty_goodput(condition: &dyn std::fmt::Display) -> String {
    format!(
        "'{condition}' needs to know what each request must meet: add --slo 'ttft < 500ms' or --slo 'tpot < 50ms', or a \
         percentile of them such as --slo 'ttft p99 < 500ms'"
    )
}

impl GateArgs {
    /// Returns the gates of both options.
    pub(crate) fn gates(&self) -> Vec<Gate> {
        let must_hold = self.slo.iter().filter_map(SloArg::run_gate);
        must_hold.chain(self.fail_if.iter().map(|condition| &condition.0)).cloned().collect()
    }

    /// Returns the objectives that each request must meet. If goodput is asked for without them, the limits of the
    /// percentiles of TTFT and TPOT are meant.
    pub(crate) fn per_request(&self) -> Vec<Objective> {
        let given: Vec<Objective> = self.slo.iter().filter_map(SloArg::request_objective).cloned().collect();
        let gates = self.gates();
        if !given.is_empty() || !gates.iter().any(Gate::is_about_goodput) {
            return given;
        }
        gates.iter().filter_map(Gate::for_each_request).filter_map(|text| text.parse().ok()).collect()
    }

    /// Refuses goodput without objectives that each request must meet.
    pub(crate) fn refuse_empty_goodput(&self) -> Result<()> {
        match self.gates().iter().find(|gate| gate.is_about_goodput()) {
            Some(gate) if self.per_request().is_empty() => Err(usage_error(empty_goodput(gate))),
            _ => Ok(()),
        }
    }

    /// Refuses objectives of each request. `why` is the end of the message.
    pub(crate) fn refuse_per_request(&self, why: &str) -> Result<()> {
        match self.slo.iter().find_map(SloArg::request_objective) {
            Some(objective) => Err(usage_error(format!("--slo '{objective}' is about each request: {why}"))),
            None => Ok(()),
        }
    }
}
