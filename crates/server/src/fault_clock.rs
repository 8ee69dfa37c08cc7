//! The fault clock: when it starts, and how a request is admitted by its time.

use truetail_model::service::{ResponsePlan, Service, ServiceState};
use truetail_model::time::Timestamp;

/// A service in operation, with the instants at which its fault clock was started.
#[derive(Debug)]
pub(crate) struct FaultClock {
    state: ServiceState,
    /// The start of each epoch so far, on the clock of the event loop; the last one is in force.
    starts: Vec<Timestamp>,
}

/// What the service does about a request, in the time of its epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    /// The plan, on the fault clock.
    pub(crate) plan: ResponsePlan,
    /// How many times the clock has been started, at least 1.
    pub(crate) epoch: u32,
    /// When the clock was last started, on the clock of the event loop.
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

    /// Starts the clock at `now`, with no request admitted.
    pub(crate) fn start(&mut self, now: Timestamp) {
        self.state = ServiceState::new(self.state.service().clone());
        self.starts.push(now);
    }

    /// Every start so far, on the clock of the event loop.
    pub(crate) fn starts(&self) -> &[Timestamp] {
        &self.starts
    }

    /// Admits a request that arrives at `now`. The first request starts the clock.
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
    /// Converts an instant of the fault clock to the clock of the event loop.
    pub(crate) fn real(&self, instant: Timestamp) -> Timestamp {
        self.origin + instant.since_origin()
    }
}
