//! The state that all connections of a server share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use truetail_model::service::{Action, Service};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::MonotonicClock;

use crate::exchange::{ResponseForm, ServerExchange};
use crate::fault_clock::FaultClock;
use crate::http::Responses;
use crate::stream::StreamScript;
use crate::timers::Timers;
use crate::truth::{Ending, ServerTruth};
use crate::truth_recorder::TruthRecorder;

/// Clock, service, prepared responses, timers, and the recorder of the truth.
#[derive(Debug)]
pub(crate) struct SharedState {
    clock: MonotonicClock,
    fault_clock: FaultClock,
    admitted: Arc<AtomicU64>,
    pub(crate) responses: Responses,
    pub(crate) timers: Timers,
    pub(crate) recorder: TruthRecorder,
    pub(crate) head_timeout: Nanos,
}

impl SharedState {
    /// The state before the first request. `admitted` counts the requests of the service.
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
            timers: Timers::default(),
            recorder,
            head_timeout,
        }
    }

    /// Now, on the clock of the event loop.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Starts the fault clock.
    pub(crate) fn start_clock(&mut self, now: Timestamp) {
        self.fault_clock.start(now);
    }

    /// Admits a request that arrives at `now`. The first request starts the fault clock.
    pub(crate) fn admit(&mut self, now: Timestamp, form: ResponseForm) -> ServerExchange {
        let admission = self.fault_clock.admit(now);
        let row = self.recorder.open(&admission.plan, admission.epoch, admission.origin);
        self.admitted.fetch_add(1, Ordering::Relaxed);
        let mut exchange = ServerExchange::admitted(&self.responses, &admission, row, form);
        if admission.plan.action == Action::BlackHole {
            self.close_row(&mut exchange, now);
        }
        exchange
    }

    /// The same, and where the service answers with 200 its answer is a stream.
    pub(crate) fn admit_stream(&mut self, now: Timestamp, form: ResponseForm, script: &StreamScript) -> ServerExchange {
        let exchange = self.admit(now, form);
        if exchange.entry.as_ref().is_none_or(|entry| (entry.ending, entry.status) != (Ending::Answered, Some(200))) {
            return exchange;
        }
        let stream = script.answer(self.admitted.load(Ordering::Relaxed), exchange.due, form.keep_alive);
        exchange.streaming(if form.is_head { stream.without_body() } else { stream })
    }

    /// A health check that arrives at `now`.
    pub(crate) fn health_check(&mut self, now: Timestamp, form: ResponseForm) -> ServerExchange {
        let due = now + self.fault_clock.service().baseline;
        let response = self.responses.service(200, form.keep_alive);
        self.count_control(ServerExchange::unrecorded(&self.responses, response, form, due))
    }

    /// An answer of the server itself, which leaves at once.
    pub(crate) fn bare(&mut self, status: u16, now: Timestamp, form: ResponseForm) -> ServerExchange {
        let response = self.responses.bare(status, form.keep_alive);
        self.count_control(ServerExchange::unrecorded(&self.responses, response, form, now))
    }

    fn count_control(&mut self, exchange: ServerExchange) -> ServerExchange {
        self.recorder.totals.control += 1;
        exchange
    }

    /// Records that `exchange` ended at `now`.
    pub(crate) fn close_row(&mut self, exchange: &mut ServerExchange, now: Timestamp) {
        if let Some(entry) = exchange.entry.take() {
            if let Some(stream) = &exchange.stream {
                self.recorder.add_stream(stream.truth(entry.row.origin()));
            }
            self.recorder.close(entry.row, entry.ending, entry.status, now);
        }
    }

    /// The truth, once every exchange has ended.
    pub(crate) fn into_truth(self) -> ServerTruth {
        let unix_ns = |start: &Timestamp| self.clock.rebased(*start).origin_unix_ns();
        self.recorder.finish(self.fault_clock.starts().iter().map(unix_ns).collect())
    }
}
