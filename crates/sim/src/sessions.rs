//! Sessions of users whose requests follow each other.

use truetail_model::arrival::Arrival;
use truetail_model::record::{RequestRecord, TargetPlace};
use truetail_model::service::RouteId;
use truetail_model::time::{Nanos, Timestamp};

/// Request of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionRequest {
    /// Route of the request.
    pub route: RouteId,
    /// Place of its target, if there are several.
    pub target: TargetPlace,
    /// Time after its intended start when it is given up; `None`: only the timeout of the load applies.
    pub max_time: Option<Nanos>,
}

/// Decides about sessions in virtual time, like `SessionScript` of the engine over sockets. A user number belongs to
/// one session from its first request to its end, and then to another one.
pub trait Sessions {
    /// False if requests are independent of each other.
    const HAS_SESSIONS: bool = true;

    /// Returns the next request of the session of `user`. If that session has ended, session `number` begins with it.
    fn next_request(&mut self, user: u32, number: u64, arrival: Arrival) -> SessionRequest;

    /// Reports the end of a request of the user. Returns the think time before the next one; `None` ends the session,
    /// unless other requests of it are in flight or planned.
    fn ended(&mut self, user: u32, record: &RequestRecord) -> Option<Nanos>;

    /// Adds to `due` when further requests of the session of this user are due, so that several are in flight at the
    /// same time. Called after [`Sessions::ended`], and after [`Sessions::next_request`].
    fn branches(&mut self, user: u32, due: &mut Vec<Timestamp>) {
        let _ = (user, due);
    }

    /// Reports an arrival that was not issued when the run ended at `now`. `user` is `None` if it was due before the
    /// run.
    fn never_issued(&mut self, user: Option<u32>, number: u64, arrival: Arrival, now: Timestamp);

    /// Reports the end of the run at `now`. No call follows.
    fn run_ended(&mut self, now: Timestamp) {
        let _ = now;
    }
}

/// Independent requests on one route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoSessions(pub(crate) RouteId);

impl Sessions for NoSessions {
    const HAS_SESSIONS: bool = false;

    #[inline]
    fn next_request(&mut self, _: u32, _: u64, _: Arrival) -> SessionRequest {
        SessionRequest { route: self.0, target: TargetPlace::UNKNOWN, max_time: None }
    }

    fn ended(&mut self, _: u32, _: &RequestRecord) -> Option<Nanos> {
        None
    }

    fn never_issued(&mut self, _: Option<u32>, _: u64, _: Arrival, _: Timestamp) {}
}
