//! The state that all connections of a server share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use truetail_model::service::{
    Action, BatchEvent, ReplyOrder, RouteId, Service, StreamDescription, StreamFormat, StreamPace, StreamTiming,
    StreamWrite,
};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::MonotonicClock;

use crate::exchange::ServerExchange;
use crate::fault_clock::{Admission, FaultClock};
use crate::http::{Refusal, Responses, Route};
#[cfg(feature = "http2")]
use crate::response_form::Framing;
use crate::response_form::ResponseForm;
use crate::stream::{ModelRequest, PendingStream, StreamAnswer, StreamKey, StreamText};
use crate::timers::Timers;
use crate::truth::ServerTruth;
use crate::truth_recorder::TruthRecorder;

/// Limit on the tokens that a health check of a model may ask for.
const MAX_PREFLIGHT_TOKENS: u64 = 16;

#[derive(Debug)]
pub(crate) struct SharedState {
    clock: MonotonicClock,
    fault_clock: FaultClock,
    admitted: Arc<AtomicU64>,
    streams: u64,
    pub(crate) responses: Responses,
    pub(crate) timers: Timers,
    pub(crate) recorder: TruthRecorder,
    pub(crate) head_timeout: Nanos,
}

impl SharedState {
    /// Creates the state before the first request. `admitted` counts the requests of the service.
    pub(crate) fn new(
        service: Service,
        recorder: TruthRecorder,
        head_timeout: Nanos,
        admitted: Arc<AtomicU64>,
    ) -> SharedState {
        SharedState {
            clock: MonotonicClock::starting_now(),
            responses: Responses::new(&service),
            fault_clock: FaultClock::new(service),
            admitted,
            streams: 0,
            timers: Timers::default(),
            recorder,
            head_timeout,
        }
    }

    /// Returns the current time on the clock of the event loop.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Begins the exchange of a request for `path` that arrives at `now`.
    pub(crate) fn begin(&mut self, route: Route, path: &str, now: Timestamp, form: ResponseForm) -> ServerExchange {
        match route {
            Route::AboutModel if self.streams() => self.health_check(now, form),
            Route::AboutSglang if self.streams() => self.bare(404, now, form),
            Route::Service if self.streams() => self.admit_stream(now, form, StreamFormat::Plain, None),
            Route::Service | Route::AboutModel | Route::AboutSglang => self.admit(path, now, form),
            Route::Stream(own) => self.admit_stream(now, form, StreamFormat::Plain, Some(own)),
            Route::Model(format) => self.admit_stream(now, form, format, None),
            Route::ModelPreflight(format) => self.model_preflight(now, form, format),
            Route::Health => self.health_check(now, form),
            Route::Refused(refusal) => self.bare(refusal.status(), now, form),
            Route::StartClock => {
                self.fault_clock.start(now);
                self.bare(204, now, form)
            }
        }
    }

    /// Admits a request for `path` that arrives at `now`. The first request starts the fault clock.
    fn admit(&mut self, path: &str, now: Timestamp, form: ResponseForm) -> ServerExchange {
        let route = self.route_of(path);
        let admission = self.fault_clock.admit(route, now);
        self.exchange(now, form, &admission)
    }

    /// Returns the order of the replies on a channel.
    pub(crate) fn replies(&self) -> ReplyOrder {
        self.fault_clock.service().replies
    }

    /// Returns the route of the service for a path.
    pub(crate) fn route_of(&self, path: &str) -> RouteId {
        self.fault_clock.service().route_of(path)
    }

    /// Admits a message of `route` that arrives now.
    pub(crate) fn admit_message(&mut self, route: RouteId) -> ServerExchange {
        let now = self.now();
        let admission = self.fault_clock.admit(route, now);
        self.exchange(now, ResponseForm::OF_MESSAGE, &admission)
    }

    /// Creates an answer of the server itself to something that is no message. It leaves at once.
    pub(crate) fn control_message(&mut self, bytes: Vec<u8>) -> ServerExchange {
        let now = self.now();
        self.count_control(ServerExchange::of_bytes(&self.responses, bytes, now))
    }

    fn exchange(&mut self, now: Timestamp, form: ResponseForm, admission: &Admission) -> ServerExchange {
        let row = self.recorder.open(&admission.plan, admission.epoch, admission.origin);
        self.admitted.fetch_add(1, Ordering::Relaxed);
        let mut exchange = ServerExchange::new_admitted(&self.responses, admission, row, form);
        if admission.plan.action == Action::BlackHole {
            self.close_row(&mut exchange, now);
        }
        exchange
    }

    /// Admits a request whose answer, if its status is 200, is a stream: `own`, or else the service's.
    fn admit_stream(
        &mut self,
        now: Timestamp,
        form: ResponseForm,
        format: StreamFormat,
        own: Option<StreamDescription>,
    ) -> ServerExchange {
        let admission = self.fault_clock.admit(RouteId::default(), now);
        let mut exchange = self.exchange(now, form, &admission);
        if admission.plan.action.is_good() {
            let description = own.or(self.fault_clock.service().stream).unwrap_or_default();
            let plan = Some((admission.plan, admission.origin));
            exchange.pending = Some(Box::new(PendingStream { plan, format, description, form }));
        }
        exchange
    }

    /// Returns true if the service's answers are streams.
    fn streams(&self) -> bool {
        self.fault_clock.service().stream.is_some()
    }

