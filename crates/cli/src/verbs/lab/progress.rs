//! Progress of a laboratory run on standard error, one line per event.

use truetail_analysis::league::ToolState;
use truetail_lab::{LabEvent, ToolResult};
use truetail_model::time::Nanos;
use truetail_report::number;

use crate::output;

pub(super) fn show(event: &LabEvent<'_>) {
    match event {
        LabEvent::Starting { tool, version, number, of, left } => {
            output::note(&format!("{number} of {of}: {tool} {version} …, about {} left", rounded(*left)));
        }
        LabEvent::Finished { tool, result: Some(reading) } => output::note(&format!("{tool}: {}", outcome(reading))),
        LabEvent::Finished { tool, result: None } => {
            output::note(&format!("{tool}: stopped; the same command runs it again"))
        }
        LabEvent::Reused { tool, result: reading } => {
            output::note(&format!("{tool}: result of an earlier run ({}); --force runs it again", outcome(reading)));
        }
        LabEvent::NotFound { tool, missing, install } => {
            output::note(&format!("{tool}: skipped, {missing}; to install it: {install}"));
        }
    }
}

/// Summarizes what a tool measured, or why it failed.
fn outcome(reading: &ToolResult) -> String {
    let p99 = reading.report.as_ref().and_then(|report| {
        truetail_analysis::league::ReportedLatency::from_claims(&report.claims, &reading.data).quantile(0.99)
    });
    let seen =
        reading.server_view.as_ref().map_or(String::new(), |saw| format!("{} requests, ", number::count(saw.count())));
    match (reading.state, p99) {
        (ToolState::Ok, Some(p99)) => format!("{seen}p99 {}", number::time(p99.value_ns)),
        (ToolState::Ok, None) => format!("{seen}no p99"),
        (state @ (ToolState::Failed | ToolState::Hung | ToolState::Missing), _) => {
            format!("{}: {}", state.name(), reading.message.as_deref().unwrap_or_default())
        }
    }
}

/// Rounds an estimate to seconds or minutes.
fn rounded(left: Nanos) -> String {
    let seconds = left.as_secs_f64();
    if seconds < 90.0 { format!("{:.0}s", seconds.max(1.0)) } else { format!("{:.0}min", seconds / 60.0) }
}
