//! Series of sessions.

use truetail_run::{EarlyEnd, Run, SampledSession, SessionEnding, SessionFacts, StepFacts};

use super::data::{EarlyEnds, SessionSeries, ShownSession};
use super::shown::shown;

/// Series of the sessions of a run. `None` if the run had no flow.
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

/// Rank in the order of the distribution of session response times: completed sessions, then sessions that might have
/// completed later, then sessions that could never complete.
fn slowness(session: &SampledSession) -> (u8, u64) {
    let rank = match session.ending {
        SessionEnding::Completed => 0,
        SessionEnding::InFlightAtEnd | SessionEnding::EndedEarly(EarlyEnd::TimedOut) => 1,
        SessionEnding::EndedEarly(_) => 2,
    };
    (rank, session.time_ns())
}

fn early_ends(facts: &SessionFacts) -> Vec<EarlyEnds> {
    let of_step = |(step, facts): (usize, &StepFacts)| {
        let of_cause = move |(cause, sessions): (&_, &u64)| EarlyEnds { step, cause: *cause, sessions: *sessions };
        facts.ended_here.iter().map(of_cause).filter(|ends| ends.sessions > 0).collect::<Vec<_>>()
    };
    facts.steps.iter().enumerate().flat_map(of_step).collect()
}
