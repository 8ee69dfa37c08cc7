//! The times of sessions.

use truetail_run::{Quantile, SessionFacts, SessionFindings, SessionTime};

use crate::distribution::{distribution, quantile_of};
use crate::population::Population;

/// Over all planned sessions. One that was not completed is slower than every one that was.
fn population(sessions: &SessionFacts) -> Population {
    let of = |time| sessions.times.of(time).to_histogram();
    Population::without_order(of(SessionTime::Completed), of(SessionTime::Censored), of(SessionTime::Failed))
}

/// Quantile `q` of the session response time.
pub(crate) fn quantile(sessions: &SessionFacts, q: f64) -> Quantile {
    quantile_of(&population(sessions), q)
}

/// How many sessions there are and the sum of their times, in nanoseconds; and of how many only a bound from below is in it.
pub(crate) fn sum(sessions: &SessionFacts) -> (u64, f64, u64) {
    let sum = SessionTime::ALL.into_iter().map(|time| sessions.times.of(time).sum_ns()).sum::<u128>();
    let unanswered = sessions.times.of(SessionTime::Censored).count() + sessions.times.of(SessionTime::Failed).count();
    (sessions.times.of(SessionTime::Completed).count() + unanswered, sum as f64, unanswered)
}

/// What is computed of the sessions of a run.
pub(crate) fn findings(sessions: &SessionFacts) -> SessionFindings {
    SessionFindings { session_time: distribution(&population(sessions)) }
}
