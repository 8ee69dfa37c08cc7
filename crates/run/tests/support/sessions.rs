//! Example sessions.

use truetail_model::time::Nanos;
use truetail_run::{
    EarlyEnd, NotReached, SampledSessions, SessionEnding, SessionFacts, SessionTally, SessionTime, SessionTrail,
    StepFacts,
};

/// The begun sessions: each is due a millisecond after the one before it.
fn sampled() -> SampledSessions {
    let mut sampled = SampledSessions::default();
    let mut trail = SessionTrail::default();
    for number in 0..96 {
        let due_ns = number * 1_000_000;
        trail.restart(due_ns);
        trail.issue(0, due_ns);
        trail.end(due_ns + 1_000, Some(due_ns + 400_000));
        let list_due_ns = due_ns + 2_400_000;
        let end_ns = due_ns + 3_000_000 + number;
        if number >= 3 {
            trail.issue(1, list_due_ns);
            trail.end(list_due_ns, (number >= 5).then_some(end_ns));
        }
        let (end_ns, think_ns, ending) = match number {
            0..3 => (due_ns + 400_000, 0, SessionEnding::EndedEarly(EarlyEnd::Status)),
            3..5 => (due_ns + 5_000_000_000, 2_000_000, SessionEnding::InFlightAtEnd),
            5 => (end_ns, 2_000_000, SessionEnding::EndedEarly(EarlyEnd::TimedOut)),
            _ => (end_ns, 2_000_000, SessionEnding::Completed),
        };
        sampled.offer_session(&trail, end_ns, think_ns, ending);
    }
    sampled
}

/// A hundred sessions of two steps: three ended at the first step, one timed out at the second, two were in flight at
/// the end, and four never began. Some followed redirects at the second step, or tried it again.
pub fn sessions() -> SessionFacts {
    let step = |name: &str, reached, not_reached, ended_here: &[(EarlyEnd, u64)]| StepFacts {
        name: name.to_owned(),
        line: 1,
        per_session: 1,
        reached,
        not_reached,
        ended_here: ended_here.iter().copied().collect(),
        ..StepFacts::default()
    };
    let never = NotReached { never_begun: 4, ..NotReached::default() };
    let mut facts = SessionFacts {
        flow: "shop.hurl".to_owned(),
        flows: Vec::new(),
        tally: SessionTally {
            planned: 100,
            begun: 96,
            never_begun: 4,
            completed: 90,
            ended_early: 4,
            in_flight_at_end: 2,
        },
        steps: vec![
            step("login", 96, never, &[(EarlyEnd::Status, 3)]),
            step("list", 91, NotReached { ended_early: 3, run_ended: 2, ..never }, &[(EarlyEnd::TimedOut, 1)]),
        ],
        goodput: None,
        times: Default::default(),
        sampled: Some(sampled()),
    };
    let list = &mut facts.steps[1];
    (list.hops, list.retries, list.most_requests) = (12, 2, 3);
    list.times.get_mut(SessionTime::Completed).record_n(Nanos(600_001), 90);
    list.times.get_mut(SessionTime::Censored).record_n(Nanos(4_999_999), 2);
    for (time, value, count) in [
        (SessionTime::Completed, 1_234_567, 90),
        (SessionTime::Censored, 5_000_000_001, 7),
        (SessionTime::Failed, 10_000_003, 3),
    ] {
        facts.times.get_mut(time).record_n(Nanos(value), count);
    }
    facts
}
