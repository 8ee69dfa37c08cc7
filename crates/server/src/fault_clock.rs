//! The fault clock: when it starts, and how a request is admitted by its time.

use truetail_model::service::{
    BatchEvent, BatchState, ResponsePlan, RouteId, Service, ServiceState, StreamOutline, StreamTiming, StreamWrite,
};
use truetail_model::time::Timestamp;

use crate::stream::StreamKey;

/// A service in operation, with the instants at which its fault clock was started.
#[derive(Debug)]
pub(crate) struct FaultClock {
    state: ServiceState,
    /// The start of each epoch so far, on the clock of the event loop; the last one is in force.
    starts: Vec<Timestamp>,
    /// The batch of the epoch in force, and those of earlier ones in which somebody still is.
    batches: Vec<EpochBatch>,
}

/// The batch of one epoch.
#[derive(Debug)]
struct EpochBatch {
    origin: Timestamp,
    state: BatchState<StreamKey>,
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
        FaultClock { state: ServiceState::new(service), starts: Vec::new(), batches: Vec::new() }
    }

    /// The description of the service.
    pub(crate) fn service(&self) -> &Service {
        self.state.service()
    }

    /// Starts the clock at `now`, with no request admitted.
    pub(crate) fn start(&mut self, now: Timestamp) {
        let service = self.state.service().clone();
        self.batches.retain(|batch| !batch.state.is_empty());
        if let Some(batch) = service.stream.and_then(|stream| stream.batch()) {
            self.batches.push(EpochBatch { origin: now, state: BatchState::new(batch, &service.faults) });
        }
        self.state = ServiceState::new(service);
        self.starts.push(now);
    }

    /// The writes of a stream at its own pace that answers what was admitted as `plan` since `origin`, on the clock of the
    /// event loop.
    pub(crate) fn stream_writes(
        &mut self,
        plan: &mut ResponsePlan,
        origin: Timestamp,
        timing: &StreamTiming,
        outline: &StreamOutline,
    ) -> Vec<StreamWrite> {
        let mut writes = self.state.stream_writes(plan, timing, outline);
        writes.iter_mut().for_each(|write| write.at = real(origin, write.at));
        writes
    }

    /// A stream of `events` events is ready for the batch at `ready`.
    pub(crate) fn join_batch(&mut self, key: StreamKey, ready: Timestamp, events: u64) {
        if let Some(batch) = self.batches.last_mut() {
            batch.state.join(key, Timestamp(ready.since(batch.origin).0), events);
        }
    }

    /// When the next event of a batch is due; [`Timestamp::NEVER`] if none is.
    pub(crate) fn next_batch_event(&self) -> Timestamp {
        let next = |batch: &EpochBatch| real(batch.origin, batch.state.next());
        self.batches.iter().map(next).min().unwrap_or(Timestamp::NEVER)
    }

    /// The events of batches up to `now`, on the clock of the event loop.
    pub(crate) fn batch_events(&mut self, now: Timestamp) -> Vec<BatchEvent<StreamKey>> {
        let mut events = Vec::new();
        for EpochBatch { origin, state } in &mut self.batches {
            let passed = Timestamp(now.since(*origin).0);
            state.advance(passed, &mut |event| events.push(BatchEvent { at: real(*origin, event.at), ..event }));
        }
        events
    }

    /// Every start so far, on the clock of the event loop.
    pub(crate) fn starts(&self) -> &[Timestamp] {
        &self.starts
    }

    /// Admits a request of `route` that arrives at `now`. The first request starts the clock.
    pub(crate) fn admit(&mut self, route: RouteId, now: Timestamp) -> Admission {
        if self.starts.is_empty() {
            self.start(now);
        }
        let origin = self.starts.last().copied().unwrap_or(now);
        let plan = self.state.admit_on(route, Timestamp(now.since(origin).0));
        Admission { plan, epoch: self.starts.len() as u32, origin }
    }
}

impl Admission {
    /// Converts an instant of the fault clock to the clock of the event loop.
    pub(crate) fn real(&self, instant: Timestamp) -> Timestamp {
        real(self.origin, instant)
    }
}

/// The same for a clock that began at `origin`.
fn real(origin: Timestamp, instant: Timestamp) -> Timestamp {
    origin + instant.since_origin()
}
