//! Did the response time stay at one level, and did the arrivals come as they were planned?

use truetail_model::record::Metric;
use truetail_run::Findings;

use super::LimitReached;
use super::figures::{displaced_share, mean_or_zero};
use super::thresholds::{BACKLOG_IS_OURS_SHARE, OFF_SCHEDULE_SHARE};
use super::validity_issue::{SATURATED, ValidityIssue};

/// A change of level in mid-run. Where the backlog grows without end there is no level to change, and where the larger
/// part of the response time is generator lag, the change is the generator's: `others` say both already.
pub(super) fn not_stationary(findings: &Findings, others: &[ValidityIssue]) -> Option<ValidityIssue> {
    let shift = findings.settling.shift?;
    let saturated = others.iter().any(|issue| issue.code() == SATURATED);
    let lag = mean_or_zero(&findings.metrics[Metric::GeneratorLag]);
    let is_ours = lag > mean_or_zero(&findings.response_time) * BACKLOG_IS_OURS_SHARE;
    (!saturated && !is_ours).then_some(ValidityIssue::NotStationary { shift, cut_ns: findings.settling.cut_ns })
}

/// Arrivals that the generator displaced in the order of others, so that another load was offered. Where its lag shows in
/// the response times, `others` say it already.
pub(super) fn arrivals_off_schedule(
    findings: &Findings,
    others: &[ValidityIssue],
    limit: Option<LimitReached>,
) -> Option<ValidityIssue> {
    let fidelity = findings.arrival_fidelity?;
    let said = |issue: &ValidityIssue| {
        matches!(
            issue,
            ValidityIssue::GeneratorLag { .. }
                | ValidityIssue::GeneratorPaused { .. }
                | ValidityIssue::RateNotReached { by_generator: true, .. }
        )
    };
    (displaced_share(findings) > OFF_SCHEDULE_SHARE && !others.iter().any(said)).then_some(
        ValidityIssue::ArrivalsOffSchedule {
            displaced: fidelity.displaced_by_generator,
            issued: fidelity.issued,
            mean_gap_ns: fidelity.mean_gap_ns,
            limit,
        },
    )
}
