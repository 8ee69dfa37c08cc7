//! Calls that end by themselves, many in flight at once: one pump keeps the schedule, and somebody else's event loop or
//! runtime runs the calls.
//!
//! Event loops count in milliseconds, which is where many tools lose their accuracy. The pump is therefore a thread of
//! its own that sleeps to the nanosecond and hands each call over at its instant.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use truetail_model::arrival::Arrival;
use truetail_model::driver::{Directive, Driver, DueRequest, WorkerShare};
use truetail_model::record::{Cause, Outcome, Recorder, RequestRecord, StartDelay};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::{MonotonicClock, minimize_timer_slack};

use super::CallPlan;
use crate::control::{Asked, Control};
use crate::harvest::{Harvest, Measured, put_together, recorder_options};
use crate::host;
use crate::live::Live;
use crate::watch::Watch;

/// From the call to the first intended start.
const LEAD: Nanos = Nanos::from_millis(10);
/// Longest sleep, so that an order to end is obeyed soon.
const LONGEST_SLEEP: Nanos = Nanos::from_millis(20);

/// Where calls run that the pump only starts.
pub trait Launch {
    /// Starts a call now and does not wait for it. What becomes of it is told through the ticket, from any thread.
    fn launch(&mut self, ticket: Ticket);
}

/// The pump's hold on one call. A ticket that is dropped says that the call failed.
#[derive(Debug)]
pub struct Ticket {
    sender: Sender<Ended>,
    clock: MonotonicClock,
    start: DueRequest,
    actual_start: Timestamp,
    outcome: Outcome,
}

/// A call that ended, as its ticket saw it.
#[derive(Debug)]
struct Ended {
    start: DueRequest,
    actual_start: Timestamp,
    end: Timestamp,
    outcome: Outcome,
}

impl Ticket {
    /// The arrival that the call answers.
    pub fn arrival(&self) -> Arrival {
        self.start.arrival
    }

    /// The call begins now, and not when the pump handed it over: what its runtime took to get round to it is the
    /// generator's lag and not the callable's time.
    pub fn begin(&mut self) {
        self.actual_start = self.clock.now();
    }

    /// The call ends now.
    pub fn end(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let (start, actual_start, outcome) = (self.start, self.actual_start, self.outcome);
        // The pump is gone only when this call was already counted out.
        let _ = self.sender.send(Ended { start, actual_start, end: self.clock.now(), outcome });
    }
}

/// Starts a call at each intended start, whether or not earlier calls have ended, and measures each from its intended
/// start. Returns when the run is over, and drops `launcher` before: what is in flight then is counted as in flight at
/// the end, whatever its ticket says later.
///
/// `limits.connections` caps the calls in flight; the timeout of the limits is the launcher's business.
pub fn bench_launched(plan: &CallPlan, control: &Control, launcher: impl Launch) -> Measured {
    let clock = MonotonicClock::starting_in(LEAD);
    let live = Arc::new(Live::default());
    control.attach(Arc::clone(&live), None);
    let (sender, receiver) = channel();
    let pump = Pump {
        driver: Driver::new(&plan.workload, WorkerShare::WHOLE),
        recorder: Recorder::new(recorder_options(&plan.workload, plan.samples)),
        clock,
        watch: Watch::new(0),
        give_up_after: plan.give_up_after.map_or(u64::MAX, NonZeroU64::get),
        failures_in_a_row: 0,
        control: control.clone(),
        live,
        sender,
        receiver,
        in_flight: HashMap::new(),
    };
    put_together(vec![pump.run(launcher)], clock)
}

struct Pump {
    driver: Driver,
    recorder: Recorder,
    clock: MonotonicClock,
    watch: Watch,
    give_up_after: u64,
    failures_in_a_row: u64,
    control: Control,
    live: Arc<Live>,
    sender: Sender<Ended>,
    receiver: Receiver<Ended>,
    /// By index: what was handed over, and when.
    in_flight: HashMap<u64, (DueRequest, Timestamp)>,
}

impl Pump {
    fn run(mut self, mut launcher: impl Launch) -> Harvest {
        minimize_timer_slack();
        let cpu_before = host::thread_cpu();
        self.clock.wait_for_origin();
        loop {
            let now = self.clock.now();
            self.watch.awake(now);
            self.obey(now);
            match self.driver.poll(now) {
                Directive::Start(start) => launcher.launch(self.begin(start, now)),
                Directive::Wait { until } => self.wait(now, until),
                Directive::Expired | Directive::Finished => break,
            }
            while let Ok(ended) = self.receiver.try_recv() {
                self.record(ended);
            }
        }
        let harvest = self.settle(cpu_before);
        drop(launcher);
        harvest
    }

    fn obey(&mut self, now: Timestamp) {
        match self.control.asked() {
            Asked::GoOn if self.failures_in_a_row >= self.give_up_after => {
                self.control.stop_now();
                // Nor is one made that is due in this very turn.
                self.driver.stop_now(now);
            }
            Asked::GoOn => {}
            Asked::Stop => self.driver.stop(now),
            Asked::StopNow => self.driver.stop_now(now),
        }
    }

    fn begin(&mut self, start: DueRequest, now: Timestamp) -> Ticket {
        self.recorder.plan(start.arrival.intended_start);
        self.live.started();
        self.in_flight.insert(start.arrival.index, (start, now));
        let outcome = Outcome::Malformed(Cause::Raised);
        Ticket { sender: self.sender.clone(), clock: self.clock, start, actual_start: now, outcome }
    }

    /// Waits for an end, until `until` at the latest.
    fn wait(&mut self, now: Timestamp, until: Timestamp) {
        let until = until.min(now + LONGEST_SLEEP);
        self.watch.sleeping(until);
        match self.receiver.recv_timeout(until.since(now).into()) {
            Ok(ended) => self.record(ended),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the pump holds a sender"),
        }
    }

    fn record(&mut self, ended: Ended) {
        if self.in_flight.remove(&ended.start.arrival.index).is_none() {
            return;
        }
        let Ended { start, actual_start, end, outcome } = ended;
        self.failures_in_a_row = if outcome.is_failed() { self.failures_in_a_row + 1 } else { 0 };
        let intended = start.arrival.intended_start;
        let record = RequestRecord {
            index: start.arrival.index,
            intended_start: intended,
            actual_start,
            end,
            delay: StartDelay::split(intended, actual_start, start.connection_wait, Nanos::ZERO),
            connected: false,
            tls_handshake: None,
            read_lag: None,
            outcome,
            bytes_in: 0,
        };
        self.recorder.record(&record);
        self.live.ended(&record);
        self.driver.complete(start.user, end);
    }

    /// Counts out what is in flight, and then what was never issued.
    fn settle(mut self, cpu_before: truetail_run::CpuTime) -> Harvest {
        let ended = self.clock.now();
        let left: Vec<_> = self.in_flight.values().copied().collect();
        for (start, actual_start) in left {
            self.record(Ended { start, actual_start, end: ended, outcome: Outcome::InFlightAtEnd });
        }
        Harvest::of_calls(self.driver, self.recorder, self.watch, cpu_before, ended)
    }
}
