//! A service with its streams in virtual time, for requests without options.

use super::batch::{BatchEvent, BatchState};
use super::description::Service;
use super::route::RouteId;
use super::state::{ResponsePlan, ServiceState};
use super::stream::{StreamFormat, StreamOutline, StreamRequest, StreamTiming, StreamWrite};
use crate::time::Timestamp;

/// Answer to a request in virtual time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VirtualAnswer {
    /// Plan of the service for the request.
    pub plan: ResponsePlan,
    /// End of the answer, or of the connection if it is cut; [`Timestamp::NEVER`] if neither ends. `None` if the batch
    /// decides the end, by an event that [`VirtualService::advance`] hands over.
    pub completed: Option<Timestamp>,
    /// Writes of a stream that the batch does not decide.
    pub writes: Vec<StreamWrite>,
    /// True if the answer is a stream.
    pub is_stream: bool,
}

/// Service in virtual time. A key identifies each stream of a batch.
#[derive(Clone, Debug)]
pub struct VirtualService<K> {
    state: ServiceState,
    /// Route of requests that name no other route.
    route: RouteId,
    streams: Option<VirtualStreams<K>>,
}

#[derive(Clone, Debug)]
struct VirtualStreams<K> {
    outline: StreamOutline,
    timing: StreamTiming,
    batch: Option<BatchState<K>>,
}

impl<K: Copy> VirtualService<K> {
    /// Creates the service at the start of its fault clock. Requests are for `path`, which sets the format of streams.
    pub fn new(service: &Service, path: &str) -> VirtualService<K> {
        let streams = service.stream.map(|stream| VirtualStreams {
            outline: stream
                .content
                .outline(StreamRequest { format: StreamFormat::for_path(path), ..StreamRequest::default() }),
            timing: stream.timing().unwrap_or_default(),
            batch: stream.batch().map(|batch| BatchState::new(batch, &service.faults)),
        });
        VirtualService { state: ServiceState::new(service.clone()), route: service.route_of(path), streams }
    }

    /// Returns the route of requests that name no other route.
    pub fn route(&self) -> RouteId {
        self.route
    }

    /// Returns the description of the service.
    pub fn service(&self) -> &Service {
        self.state.service()
    }

    /// Returns the events of each stream; `None` if the service does not stream.
    pub fn outline(&self) -> Option<StreamOutline> {
        self.streams.as_ref().map(|streams| streams.outline)
    }

    /// Returns true if the end of an answer may depend on later requests.
    pub fn is_batched(&self) -> bool {
        self.streams.as_ref().is_some_and(|streams| streams.batch.is_some())
    }

    /// Admits a request of the default route, like [`ServiceState::admit`].
    #[inline]
    pub fn admit(&mut self, arrived: Timestamp, key: K) -> VirtualAnswer {
        self.admit_on(self.route, arrived, key)
    }

    /// Admits a request of `route`, like [`ServiceState::admit_on`].
    #[inline]
    pub fn admit_on(&mut self, route: RouteId, arrived: Timestamp, key: K) -> VirtualAnswer {
        let plan = self.state.admit_on(route, arrived);
        let completed = Some(plan.completed());
        let answer = VirtualAnswer { plan, completed, writes: Vec::new(), is_stream: false };
        match &mut self.streams {
            Some(streams) if plan.action.is_good() => streams.begin(&mut self.state, answer, key),
            _ => answer,
        }
    }

    /// Returns the time of the next event of the batch; [`Timestamp::NEVER`] if none comes.
    #[inline]
    pub fn next_event(&self) -> Timestamp {
        let batch = self.streams.as_ref().and_then(|streams| streams.batch.as_ref());
        batch.map_or(Timestamp::NEVER, BatchState::next)
    }

    /// Hands over the events of the batch up to `now`: see [`BatchState::advance`].
    pub fn advance(&mut self, now: Timestamp, on_event: &mut impl FnMut(BatchEvent<K>)) {
        if let Some(batch) = self.streams.as_mut().and_then(|streams| streams.batch.as_mut()) {
            batch.advance(now, on_event);
        }
    }
}

impl<K: Copy> VirtualStreams<K> {
    fn begin(&mut self, state: &mut ServiceState, mut answer: VirtualAnswer, key: K) -> VirtualAnswer {
        answer.is_stream = true;
        match &mut self.batch {
            Some(batch) if self.outline.content > 0 => {
                batch.join(key, answer.plan.due, self.outline.content);
                answer.completed = None;
            }
            _ => {
                answer.writes = state.stream_writes(&mut answer.plan, &self.timing, &self.outline);
                answer.completed = Some(answer.writes.last().map_or(answer.plan.due, |last| last.at));
            }
        }
        answer
    }
}
