//! The fault clock: when it starts, and what becomes of a request by its reading.

use truetail_model::service::{Fate, Service, ServiceState};
use truetail_model::time::Timestamp;

/// A service in operation, and the instant that its zero is on the clock of the event loop.
#[derive(Debug)]
pub(crate) struct FaultClock {
    state: ServiceState,
    origin: Option<Timestamp>,
    epoch: u32,
}

/// What becomes of a request, in the time of its epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    /// On the fault clock.
    pub(crate) fate: Fate,
    /// How many times the clock was started, at least 1.
    pub(crate) epoch: u32,
    /// The last start, on the clock of the event loop.
    pub(crate) origin: Timestamp,
}

impl FaultClock {
    /// A clock that waits for the first request.
    pub(crate) fn new(service: Service) -> FaultClock {
        FaultClock { state: ServiceState::new(service), origin: None, epoch: 0 }
    }

    /// The description of the service.
    pub(crate) fn service(&self) -> &Service {
        self.state.service()
    }

    /// Starts the clock at `now`, with nothing admitted.
    pub(crate) fn start(&mut self, now: Timestamp) {
        self.state = ServiceState::new(self.state.service().clone());
        self.origin = Some(now);
        self.epoch += 1;
    }

    /// Has the clock been started?
    pub(crate) fn is_running(&self) -> bool {
        self.origin.is_some()
    }

    /// Admits a request that arrives at `now`; `None` while the clock is not running.
    pub(crate) fn admit(&mut self, now: Timestamp) -> Option<Admission> {
        let origin = self.origin?;
        let fate = self.state.admit(Timestamp(now.since(origin).0));
        Some(Admission { fate, epoch: self.epoch, origin })
    }
}

impl Admission {
    /// An instant of the fault clock on the clock of the event loop.
    pub(crate) fn real(&self, instant: Timestamp) -> Timestamp {
        self.origin + instant.since_origin()
    }
}
