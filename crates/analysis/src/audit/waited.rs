//! Finding from waits in the client that the file states.

use serde_json::json;

use super::estimate::with_bounds;
use super::finding::{Audit, AuditFinding, Evidence};
use super::rows::MATERIAL;
use super::waits::Waits;
use crate::figures;

/// Code of this evidence.
pub const WAITED_IN_CLIENT: &str = "waited_in_client";

/// Makes the finding certain if enough requests waited to matter. Each delay is then known, and nothing is estimated.
pub(super) fn apply(audit: Audit, waits: Option<&Waits>) -> Audit {
    let requests = audit.requests.unwrap_or_default();
    let Some(Waits { waited, longest, whole }) =
        waits.filter(|waits| waits.waited as f64 >= MATERIAL * requests as f64)
    else {
        return audit;
    };
    let message = format!(
        "{waited} of {requests} requests waited in the client, for up to {}, before the clock of their latency began; the file has these \
         waits",
        figures::time(longest.0 as f64)
    );
    let numbers = [("waited", json!(waited)), ("longest_wait_ns", json!(longest.0))];
    let mut evidence = vec![Evidence::new(WAITED_IN_CLIENT, message, &numbers)];
    evidence.extend(audit.evidence.into_iter().filter(|_| audit.finding.is_omission()));
    let corrected = with_bounds(whole, &[], None);
    Audit { finding: AuditFinding::Certain, evidence, missing_arrivals: Some(0), corrected, ..audit }
}
