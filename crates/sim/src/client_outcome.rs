//! Outcomes of requests for their client.

use truetail_model::record::{Cause, Outcome};
use truetail_model::service::Action;
use truetail_model::time::Timestamp;

/// Returns the end and the outcome of a request. The service completes `action` at `completed`, and the client gives up
/// at `gives_up`; either may be [`Timestamp::NEVER`]. An answer at the instant of giving up still counts. Outcomes are
/// as over real sockets: a reset by the peer, a truncated body, an invalid head.
pub(crate) fn client_outcome(action: Action, completed: Timestamp, gives_up: Timestamp) -> (Timestamp, Outcome) {
    if completed > gives_up {
        return (gives_up, Outcome::TimedOut);
    }
    let outcome = match action {
        Action::Answer { status } => Outcome::response(status),
        Action::SlowBody { .. } => Outcome::response(200),
        Action::ShortBody => Outcome::Malformed(Cause::Truncated),
        Action::Garbage => Outcome::Malformed(Cause::BadHead),
        Action::Reset => Outcome::Reset(Cause::ResetByPeer),
        // Reached only if both instants are NEVER: the request is still in flight when the run ends.
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
            (Action::Answer { status: 200 }, Outcome::response(200)),
            (Action::Answer { status: 503 }, Outcome::response(503)),
            (Action::SlowBody { until: AT }, Outcome::response(200)),
            (Action::ShortBody, Outcome::Malformed(Cause::Truncated)),
            (Action::Garbage, Outcome::Malformed(Cause::BadHead)),
            (Action::Reset, Outcome::Reset(Cause::ResetByPeer)),
        ] {
            assert_eq!(client_outcome(action, AT, AT), (AT, outcome), "an end at the timeout counts");
            assert_eq!(client_outcome(action, Timestamp(11), AT), (AT, Outcome::TimedOut));
        }
        assert_eq!(client_outcome(Action::BlackHole, Timestamp::NEVER, AT), (AT, Outcome::TimedOut));
        assert_eq!(client_outcome(Action::BlackHole, Timestamp::NEVER, Timestamp::NEVER).0, Timestamp::NEVER);
    }
}
