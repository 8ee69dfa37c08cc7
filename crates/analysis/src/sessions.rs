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

/// What is computed of the sessions of a run.
pub(crate) fn findings(sessions: &SessionFacts) -> SessionFindings {
    SessionFindings { session_time: distribution(&population(sessions)) }
}
