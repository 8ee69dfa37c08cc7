//! Files with unreadable parts. A row that was left out looks like a request that was never sent, and it may itself
//! belong to the stall that the audit searches for.

use serde_json::json;
use truetail_run::ForeignRun;

use super::finding::{Audit, AuditFinding, Evidence};
use super::rows::MATERIAL;
use super::summary::material_drops;

/// Rows left out do not matter up to this share of the missing requests.
const PART_OF_MISSING: f64 = 0.1;

/// Withdraws a finding that the left-out rows could explain or hide.
pub(super) fn limit(audit: Audit, run: &ForeignRun) -> Audit {
    let left_out = run.damage.rows_left_out as f64;
    let read = audit.requests.unwrap_or_default();
    if left_out == 0.0 || left_out < MATERIAL * (read as f64 + left_out) || material_drops(run, read).is_some() {
        return audit;
    }
    let missing = audit.missing_arrivals.unwrap_or_default() as f64;
    if audit.finding.is_omission() && left_out <= PART_OF_MISSING * missing {
        return audit;
    }
    let evidence = Evidence::new(
        "rows_left_out",
        "so many rows were left out that they could hide a stop, or look like one".to_owned(),
        &[("rows_left_out", json!(run.damage.rows_left_out))],
    );
    Audit {
        finding: AuditFinding::CannotTell,
        evidence: vec![evidence],
        missing_arrivals: None,
        users: None,
        expected_interval: None,
        corrected: Vec::new(),
        stops: Vec::new(),
        ..audit
    }
}