    /// Begins the stream of `exchange`, if any, once its request was read with its `body` on connection `token`.
    pub(crate) fn begin_stream(&mut self, exchange: &mut ServerExchange, body: &[u8], token: u64) {
        let Some(pending) = exchange.pending.take() else { return };
        let now = self.now();
        let Some(mut asked) = ModelRequest::parse_for(pending.format, body) else {
            let status = Refusal::Malformed.status();
            let form = pending.form;
            let response = self.responses.bare(status, form.keep_alive);
            return exchange.refuse(response, self.responses.length(response, form.is_head), status, now);
        };
        if pending.plan.is_none() {
            asked.tokens = asked.tokens.map(|tokens| tokens.min(MAX_PREFLIGHT_TOKENS));
        }
        let created = self.clock.rebased(now).origin_unix_ns() / 1_000_000_000;
        self.streams += u64::from(pending.plan.is_some());
        let text = StreamText::new(pending.description.content, pending.format, &asked, self.streams, created);
        let key = StreamKey { token, number: self.streams };
        let mut answer = StreamAnswer::new(key.number, text, pending.form, asked.streams, exchange.due);
        if !pending.form.is_head {
            // Without a body, the request is ready as soon as the service is.
            let ready = if exchange.request_read { exchange.due } else { exchange.due.max(now) };
            self.fill(&mut answer, &pending, key, ready);
        }
        exchange.start_stream(answer);
    }

    /// Adds the known events of a stream that is ready at `ready`, or lets it join the batch.
    fn fill(&mut self, answer: &mut StreamAnswer, pending: &PendingStream, key: StreamKey, ready: Timestamp) {
        let outline = answer.outline();
        let Some((mut plan, origin)) = pending.plan else {
            let ends = !outline.is_cut;
            answer.add(
                &StreamWrite { at: ready, first: 0, content: outline.content, ends, is_stalled: false },
                Nanos::ZERO,
            );
            return answer.finish(ready);
        };
        let timing = match pending.description.pace {
            StreamPace::Independent(timing) => timing,
            StreamPace::Batched(_) if outline.content > 0 => {
                return self.fault_clock.join_batch(key, ready, outline.content);
            }
            // The batch has no work for a stream without content.
            StreamPace::Batched(_) => StreamTiming::default(),
        };
        let writes = self.fault_clock.stream_writes(&mut plan, origin, &timing, &outline);
        writes.iter().for_each(|write| answer.add(write, timing.trickle));
        answer.finish(writes.last().map_or(ready, |last| last.at));
        answer.faults = plan.faults;
    }

    /// Returns the time of the next event of any batch.
    pub(crate) fn next_batch_event(&self) -> Timestamp {
        self.fault_clock.next_batch_event()
    }

    /// Returns the events of batches up to `now`.
    pub(crate) fn batch_events(&mut self, now: Timestamp) -> Vec<BatchEvent<StreamKey>> {
        self.fault_clock.batch_events(now)
    }

    /// Answers a health check that arrives at `now`.
    fn health_check(&mut self, now: Timestamp, form: ResponseForm) -> ServerExchange {
        let due = now + self.fault_clock.service().baseline;
        let response = self.responses.service(200, form.keep_alive);
        self.count_control(ServerExchange::new_unrecorded(&self.responses, response, form, due))
    }

    /// Answers a health check that arrives at `now` as the model would: so its client sees what answers are like. All
    /// of it leaves at once, and no more than its first [`MAX_PREFLIGHT_TOKENS`].
    fn model_preflight(&mut self, now: Timestamp, form: ResponseForm, format: StreamFormat) -> ServerExchange {
        let mut exchange = self.health_check(now, form);
        let description = self.fault_clock.service().stream.unwrap_or_default();
        exchange.pending = Some(Box::new(PendingStream { plan: None, format, description, form }));
        exchange
    }

    /// Creates an answer of the server itself, which leaves at once.
    fn bare(&mut self, status: u16, now: Timestamp, form: ResponseForm) -> ServerExchange {
        let response = self.responses.bare(status, form.keep_alive);
        self.count_control(ServerExchange::new_unrecorded(&self.responses, response, form, now))
    }

    /// Creates the answer to a request that is refused after its admission.
    #[cfg(feature = "http2")]
    pub(crate) fn refusal(&mut self, refusal: Refusal) -> ServerExchange {
        self.recorder.totals.refused += 1;
        let form = ResponseForm { is_head: false, keep_alive: true, framing: Framing::Frames };
        let response = self.responses.bare(refusal.status(), true);
        ServerExchange::new_unrecorded(&self.responses, response, form, self.now())
    }

    fn count_control(&mut self, exchange: ServerExchange) -> ServerExchange {
        self.recorder.totals.control += 1;
        exchange
    }

    /// Records that `exchange` ended at `now`.
    pub(crate) fn close_row(&mut self, exchange: &mut ServerExchange, now: Timestamp) {
        if let Some(mut entry) = exchange.entry.take() {
            if let Some(stream) = &exchange.stream {
                let (epoch, number) = entry.row.id();
                if self.recorder.wants_streams() {
                    self.recorder.add_stream(stream.truth(epoch, number, entry.row.origin()), now);
                }
                entry.row.set_stream(stream.last_due(), stream.faults);
            }
            self.recorder.close(entry.row, entry.ending, entry.status, now);
        }
    }

    /// Returns the truth. Every exchange must have ended.
    pub(crate) fn into_truth(self) -> ServerTruth {
        let unix_ns = |start: &Timestamp| self.clock.rebased(*start).origin_unix_ns();
        self.recorder.finish(self.fault_clock.starts().iter().map(unix_ns).collect())
    }
}
