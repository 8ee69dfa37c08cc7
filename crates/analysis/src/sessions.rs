//! The times of sessions and of their steps.

use truetail_run::{
    FlowFacts, FlowTime, Quantile, SessionFacts, SessionFindings, SessionTime, SessionTimes, StepFacts, StepTime,
};

use crate::distribution::{distribution, quantile_of};
use crate::population::Population;

/// All planned sessions, or all steps that were due. Sessions that were not completed are slower than all that were.
fn population(times: &SessionTimes) -> Population {
    let of = |time| times.get(time).to_histogram();
    Population::without_order(of(SessionTime::Completed), of(SessionTime::Censored), of(SessionTime::Failed))
}

pub(crate) fn quantile(times: &SessionTimes, q: f64) -> Quantile {
    quantile_of(&population(times), q)
}

/// Returns the number of times, their sum in nanoseconds, and how many of them are only lower bounds.
pub(crate) fn sum(times: &SessionTimes) -> (u64, f64, u64) {
    let sum = SessionTime::ALL.into_iter().map(|time| times.get(time).sum_ns()).sum::<u128>();
    let unanswered = times.get(SessionTime::Censored).count() + times.get(SessionTime::Failed).count();
    (times.get(SessionTime::Completed).count() + unanswered, sum as f64, unanswered)
}

pub(crate) fn findings(sessions: &SessionFacts) -> SessionFindings {
    let of_step = |(step, facts): (u32, &StepFacts)| {
        let step_time = || distribution(&population(&facts.times));
        (facts.times.count() > 0).then(|| StepTime { step, step_time: step_time() })
    };
    let of_flow =
        |flow: &FlowFacts| FlowTime { flow: flow.name.clone(), session_time: distribution(&population(&flow.times)) };
    SessionFindings {
        session_time: distribution(&population(&sessions.times)),
        flow_times: sessions.flows.iter().map(of_flow).collect(),
        step_times: (0..).zip(&sessions.steps).filter_map(of_step).collect(),
    }
}
