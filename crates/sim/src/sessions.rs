//! Sessions of users whose requests follow each other.

use truetail_model::arrival::Arrival;
use truetail_model::record::RequestRecord;
use truetail_model::service::RouteId;
use truetail_model::time::{Nanos, Timestamp};

/// A request of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionRequest {
    /// How the service treats it.
    pub route: RouteId,
    /// It is given up this long after its intended start; `None`: only by the timeout of the load.
    pub max_time: Option<Nanos>,
}

/// Decides what sessions ask for in virtual time, as `SessionScript` of the engine does over sockets. A user stands for one
/// session from its first request to its end, and for another one after that.
pub trait Sessions {
    /// False where requests have nothing to do with each other.
    const FOLLOW_EACH_OTHER: bool = true;

    /// A request of the session of `user` begins. Where the last session of this user has ended, this is the first request of
    /// session `number`.
    fn next_request(&mut self, user: u32, number: u64, arrival: Arrival) -> SessionRequest;

    /// The request of this user has ended: how long the user thinks before the next one; `None`: the session has ended.
    fn ended(&mut self, user: u32, record: &RequestRecord) -> Option<Nanos>;

    /// The run ended at `now` before this arrival was issued. `user`: whose session it belongs to; `None` where there was no
    /// time for any. `number`: that of its session.
    fn never_issued(&mut self, user: Option<u32>, number: u64, arrival: Arrival, now: Timestamp);

    /// The run has ended at `now`: nothing comes after this.
    fn run_ended(&mut self, now: Timestamp) {
        let _ = now;
    }
}

/// Each request for itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoSessions(pub(crate) RouteId);

impl Sessions for NoSessions {
    const FOLLOW_EACH_OTHER: bool = false;

    #[inline]
    fn next_request(&mut self, _: u32, _: u64, _: Arrival) -> SessionRequest {
        SessionRequest { route: self.0, max_time: None }
    }

    fn ended(&mut self, _: u32, _: &RequestRecord) -> Option<Nanos> {
        None
    }

    fn never_issued(&mut self, _: Option<u32>, _: u64, _: Arrival, _: Timestamp) {}
}
