//! A service with its streams in virtual time, for requests that ask for nothing in particular.

use super::batch::{BatchEvent, BatchState};
use super::description::Service;
use super::route::RouteId;
use super::state::{ResponsePlan, ServiceState};
use super::stream::{StreamFormat, StreamOutline, StreamRequest, StreamTiming, StreamWrite};
use crate::time::Timestamp;

/// What becomes of a request in virtual time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VirtualAnswer {
    /// What the service does about it.
    pub plan: ResponsePlan,
    /// When the answer ends, or the connection where it is cut; [`Timestamp::NEVER`] where neither happens. `None` where the
    /// batch decides that, by an event that [`VirtualService::advance`] hands over.
    pub completed: Option<Timestamp>,
    /// The writes of a stream, as far as the batch does not decide them.
    pub writes: Vec<StreamWrite>,
    /// It is the answer that the service would stream, if it streams.
    pub is_stream: bool,
}

/// A service in virtual time. Streams of a batch are found again by a key.
#[derive(Clone, Debug)]
pub struct VirtualService<K> {
    state: ServiceState,
    /// That of the requests that are not said to be for another one.
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
    /// The service at the start of its fault clock. Requests are for `path`, and streams in the form in which it is answered.
    pub fn new(service: &Service, path: &str) -> VirtualService<K> {
        let streams = service.stream.map(|stream| VirtualStreams {
            outline: stream
                .content
                .outline(StreamRequest { format: StreamFormat::of_path(path), ..StreamRequest::default() }),
            timing: stream.timing().unwrap_or_default(),
            batch: stream.batch().map(|batch| BatchState::new(batch, &service.faults)),
        });
        VirtualService { state: ServiceState::new(service.clone()), route: service.route_of(path), streams }
    }

    /// The route of the requests that are not said to be for another one.
    pub fn route(&self) -> RouteId {
        self.route
    }

    /// The description of the service.
    pub fn service(&self) -> &Service {
        self.state.service()
    }

    /// The events of each stream; `None` where the service does not stream.
    pub fn outline(&self) -> Option<StreamOutline> {
        self.streams.as_ref().map(|streams| streams.outline)
    }

    /// Ends of answers may depend on later requests.
    pub fn is_batched(&self) -> bool {
        self.streams.as_ref().is_some_and(|streams| streams.batch.is_some())
    }

    /// Admits a request, as [`ServiceState::admit`] does.
    #[inline]
    pub fn admit(&mut self, arrived: Timestamp, key: K) -> VirtualAnswer {
        self.admit_on(self.route, arrived, key)
    }

    /// The same for a request of `route`.
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

    /// When the next event of the batch comes; [`Timestamp::NEVER`] if none does.
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
