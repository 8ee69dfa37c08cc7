//! Changes of the response time in mid-run, and arrivals that did not come as planned.

use truetail_model::record::Metric;
use truetail_run::{Findings, Shift};

use super::LimitReached;
use super::figures::{displaced_share, mean_or_zero};
use super::thresholds::{BACKLOG_IS_OURS_SHARE, LEVELS_RESOLVED, OFF_SCHEDULE_SHARE};
use super::validity_issue::{ValidityIssue, code};

/// Returns an issue if the response time changed its level in mid-run. Returns `None` if `others` has saturation,
/// because a backlog that grows without end has no level. Also returns `None` if the response time is mostly generator
/// lag, or if the change is hardly larger than what this machine resolves.
pub(super) fn not_stationary(findings: &Findings, others: &[ValidityIssue]) -> Option<ValidityIssue> {
    let shift = findings.settling.shift?;
    let saturated = others.iter().any(|issue| issue.code() == code::SATURATED);
    let lag = mean_or_zero(&findings.metrics[Metric::GeneratorLag]);
    let is_ours = lag > mean_or_zero(&findings.response_time) * BACKLOG_IS_OURS_SHARE;
    let is_seen = moved_ns(&shift).is_none_or(|moved| moved > LEVELS_RESOLVED * resolution_ns(findings));
    (!saturated && !is_ours && is_seen)
        .then_some(ValidityIssue::NotStationary { shift, cut_ns: findings.settling.cut_ns })
}

/// Returns the distance from the lowest to the highest level of a shift; `None` if a level had no answer.
fn moved_ns(shift: &Shift) -> Option<u64> {
    let levels = [shift.from_ns?, shift.to_ns?, shift.lowest_ns?, shift.highest_ns?];
    Some(levels.into_iter().max()? - levels.into_iter().min()?)
}

/// Returns what the generator may have added to the median response time, or 0 if that is not known.
fn resolution_ns(findings: &Findings) -> u64 {
    let median = findings.response_time.quantiles.iter().find(|quantile| quantile.q == 0.5);
    let added = median.and_then(|median| median.value_ns?.checked_sub(median.without_generator_ns?));
    added.unwrap_or(0)
}

/// Returns an issue if the generator displaced enough arrivals to change the load, unless `others` report its lag.
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
