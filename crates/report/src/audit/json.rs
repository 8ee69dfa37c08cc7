//! The JSON of an audit.

use serde::Serialize;
use truetail_analysis::audit::{AuditFinding, CorrectedQuantile, Evidence, ReportedQuantile};
use truetail_run::{FilePlace, ForeignView, Habit, UnusedRows};

use super::AuditReport;
use crate::json::pretty_json;

const SCHEMA: &str = "truetail.audit/1";

#[derive(Serialize)]
struct AuditFile<'a> {
    schema: &'static str,
    file: &'a str,
    format: &'static str,
    tool: Option<&'static str>,
    version: Option<&'a str>,
    finding: AuditFinding,
    view: ForeignView,
    #[serde(flatten)]
    found: AuditFigures<'a>,
    #[serde(flatten)]
    reading: AuditNotes<'a>,
}

#[derive(Serialize)]
struct AuditFigures<'a> {
    evidence: &'a [Evidence],
    requests: Option<u64>,
    failed: Option<u64>,
    missing_arrivals: Option<u64>,
    users: Option<u32>,
    expected_interval_ns: Option<u64>,
    reported: Quantiles<&'a [ReportedQuantile]>,
    corrected: Quantiles<&'a [CorrectedQuantile]>,
}

#[derive(Serialize)]
struct AuditNotes<'a> {
    #[serde(flatten)]
    unused: Unused<'a>,
    notes: &'a [String],
    habits: &'a [Habit],
}

/// Parts of the file that could not be used.
#[derive(Serialize)]
pub(super) struct Unused<'a> {
    truncated_at: Option<FilePlace>,
    rows_left_out: u64,
    first_left_out: Option<LeftOut<'a>>,
}

pub(super) fn unused(damage: &UnusedRows) -> Unused<'_> {
    Unused {
        truncated_at: damage.truncated_at,
        rows_left_out: damage.rows_left_out,
        first_left_out: damage.first.as_ref().map(|(place, what)| LeftOut { place: *place, what }),
    }
}

#[derive(Serialize)]
struct LeftOut<'a> {
    #[serde(flatten)]
    place: FilePlace,
    what: &'a str,
}

#[derive(Serialize)]
struct Quantiles<Q> {
    quantiles: Q,
}

fn audit_file(report: &AuditReport) -> AuditFile<'_> {
    let AuditReport { file, run, audit } = report;
    AuditFile {
        schema: SCHEMA,
        file,
        format: run.format,
        tool: run.tool,
        version: run.version.as_deref(),
        finding: audit.finding,
        view: run.view,
        found: AuditFigures {
            evidence: &audit.evidence,
            requests: audit.requests,
            failed: audit.failed,
            missing_arrivals: audit.missing_arrivals,
            users: audit.users,
            expected_interval_ns: audit.expected_interval.map(|interval| interval.0),
            reported: Quantiles { quantiles: &audit.reported },
            corrected: Quantiles { quantiles: &audit.corrected },
        },
        reading: AuditNotes { unused: unused(&run.damage), notes: &run.notes, habits: run.habits },
    }
}

/// Returns JSON, version 1: one object for one file, and an array of objects for several.
pub fn audit_json(reports: &[AuditReport]) -> String {
    match reports {
        [one] => pretty_json(&audit_file(one)),
        several => pretty_json(&several.iter().map(audit_file).collect::<Vec<_>>()),
    }
}
