//! From what a service does to what a client makes of it.

use truetail_model::record::{Cause, Outcome};
use truetail_model::service::Action;
use truetail_model::time::Timestamp;

/// When and how a request ends for a client that gives up at `gives_up`, if the service completes `action` at
/// `completed`. Both are [`Timestamp::NEVER`] where there is no such instant; an answer that comes at the very instant
/// of giving up still counts.
///
/// The outcomes are those that sockets give: a reset is a reset by the peer, a body that is too short is cut off, and
/// garbage has no head.
pub(crate) fn ending(action: Action, completed: Timestamp, gives_up: Timestamp) -> (Timestamp, Outcome) {
    if completed > gives_up {
        return (gives_up, Outcome::TimedOut);
    }
    let outcome = match action {
        Action::Answer { status } => Outcome::Response { status },
        Action::SlowBody { .. } => Outcome::Response { status: 200 },
        Action::ShortBody => Outcome::Malformed(Cause::Truncated),
        Action::Garbage => Outcome::Malformed(Cause::BadHead),
        Action::Reset => Outcome::Reset(Cause::ResetByPeer),
        // Only where neither instant exists: it never ends, and is counted out with the run.
        Action::BlackHole => Outcome::InFlightAtEnd,
    };
    (completed, outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp(10);

    #[test]
    fn what_a_client_makes_of_each_action() {
        for (action, outcome) in [
            (Action::Answer { status: 200 }, Outcome::Response { status: 200 }),
            (Action::Answer { status: 503 }, Outcome::Response { status: 503 }),
            (Action::SlowBody { until: AT }, Outcome::Response { status: 200 }),
            (Action::ShortBody, Outcome::Malformed(Cause::Truncated)),
            (Action::Garbage, Outcome::Malformed(Cause::BadHead)),
            (Action::Reset, Outcome::Reset(Cause::ResetByPeer)),
        ] {
            assert_eq!(ending(action, AT, AT), (AT, outcome), "an end at the timeout counts");
            assert_eq!(ending(action, Timestamp(11), AT), (AT, Outcome::TimedOut));
        }
        assert_eq!(ending(Action::BlackHole, Timestamp::NEVER, AT), (AT, Outcome::TimedOut));
        assert_eq!(ending(Action::BlackHole, Timestamp::NEVER, Timestamp::NEVER).0, Timestamp::NEVER);
    }
}
