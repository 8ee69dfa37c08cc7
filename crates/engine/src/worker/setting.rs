//! What a worker is given.

use truetail_model::driver::{Driver, WorkerShare};
use truetail_model::time::Nanos;
use truetail_reactor::MonotonicClock;
use truetail_run::Timing;

use super::Multiplexing;
use crate::control::Control;
use crate::endpoint::Endpoint;
use crate::ledger::Ledger;
use crate::requests::Requests;
use crate::tls::Tls;

/// What a worker needs from the rest of the engine.
pub(crate) struct Setting {
    pub(crate) share: WorkerShare,
    pub(crate) driver: Driver,
    pub(crate) ledger: Ledger,
    pub(crate) clock: MonotonicClock,
    pub(crate) endpoint: Endpoint,
    /// How connections are secured, if they are.
    pub(crate) tls: Option<Tls>,
    /// A connection is used again where the server allows it.
    pub(crate) keep_alive: bool,
    /// Connections carry many requests at once, in HTTP/2.
    pub(crate) multiplexing: Option<Multiplexing>,
    pub(crate) requests: Requests,
    pub(crate) timeout: Option<Nanos>,
    /// The kernel is to say when answers arrived.
    pub(crate) stamped: bool,
    /// What to do between two requests.
    pub(crate) timing: Timing,
    /// Requests of this load model are due on a schedule, so that one may fall due between two answers.
    pub(crate) scheduled: bool,
    pub(crate) control: Control,
}

/// A retransmission that was faster than this is not looked for: so much may be missing of a time.
const RETRANSMITTED_WITHIN: Nanos = Nanos::from_millis(1);

impl Setting {
    /// Requests are to go out when they are due, and not in batches nor when their user is ready.
    pub(super) fn is_on_time(&self) -> bool {
        self.scheduled && self.timing != Timing::Cheap
    }

    /// Answers wait for the next tick to be read: nothing wakes the worker before it. In HTTP/2 they share connections, and
    /// of what is read together the kernel stamps the last only, so there they wake it.
    pub(super) fn reads_in_ticks(&self) -> bool {
        self.timing == Timing::Cheap && self.multiplexing.is_none()
    }

    /// Younger stamps need not be asked whether a retransmission came between. Where answers are read in ticks they are
    /// older by up to a tick as a rule, and to ask about those would cost more than a hundredth of all.
    pub(super) fn unasked_age(&self) -> Nanos {
        let waits = if self.reads_in_ticks() { Nanos(Timing::TICK_NS) } else { Nanos::ZERO };
        RETRANSMITTED_WITHIN + waits
    }
}
