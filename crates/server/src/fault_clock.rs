//! The fault clock: its start, and the admission of requests by its time.

use truetail_model::service::{
    BatchEvent, BatchState, ResponsePlan, RouteId, Service, ServiceState, StreamOutline, StreamTiming, StreamWrite,
};
use truetail_model::time::Timestamp;

use crate::stream::StreamKey;

#[derive(Debug)]
pub(crate) struct FaultClock {
    state: ServiceState,
    /// Start of each epoch, on the clock of the event loop. The last one is in force.
    starts: Vec<Timestamp>,
    /// The batch of the current epoch, and batches of earlier epochs that still have streams.
    batches: Vec<EpochBatch>,
}

#[derive(Debug)]
struct EpochBatch {
    origin: Timestamp,
    state: BatchState<StreamKey>,
}

/// The service's plan for a request, in the time of its epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    /// The plan, on the fault clock.
    pub(crate) plan: ResponsePlan,
    /// Number of the epoch, from 1.
    pub(crate) epoch: u32,
    /// Start of the epoch, on the clock of the event loop.
    pub(crate) origin: Timestamp,
}

impl FaultClock {
    /// Creates a clock that waits for the first request.
    pub(crate) fn new(service: Service) -> FaultClock {
        FaultClock { state: ServiceState::new(service), starts: Vec::new(), batches: Vec::new() }
    }

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

    /// Returns the writes of a stream at its own pace, on the clock of the event loop. Its request was admitted as
    /// `plan`, in an epoch that began at `origin`.
    pub(crate) fn stream_writes(
        &mut self,
        plan: &mut ResponsePlan,
        origin: Timestamp,
        timing: &StreamTiming,
        outline: &StreamOutline,
    ) -> Vec<StreamWrite> {
        let mut writes = self.state.stream_writes(plan, timing, outline);
        writes.iter_mut().for_each(|write| write.at = to_loop_clock(origin, write.at));
        writes
    }

    /// Adds a stream of `events` events to the batch; it is ready at `ready`.
    pub(crate) fn join_batch(&mut self, key: StreamKey, ready: Timestamp, events: u64) {
        if let Some(batch) = self.batches.last_mut() {
            batch.state.join(key, Timestamp(ready.since(batch.origin).0), events);
        }
    }

    /// Returns the time of the next event of any batch; [`Timestamp::NEVER`] if no event is due.
    pub(crate) fn next_batch_event(&self) -> Timestamp {
        let next = |batch: &EpochBatch| to_loop_clock(batch.origin, batch.state.next());
        self.batches.iter().map(next).min().unwrap_or(Timestamp::NEVER)
    }

    /// Returns the events of batches up to `now`, on the clock of the event loop.
    pub(crate) fn batch_events(&mut self, now: Timestamp) -> Vec<BatchEvent<StreamKey>> {
        let mut events = Vec::new();
        for EpochBatch { origin, state } in &mut self.batches {
            let passed = Timestamp(now.since(*origin).0);
            state.advance(passed, &mut |event| {
                events.push(BatchEvent { at: to_loop_clock(*origin, event.at), ..event })
            });
        }
        events
    }

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
    /// Converts a time of the fault clock to the clock of the event loop.
    pub(crate) fn to_loop_clock(self, instant: Timestamp) -> Timestamp {
        to_loop_clock(self.origin, instant)
    }
}

/// Converts a time of a fault clock that began at `origin` to the clock of the event loop.
fn to_loop_clock(origin: Timestamp, instant: Timestamp) -> Timestamp {
    origin + instant.since_origin()
}
