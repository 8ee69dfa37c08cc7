//! Calls that run elsewhere, many in flight at once. One thread keeps the schedule and starts them; an event loop or a
//! runtime of the caller runs them.
//!
//! Event loops count in milliseconds, which costs many tools their accuracy. Therefore a separate thread keeps the
//! schedule. It sleeps to the nanosecond and starts each call at its instant.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use truetail_model::arrival::Arrival;
use truetail_model::driver::{Directive, DueRequest, WorkerShare};
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::MonotonicClock;

use super::measurement::{EndedCall, LEAD, Measurement};
use super::plan::CallPlan;
use crate::control::Control;
use crate::result::{RunOutput, WorkerResult, merge_results};
use crate::start::Start;

/// Starts calls that run elsewhere.
pub trait CallLauncher {
    /// Starts a call now and does not wait for it. Any thread may report the call's outcome through its handle.
    fn launch(&mut self, handle: CallHandle);

    /// Called once for each launched call, by its launching thread: when the call has ended, or the run before it.
    fn ended(&mut self, _call: &CallEnd) {}

    /// Called for each arrival without a call at the `end` of the run.
    fn never_launched(&mut self, _arrival: Arrival, _end: Timestamp) {}
}

/// Record of a call that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallEnd {
    /// The arrival of the call.
    pub arrival: Arrival,
    /// Actual start of the call.
    pub actual_start: Timestamp,
    /// End of the call.
    pub end: Timestamp,
    /// Outcome of the call.
    pub outcome: Outcome,
}

/// Reports the outcome of one call. Dropping the handle reports that the call failed.
#[derive(Debug)]
pub struct CallHandle {
    sender: Sender<EndedCall>,
    clock: MonotonicClock,
    start: DueRequest,
    actual_start: Timestamp,
    end: Option<Timestamp>,
    outcome: Outcome,
}

impl CallHandle {
    /// Returns the arrival of the call.
    pub fn arrival(&self) -> Arrival {
        self.start.arrival
    }

    /// Returns the time on the run's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Sets the actual start to now. The time since the launch becomes generator lag.
    pub fn begin(&mut self) {
        self.actual_start = self.clock.now();
    }

    /// Sets the end to now, whenever it is reported, and returns the response time.
    pub fn mark_end(&mut self) -> Nanos {
        let end = self.clock.now();
        self.end = Some(end);
        end.since(self.start.arrival.intended_start)
    }

    /// Reports that the call ends now, unless its end was marked.
    pub fn end(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for CallHandle {
    fn drop(&mut self) {
        let start = self.start;
        let actual_start = self.actual_start;
        let outcome = self.outcome;
        let end = self.end.unwrap_or_else(|| self.clock.now());
        // The receiver is gone after the run. This call was then counted as in flight at end.
        let _ = self.sender.send(EndedCall { start, actual_start, end, outcome });
    }
}

/// Starts a call at each intended start, whether or not earlier calls have ended, and measures each from its intended
/// start. Drops `launcher` and returns when the run is over. Calls in flight are then counted as in flight at end, and
/// later reports of their handles are ignored.
///
/// `limits.connections` limits the calls in flight. The launcher handles the timeout of the limits.
pub fn bench_launched(plan: &CallPlan, control: &Control, launcher: impl CallLauncher) -> RunOutput {
    let clock = MonotonicClock::starting_in(LEAD);
    let (sender, receiver) = channel();
    let measurement = Measurement::new(plan, &plan.workload, WorkerShare::WHOLE, clock, control);
    let starter = CallStarter { measurement, sender, receiver, in_flight: HashMap::new() };
    merge_results(vec![starter.run(launcher)], Start::with(clock))
}

struct CallStarter {
    measurement: Measurement,
    sender: Sender<EndedCall>,
    receiver: Receiver<EndedCall>,
    /// Calls in flight and their launch times, by arrival index.
    in_flight: HashMap<u64, (DueRequest, Timestamp)>,
}

impl CallStarter {
    fn run(mut self, mut launcher: impl CallLauncher) -> WorkerResult {
        self.measurement.wait_for_origin();
        loop {
            match self.measurement.turn() {
                (now, Directive::Start(start)) => launcher.launch(self.begin(start, now)),
                (now, Directive::Wait { until }) => self.wait(now, until, &mut launcher),
                (_, Directive::Expired | Directive::Finished) => break,
            }
            while let Ok(ended) = self.receiver.try_recv() {
                self.record(ended, &mut launcher);
            }
        }
        let end = self.measurement.clock.now();
        for (start, actual_start) in std::mem::take(&mut self.in_flight).into_values() {
            self.count(EndedCall { start, actual_start, end, outcome: Outcome::InFlightAtEnd }, &mut launcher);
        }
        self.measurement.finish_with(end, |arrival| launcher.never_launched(arrival, end))
    }

    fn begin(&mut self, start: DueRequest, now: Timestamp) -> CallHandle {
        self.measurement.record_start(&start);
        self.in_flight.insert(start.arrival.index, (start, now));
        let sender = self.sender.clone();
        let clock = self.measurement.clock;
        CallHandle { sender, clock, start, actual_start: now, end: None, outcome: Outcome::Malformed(Cause::Raised) }
    }

    /// Waits for a call to end, until `until` at the latest.
    fn wait(&mut self, now: Timestamp, until: Timestamp, launcher: &mut impl CallLauncher) {
        let until = self.measurement.sleep(now, until);
        match self.receiver.recv_timeout(until.since(now).into()) {
            Ok(ended) => self.record(ended, launcher),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("a sender is held here"),
        }
    }

    fn record(&mut self, ended: EndedCall, launcher: &mut impl CallLauncher) {
        if self.in_flight.remove(&ended.start.arrival.index).is_some() {
            self.count(ended, launcher);
        }
    }

    fn count(&mut self, ended: EndedCall, launcher: &mut impl CallLauncher) {
        let EndedCall { start, actual_start, end, outcome } = ended;
        self.measurement.record_end(ended);
        launcher.ended(&CallEnd { arrival: start.arrival, actual_start, end, outcome });
    }
}
