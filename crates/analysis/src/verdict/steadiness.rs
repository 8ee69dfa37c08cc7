//! Did the response time stay at one level, and did the arrivals come as they were planned?

use truetail_model::record::Metric;
use truetail_run::{Findings, Shift};

use super::LimitReached;
use super::figures::{displaced_share, mean_or_zero};
use super::thresholds::{BACKLOG_IS_OURS_SHARE, LEVELS_RESOLVED, OFF_SCHEDULE_SHARE};
use super::validity_issue::{SATURATED, ValidityIssue};

/// A change of level in mid-run. Where the backlog grows without end there is no level to change, and where the larger
/// part of the response time is generator lag, the change is the generator's: `others` say both already. A change that is
/// hardly larger than what this machine resolves is none that can be seen.
pub(super) fn not_stationary(findings: &Findings, others: &[ValidityIssue]) -> Option<ValidityIssue> {
    let shift = findings.settling.shift?;
    let saturated = others.iter().any(|issue| issue.code() == SATURATED);
    let lag = mean_or_zero(&findings.metrics[Metric::GeneratorLag]);
    let is_ours = lag > mean_or_zero(&findings.response_time) * BACKLOG_IS_OURS_SHARE;
    let is_seen = moved_ns(&shift).is_none_or(|moved| moved > LEVELS_RESOLVED * resolution_ns(findings));
    (!saturated && !is_ours && is_seen)
        .then_some(ValidityIssue::NotStationary { shift, cut_ns: findings.settling.cut_ns })
}

/// From the lowest to the highest level of a shift; `None` if there was no answer at one of them.
fn moved_ns(shift: &Shift) -> Option<u64> {
    let levels = [shift.from_ns?, shift.to_ns?, shift.lowest_ns?, shift.highest_ns?];
    Some(levels.into_iter().max()? - levels.into_iter().min()?)
}

/// What the generator may have added to the median response time; 0 if that is not known.
fn resolution_ns(findings: &Findings) -> u64 {
    let median = findings.response_time.quantiles.iter().find(|quantile| quantile.q == 0.5);
    let added = median.and_then(|median| median.value_ns?.checked_sub(median.without_generator_ns?));
    added.unwrap_or(0)
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
