//! What all connections of a server have in common.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use truetail_model::service::{Action, Service};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::MonotonicClock;

use crate::exchange::{Exchange, Form};
use crate::fault_clock::FaultClock;
use crate::http::Answers;
use crate::ledger::Ledger;
use crate::timers::Timers;
use crate::truth::Truth;

/// The clock, the service, its books, its answers, and what is to be done when.
#[derive(Debug)]
pub(crate) struct House {
    clock: MonotonicClock,
    fault_clock: FaultClock,
    admitted: Arc<AtomicU64>,
    pub(crate) answers: Answers,
    pub(crate) timers: Timers,
    pub(crate) ledger: Ledger,
    pub(crate) head_timeout: Nanos,
}

impl House {
    /// A house in which nothing has happened. `admitted` will count the requests of the service.
    pub(crate) fn new(service: Service, ledger: Ledger, head_timeout: Nanos, admitted: Arc<AtomicU64>) -> House {
        House {
            clock: MonotonicClock::starting_now(),
            answers: Answers::new(&service),
            fault_clock: FaultClock::new(service),
            admitted,
            timers: Timers::default(),
            ledger,
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

    /// Admits a request that arrives at `now`, and starts the fault clock with it if it is the first.
    pub(crate) fn admit(&mut self, now: Timestamp, form: Form) -> Exchange {
        let admission = self.fault_clock.admit(now);
        let ticket = self.ledger.open(&admission.fate, admission.epoch, admission.origin);
        self.admitted.fetch_add(1, Ordering::Relaxed);
        let mut exchange = Exchange::admitted(&self.answers, &admission, ticket, form);
        if admission.fate.action == Action::BlackHole {
            self.close_entry(&mut exchange, now);
        }
        exchange
    }

    /// A health check that arrives at `now`.
    pub(crate) fn health_check(&mut self, now: Timestamp, form: Form) -> Exchange {
        let due = now + self.fault_clock.service().baseline;
        let answer = self.answers.service(200, form.keep_alive);
        self.apart(Exchange::apart(&self.answers, answer, form, due))
    }

    /// An answer of the server itself, at once.
    pub(crate) fn bare(&mut self, status: u16, now: Timestamp, form: Form) -> Exchange {
        let answer = self.answers.bare(status, form.keep_alive);
        self.apart(Exchange::apart(&self.answers, answer, form, now))
    }

    fn apart(&mut self, exchange: Exchange) -> Exchange {
        self.ledger.totals.apart += 1;
        exchange
    }

    /// Enters into the truth that `exchange` is done with, having sent its last byte at `now`.
    pub(crate) fn close_entry(&mut self, exchange: &mut Exchange, now: Timestamp) {
        if let Some(entry) = exchange.entry.take() {
            self.ledger.close(entry.ticket, entry.ending, entry.status, now);
        }
    }

    /// The truth, when every exchange is done with.
    pub(crate) fn into_truth(self) -> Truth {
        let unix_ns = |start: &Timestamp| self.clock.rebased(*start).origin_unix_ns();
        self.ledger.finish(self.fault_clock.starts().iter().map(unix_ns).collect())
    }
}
