//! Findings from access logs. A log shows that nothing reached the server, but not why.

use serde_json::Value;

use super::finding::{Audit, AuditFinding, Evidence};
use super::rows::KnownLoad;

/// Reduces a finding to what the server saw. The server itself may have stopped while its clients kept sending.
pub(super) fn adapt(audit: &mut Audit, given: KnownLoad) {
    if matches!(audit.finding, AuditFinding::Likely | AuditFinding::Certain) {
        audit.finding = AuditFinding::Likely;
        audit.missing_arrivals = None;
        audit.corrected.clear();
    }
    audit.users = given.users;
    audit.expected_interval = given.interval;
    audit.evidence.retain(|evidence| evidence.code != "stops_at_limit");
    audit.evidence.iter_mut().for_each(reword);
    audit.evidence.push(Evidence::new(
        "server_view",
        "the file was written by the server: it holds what reached the server, and no time that a request waited before"
            .to_owned(),
        &[],
    ));
}

fn reword(evidence: &mut Evidence) {
    let number = |name: &str| evidence.numbers.get(name).and_then(Value::as_f64).unwrap_or_default();
    if evidence.code == "sends_stop_while_slow" {
        let times =
            if number("silences") > 1.0 { format!("{:.0} times", number("silences")) } else { "once".to_owned() };
        evidence.message = format!(
            "{times} nothing reached the server and it answered nothing while requests were in flight, for up to {}; \
             at the rate before and after, {:.0} requests were to be expected in that time. The clients waited, or the \
             server itself stood still",
            crate::figures::time(number("longest_ns")),
            number("expected_starts"),
        );
    }
}
