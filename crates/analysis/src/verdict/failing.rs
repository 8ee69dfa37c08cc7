//! Runs that measured only failures. They are INVALID unless the user meant to measure a service that fails.

use truetail_run::Run;

use super::validity_issue::ValidityIssue;

pub(super) fn no_answers(run: &Run) -> ValidityIssue {
    let tally = &run.snapshot.tally;
    let allowed = run.facts.offered.allow_errors;
    ValidityIssue::NoAnswers { planned: tally.planned, issued: tally.issued, allowed }
}

/// Returns an issue if every answer had an error status, or if every session that ended did so early.
pub(super) fn all_failed(run: &Run) -> Option<ValidityIssue> {
    if run.facts.offered.allow_errors {
        return None;
    }
    sessions(run).or_else(|| answers(run))
}

fn sessions(run: &Run) -> Option<ValidityIssue> {
    let tally = &run.facts.sessions.as_ref()?.tally;
    let none_completed = tally.completed == 0 && tally.ended_early > 0;
    none_completed.then_some(ValidityIssue::AllSessionsFailed { sessions: tally.ended_early })
}

fn answers(run: &Run) -> Option<ValidityIssue> {
    let statuses = &run.snapshot.statuses;
    let responses = run.snapshot.tally.responses;
    let errors: u64 = statuses.range(400..).map(|(_, count)| count).sum();
    let all = responses > 0 && errors.saturating_add(run.facts.error_replies()) >= responses;
    let with_error = statuses.range(400..).map(|(status, count)| (*status, *count)).collect();
    all.then_some(ValidityIssue::AllFailed { responses, statuses: with_error })
}
