//! Async callables on tokio: many calls in flight, one pump that keeps the schedule.
//!
//! tokio's own timer counts in milliseconds, which is where many tools lose their accuracy. The pump is therefore a
//! thread of its own that sleeps to the nanosecond and hands each call to the runtime at its instant.

use std::future::Future;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use tokio::runtime::Handle;
use truetail_model::driver::{Driver, Hand, Start, Turn};
use truetail_model::record::{Cause, Outcome, Recorder, RequestRecord, StartDelay};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::{MonotonicClock, Reactor, precise_sleeps};

use super::{CallOutcome, CallPlan};
use crate::control::{Asked, Control};
use crate::harvest::{Harvest, Measured, cpu_since, put_together, recorder_options};
use crate::host;
use crate::live::Live;
use crate::watch::Watch;

/// From the call to the first intended start.
const LEAD: Nanos = Nanos::from_millis(10);
/// Longest sleep, so that an order to end is obeyed soon.
const LONGEST_SLEEP: Nanos = Nanos::from_millis(20);

/// A call that ended, as its task saw it.
struct Ended {
    start: Start,
    actual_start: Timestamp,
    end: Timestamp,
    outcome: Outcome,
}

/// Starts `call()` on `runtime` at each intended start, whether or not earlier calls have ended, and measures each from
/// its intended start. To be called from a thread that is not one of the runtime's workers; it returns when the run is
/// over.
///
/// The actual start is when the task of a call was first run, so what the runtime took to get round to it is the
/// generator's lag and not the callable's time. `limits.connections` caps the calls in flight; `limits.timeout` gives a
/// call up (it is cancelled and counted as timed out); what is in flight when the drain is over is cancelled and counted
/// as in flight at the end.
pub fn bench_async<F, Fut>(plan: &CallPlan, control: &Control, runtime: &Handle, call: F) -> Measured
where
    F: Fn() -> Fut,
    Fut: Future + Send + 'static,
    Fut::Output: CallOutcome,
{
    let clock = MonotonicClock::starting_in(LEAD);
    let live = Arc::new(Live::default());
    if let Ok(reactor) = Reactor::new() {
        control.attach(reactor.waker(), Arc::clone(&live));
    }
    let (sender, receiver) = channel();
    let pump = Pump {
        driver: Driver::new(&plan.workload, Hand::ALONE),
        recorder: Recorder::new(recorder_options(&plan.workload, plan.samples, 1)),
        clock,
        watch: Watch::new(0),
        timeout: plan.workload.limits.timeout,
        give_up_after: plan.give_up_after.map_or(u64::MAX, std::num::NonZeroU64::get),
        failures_in_a_row: 0,
        control: control.clone(),
        live,
        sender,
        receiver,
        runtime: runtime.clone(),
        in_flight: std::collections::HashMap::new(),
    };
    put_together(vec![pump.run(call)], clock)
}

/// Tells the pump of the end of a call, whichever way the call ends.
struct Report {
    sender: Sender<Ended>,
    clock: MonotonicClock,
    start: Start,
    actual_start: Timestamp,
    outcome: Outcome,
}

impl Drop for Report {
    fn drop(&mut self) {
        let (start, actual_start, outcome) = (self.start, self.actual_start, self.outcome);
        // The pump is gone only when this call was already counted out.
        let _ = self.sender.send(Ended { start, actual_start, end: self.clock.now(), outcome });
    }
}

struct Pump {
    driver: Driver,
    recorder: Recorder,
    clock: MonotonicClock,
    watch: Watch,
    timeout: Option<Nanos>,
    give_up_after: u64,
    failures_in_a_row: u64,
    control: Control,
    live: Arc<Live>,
    sender: Sender<Ended>,
    receiver: Receiver<Ended>,
    runtime: Handle,
    in_flight: std::collections::HashMap<u64, (Start, Timestamp, tokio::task::AbortHandle)>,
}

impl Pump {
    fn run<F, Fut>(mut self, call: F) -> Harvest
    where
        F: Fn() -> Fut,
        Fut: Future + Send + 'static,
        Fut::Output: CallOutcome,
    {
        precise_sleeps();
        // Timers and sockets of the runtime may be made by `call()` itself, before its future first runs.
        let runtime = self.runtime.clone();
        let _inside = runtime.enter();
        let cpu_before = host::thread_cpu();
        self.clock.wait_for_origin();
        loop {
            let now = self.clock.now();
            self.watch.awake(now);
            self.obey(now);
            match self.driver.turn(now) {
                Turn::Start(start) => self.begin(start, now, call()),
                Turn::Wait { until } => self.wait(now, until),
                Turn::Expired | Turn::Finished => return self.settle(cpu_before),
            }
            while let Ok(ended) = self.receiver.try_recv() {
                self.record(ended);
            }
        }
    }

    fn obey(&mut self, now: Timestamp) {
        match self.control.asked() {
            Asked::GoOn if self.failures_in_a_row >= self.give_up_after => self.control.stop_now(),
            Asked::GoOn => {}
            Asked::Stop => self.driver.stop(now),
            Asked::StopNow => self.driver.stop_now(now),
        }
    }

    fn begin<Fut>(&mut self, start: Start, now: Timestamp, future: Fut)
    where
        Fut: Future + Send + 'static,
        Fut::Output: CallOutcome,
    {
        self.recorder.plan(start.arrival.intended_start);
        self.live.started();
        let (sender, clock, timeout) = (self.sender.clone(), self.clock, self.timeout);
        let task = self.runtime.spawn(async move {
            // A call that panics is reported as failed, by being dropped.
            let outcome = Outcome::Malformed(Cause::Raised);
            let mut report = Report { sender, clock, start, actual_start: clock.now(), outcome };
            report.outcome = match timeout {
                None => future.await.outcome(),
                Some(timeout) => match tokio::time::timeout(timeout.into(), future).await {
                    Ok(answer) => answer.outcome(),
                    Err(_) => Outcome::TimedOut,
                },
            };
        });
        self.in_flight.insert(start.arrival.index, (start, now, task.abort_handle()));
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
            outcome,
            bytes_in: 0,
        };
        self.recorder.record(&record);
        self.live.ended(&record);
        self.driver.finish(start.user, end);
    }

    /// Counts out what is in flight and what was never issued.
    fn settle(mut self, cpu_before: truetail_run::CpuTime) -> Harvest {
        let ended = self.clock.now();
        let left: Vec<_> = self.in_flight.values().map(|(start, began, task)| (*start, *began, task.clone())).collect();
        for (start, actual_start, task) in left {
            task.abort();
            self.record(Ended { start, actual_start, end: ended, outcome: Outcome::InFlightAtEnd });
        }
        while let Some(arrival) = self.driver.unissued() {
            self.recorder.plan(arrival.intended_start);
            self.recorder.record(&RequestRecord::never_issued(arrival, ended));
        }
        Harvest {
            recorder: self.recorder,
            driver: self.driver,
            watch: self.watch,
            cpu: cpu_since(cpu_before),
            connections_opened: 0,
            connections_peak: 0,
            stray_answers: 0,
            ended,
        }
    }
}
