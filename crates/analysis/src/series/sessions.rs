//! What is drawn of sessions.

use truetail_run::{EarlyEnd, Run, SampledSession, SessionEnding, SessionFacts, StepFacts};

use super::data::{EarlyEnds, SessionSeries, ShownSession};
use super::shown::shown;

/// The series of the sessions of a run; `None` where there was no flow.
pub(super) fn sessions(run: &Run) -> Option<SessionSeries> {
    let facts = run.facts.sessions.as_ref()?;
    let sampled = facts.sampled.iter().flat_map(|sampled| shown(sampled, slowness));
    Some(SessionSeries {
        steps: facts.steps.iter().map(|step| step.name.clone()).collect(),
        may_repeat: facts.steps.iter().map(|step| step.most_requests > 0).collect(),
        has_retries: facts.steps.iter().any(|step| step.retries > 0),
        begun: facts.tally.begun,
        early_ends: early_ends(facts),
        sampled: sampled.map(|(because, session)| ShownSession { because, session: session.clone() }).collect(),
    })
}

/// As in the distribution of session response times: one that was not completed is slower than every one that was, and one that
/// would never have been is slower than one that might.
fn slowness(session: &SampledSession) -> (u8, u64) {
    let rank = match session.ending {
        SessionEnding::Completed => 0,
        SessionEnding::InFlightAtEnd | SessionEnding::EndedEarly(EarlyEnd::TimedOut) => 1,
        SessionEnding::EndedEarly(_) => 2,
    };
    (rank, session.time_ns())
}

/// In the order of the steps.
fn early_ends(facts: &SessionFacts) -> Vec<EarlyEnds> {
    let of_step = |(step, facts): (usize, &StepFacts)| {
        let of_cause = move |(cause, sessions): (&_, &u64)| EarlyEnds { step, cause: *cause, sessions: *sessions };
        facts.ended_here.iter().map(of_cause).filter(|ends| ends.sessions > 0).collect::<Vec<_>>()
    };
    facts.steps.iter().enumerate().flat_map(of_step).collect()
}
