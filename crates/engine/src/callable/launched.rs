//! Calls that run elsewhere, many in flight at once: one thread keeps the schedule and starts them, and an event loop or a
//! runtime of the caller runs them.
//!
//! Event loops count in milliseconds, and many tools lose their accuracy there. So the schedule is kept by a thread of its
//! own, which sleeps to the nanosecond and starts each call at its instant.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use truetail_model::arrival::Arrival;
use truetail_model::driver::{Directive, DueRequest, WorkerShare};
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Clock, Timestamp};
use truetail_reactor::MonotonicClock;

use super::measurement::{EndedCall, LEAD, Measurement};
use super::plan::CallPlan;
use crate::control::Control;
use crate::result::{RunOutput, WorkerResult, merge_results};
use crate::start::Start;

/// Starts calls that run elsewhere.
pub trait CallLauncher {
    /// Starts a call now and does not wait for it. Its handle reports how it went, from any thread.
    fn launch(&mut self, handle: CallHandle);

    /// A call that was launched has ended, or the run has while it was in flight. Called once for each call, by the thread
    /// that launched it.
    fn ended(&mut self, _call: &CallEnd) {}

    /// The run ended at `end`, before a call was launched for this arrival.
    fn never_launched(&mut self, _arrival: Arrival, _end: Timestamp) {}
}

/// How a call went, as its record has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallEnd {
    /// The arrival that it was made for.
    pub arrival: Arrival,
    /// When it began.
    pub actual_start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// What became of it.
    pub outcome: Outcome,
}

/// Reports how one call went. Dropping the handle reports that the call failed.
#[derive(Debug)]
pub struct CallHandle {
    sender: Sender<EndedCall>,
    clock: MonotonicClock,
    start: DueRequest,
    actual_start: Timestamp,
    outcome: Outcome,
}

impl CallHandle {
    /// The arrival that the call is made for.
    pub fn arrival(&self) -> Arrival {
        self.start.arrival
    }

    /// The time on the clock of the run.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Sets the actual start to now. The time since the call was handed over, which its runtime took to run it, becomes
    /// generator lag.
    pub fn begin(&mut self) {
        self.actual_start = self.clock.now();
    }

    /// The call ends now.
    pub fn end(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for CallHandle {
    fn drop(&mut self) {
        let (start, actual_start, outcome) = (self.start, self.actual_start, self.outcome);
        // Nobody receives any more when the run is over; this call was counted as in flight then.
        let _ = self.sender.send(EndedCall { start, actual_start, end: self.clock.now(), outcome });
    }
}

/// Starts a call at each intended start, whether or not earlier calls have ended, and measures each from its intended
/// start. Returns when the run is over, and drops `launcher` before that. A call that is in flight then is counted as in
/// flight at the end, whatever its handle reports later.
///
/// `limits.connections` caps the calls in flight. The timeout of the limits is up to the launcher.
pub fn bench_launched(plan: &CallPlan, control: &Control, launcher: impl CallLauncher) -> RunOutput {
    let clock = MonotonicClock::starting_in(LEAD);
    let (sender, receiver) = channel();
    let measurement = Measurement::new(plan, &plan.workload, WorkerShare::WHOLE, clock, control);
    let starter = CallStarter { measurement, sender, receiver, in_flight: HashMap::new() };
    merge_results(vec![starter.run(launcher)], Start::with(clock))
}

/// Keeps the schedule and starts the calls.
struct CallStarter {
    measurement: Measurement,
    sender: Sender<EndedCall>,
    receiver: Receiver<EndedCall>,
    /// By index: the call, and when it was handed over.
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
        self.measurement.started(&start);
        self.in_flight.insert(start.arrival.index, (start, now));
        let (sender, clock) = (self.sender.clone(), self.measurement.clock);
        CallHandle { sender, clock, start, actual_start: now, outcome: Outcome::Malformed(Cause::Raised) }
    }

    /// Waits until `until` at the latest for a call to end.
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
        self.measurement.ended(ended);
        launcher.ended(&CallEnd { arrival: start.arrival, actual_start, end, outcome });
    }
}
