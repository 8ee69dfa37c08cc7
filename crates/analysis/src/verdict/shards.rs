//! Reasons against a run that several machines shared. The whole is no better than the worst part.

use truetail_model::record::Tally;
use truetail_run::{Run, Shard, Shards, VerdictState};

use super::thresholds::{SATURATED_GROWTH_SHARE, SENT_IN_TIME_SHARE};
use super::validity_issue::{ValidityIssue, code};

/// Codes of the reasons that concern the generator. Reasons that concern the service are found in the whole run.
const OF_THE_GENERATOR: [&str; 11] = [
    code::INCOMPLETE,
    code::BOOKS_UNBALANCED,
    code::NO_ANSWERS,
    code::GENERATOR_LAG,
    code::GENERATOR_PAUSED,
    code::GENERATOR_LIMIT,
    code::GENERATOR_BUSY,
    code::CPU_THROTTLED,
    code::ARRIVALS_OFF_SCHEDULE,
    code::RATE_NOT_REACHED,
    code::STARTED_LATE,
];

pub(super) fn started_late(run: &Run) -> Option<ValidityIssue> {
    let start = run.facts.start.filter(|start| start.missed > 0)?;
    let arrivals = run.snapshot.all_arrivals().planned;
    let invalid = is_too_much(start.missed, arrivals);
    Some(ValidityIssue::StartedLate { late_ns: start.late_ns, missed: start.missed, arrivals, invalid })
}

pub(super) fn stripes_missing(run: &Run) -> Option<ValidityIssue> {
    let Shards { of, missing, .. } = run.facts.shards.as_ref()?;
    let lacking = missing.len() as u64;
    let invalid = is_too_much(lacking, u64::from(*of));
    (lacking > 0).then(|| ValidityIssue::StripesMissing { missing: missing.clone(), of: *of, invalid })
}

/// Returns true if too much of the load is missing.
fn is_too_much(lacking: u64, all: u64) -> bool {
    lacking as f64 > all as f64 * (1.0 - SENT_IN_TIME_SHARE)
}

/// Returns an issue if the generator of a machine is in doubt.
pub(super) fn shard_doubted(run: &Run) -> Option<ValidityIssue> {
    let shards = run.facts.shards.as_ref()?;
    let doubted = || shards.by_stripe.iter().filter_map(|shard| Some((doubt(shard)?, shard)));
    // The first of the worst shards.
    let (doubt, worst) = doubted().max_by_key(|(doubt, shard)| (doubt.0, std::cmp::Reverse(shard.index)))?;
    Some(ValidityIssue::ShardDoubted {
        stripe: worst.index,
        of: shards.of,
        because: doubt.1.to_owned(),
        doubted: doubted().count() as u64,
        invalid: doubt.0 == VerdictState::Invalid,
    })
}

/// Returns the degree of doubt about a machine's generator, and the first reason for it.
fn doubt(shard: &Shard) -> Option<(VerdictState, &str)> {
    let is_of_generator = |code: &&String| OF_THE_GENERATOR.contains(&code.as_str());
    let code = shard.reasons.iter().find(is_of_generator)?;
    let state = match shard.verdict? {
        VerdictState::Valid => return None,
        VerdictState::Suspect => VerdictState::Suspect,
        // The worst reason comes first, so another reason made the shard invalid.
        VerdictState::Invalid if shard.reasons.first() != Some(code) => VerdictState::Suspect,
        VerdictState::Invalid => VerdictState::Invalid,
    };
    Some((state, code))
}

/// Removes issues that missing stripes or a late start explain, because requests that were due then were never sent.
pub(super) fn remove_explained(issues: &mut Vec<ValidityIssue>, tally: &Tally) {
    let explained: f64 = issues.iter().map(never_sent_by).sum();
    if explained == 0.0 {
        return;
    }
    let is_explained = tally.never_issued as f64 <= (tally.planned as f64 * explained).ceil();
    let only_never_issued = tally.censored() <= tally.never_issued;
    issues.retain(|issue| match issue {
        ValidityIssue::RateNotReached { planned_per_second, sent_per_second, .. } => {
            *sent_per_second < planned_per_second * (1.0 - explained) * SENT_IN_TIME_SHARE
        }
        // Arrivals never sent count as outstanding, so the backlog grows by them as if the service did not keep up.
        ValidityIssue::Saturated { offered_per_second, growth_per_second, .. } => {
            *growth_per_second > offered_per_second * (explained + SATURATED_GROWTH_SHARE)
        }
        ValidityIssue::CensoredTail { .. } => !(is_explained && only_never_issued),
        _ => true,
    });
}

/// Returns the share of all arrivals that were never sent for this reason.
fn never_sent_by(issue: &ValidityIssue) -> f64 {
    match issue {
        ValidityIssue::StripesMissing { missing, of, .. } => missing.len() as f64 / f64::from(*of),
        ValidityIssue::StartedLate { missed, arrivals, .. } => *missed as f64 / *arrivals as f64,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(missed: u64, sent_per_second: f64, never_issued: u64) -> Vec<&'static str> {
        let tally = Tally { planned: 1_000, never_issued, ..Tally::default() };
        let mut issues = vec![
            ValidityIssue::StartedLate { late_ns: 1, missed, arrivals: 1_000, invalid: false },
            ValidityIssue::RateNotReached {
                planned_per_second: 100.0,
                sent_per_second,
                by_generator: true,
                never_sent: tally.never_issued,
                limit: None,
                invalid: true,
            },
        ];
        remove_explained(&mut issues, &tally);
        issues.iter().map(ValidityIssue::code).collect()
    }

    #[test]
    fn each_issue_of_a_generator_makes_its_machine_doubtful() {
        let issues = [
            ValidityIssue::BooksUnbalanced { planned: 2, accounted: 1 },
            ValidityIssue::NoAnswers { planned: 1, issued: 0, allowed: false },
            ValidityIssue::StartedLate { late_ns: 1, missed: 1, arrivals: 1, invalid: true },
        ];
        for issue in issues {
            let verdict = Some(issue.state());
            let reasons = vec![issue.code().to_owned()];
            let shard = Shard { verdict, reasons, ..Shard::default() };
            assert_eq!(doubt(&shard), Some((VerdictState::Invalid, issue.code())));
        }
    }

    #[test]
    fn what_a_late_beginning_explains_is_said_once() {
        assert_eq!(left(400, 60.0, 400), ["started_late"]);
    }

    #[test]
    fn a_backlog_of_a_missing_stripe_is_not_the_services() {
        let codes = |growth_per_second: f64| {
            let mut issues = vec![
                ValidityIssue::StripesMissing { missing: vec![2], of: 4, invalid: true },
                ValidityIssue::Saturated {
                    offered_per_second: 100.0,
                    capacity_per_second: 75.0,
                    growth_per_second,
                    backlog: 1_000,
                    connections: None,
                },
            ];
            remove_explained(&mut issues, &Tally { planned: 1_000, never_issued: 250, ..Tally::default() });
            issues.iter().map(ValidityIssue::code).collect::<Vec<_>>()
        };
        assert_eq!(codes(25.0), ["stripes_missing"]);
        assert_eq!(codes(60.0), ["stripes_missing", "saturated"]);
    }

    #[test]
    fn what_it_does_not_explain_stays() {
        assert_eq!(left(1, 60.0, 1), ["started_late", "rate_not_reached"]);
    }
}
