//! The fault clock: when it starts, and what becomes of a request by its reading.

use truetail_model::service::{ResponsePlan, Service, ServiceState};
use truetail_model::time::Timestamp;

/// A service in operation, and the instants that were its zero on the clock of the event loop.
#[derive(Debug)]
pub(crate) struct FaultClock {
    state: ServiceState,
    /// One for each epoch so far; the last is in force.
    starts: Vec<Timestamp>,
}

/// What becomes of a request, in the time of its epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    /// On the fault clock.
    pub(crate) plan: ResponsePlan,
    /// How many times the clock had been started, at least 1.
    pub(crate) epoch: u32,
    /// When it was started last, on the clock of the event loop.
    pub(crate) origin: Timestamp,
}

impl FaultClock {
    /// A clock that waits for the first request.
    pub(crate) fn new(service: Service) -> FaultClock {
        FaultClock { state: ServiceState::new(service), starts: Vec::new() }
    }

    /// The description of the service.
    pub(crate) fn service(&self) -> &Service {
        self.state.service()
    }

    /// Starts the clock at `now`, with nothing admitted.
    pub(crate) fn start(&mut self, now: Timestamp) {
        self.state = ServiceState::new(self.state.service().clone());
        self.starts.push(now);
    }

    /// Every start so far, on the clock of the event loop.
    pub(crate) fn starts(&self) -> &[Timestamp] {
        &self.starts
    }

    /// Admits a request that arrives at `now`, and starts the clock with it if it is the first.
    pub(crate) fn admit(&mut self, now: Timestamp) -> Admission {
        if self.starts.is_empty() {
            self.start(now);
        }
        let origin = self.starts.last().copied().unwrap_or(now);
        let plan = self.state.admit(Timestamp(now.since(origin).0));
        Admission { plan, epoch: self.starts.len() as u32, origin }
    }
}

impl Admission {
    /// An instant of the fault clock on the clock of the event loop.
    pub(crate) fn real(&self, instant: Timestamp) -> Timestamp {
        self.origin + instant.since_origin()
    }
}
