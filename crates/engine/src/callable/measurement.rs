//! Measurement of calls: due calls and the record of each, independent of how calls are made.

use std::num::NonZeroU64;
use std::sync::Arc;

use truetail_model::arrival::Arrival;
use truetail_model::driver::{Directive, Driver, DueRequest, WorkerShare};
use truetail_model::record::{Outcome, Recorder, RequestRecord};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_model::workload::Workload;
use truetail_reactor::{MonotonicClock, minimize_timer_slack};
use truetail_run::CpuTime;

use super::plan::CallPlan;
use crate::control::{Control, StopRequest};
use crate::host;
use crate::live::Live;
use crate::result::{WorkerResult, recorder_options, worker_stats};
use crate::worker::PauseDetector;
use crate::worker::target_tallies::TargetTallies;

/// Time from the call to the first intended start, to get every worker ready.
pub(super) const LEAD: Nanos = Nanos::from_millis(10);
/// Longest sleep, so that a stop request is obeyed soon.
pub(super) const LONGEST_SLEEP: Nanos = Nanos::from_millis(20);

#[derive(Debug)]
pub(super) struct Measurement {
    pub(super) clock: MonotonicClock,
    pub(super) watch: PauseDetector,
    driver: Driver,
    recorder: Recorder,
    give_up_after: u64,
    failures_in_a_row: u64,
    control: Control,
    live: Arc<Live>,
    cpu_before: CpuTime,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct EndedCall {
    pub(super) start: DueRequest,
    pub(super) actual_start: Timestamp,
    pub(super) end: Timestamp,
    pub(super) outcome: Outcome,
}

impl Measurement {
    pub(super) fn new(
        plan: &CallPlan,
        workload: &Workload,
        share: WorkerShare,
        clock: MonotonicClock,
        control: &Control,
    ) -> Measurement {
        let live = Arc::new(Live::default());
        control.attach(Arc::clone(&live), None);
        Measurement {
            clock,
            watch: PauseDetector::new(),
            driver: Driver::new(workload, share),
            recorder: Recorder::new(recorder_options(workload, plan.samples)),
            give_up_after: plan.give_up_after.map_or(u64::MAX, NonZeroU64::get),
            failures_in_a_row: 0,
            control: control.clone(),
            live,
            cpu_before: CpuTime::default(),
        }
    }

    /// Prepares the calling thread, which is the worker's, and waits for the origin of the run.
    pub(super) fn wait_for_origin(&mut self) {
        minimize_timer_slack();
        self.cpu_before = host::thread_cpu();
        self.clock.wait_for_origin();
    }

    /// Returns the current time, and the directive for it.
    pub(super) fn turn(&mut self) -> (Timestamp, Directive) {
        let now = self.clock.now();
        self.watch.mark_awake(now);
        let gives_up = self.failures_in_a_row >= self.give_up_after;
        match self.control.stop_request() {
            StopRequest::None if gives_up => {
                self.control.stop_now();
                // Do not make a call that is due in this turn.
                self.driver.stop_now(now);
            }
            StopRequest::None => {}
            StopRequest::Drain => self.driver.stop(now),
            StopRequest::Now => self.driver.stop_now(now),
        }
        (now, self.driver.poll(now))
    }

    /// Announces a sleep from `now` until `until`, or for [`LONGEST_SLEEP`] if that is shorter. Returns its end.
    pub(super) fn sleep(&mut self, now: Timestamp, until: Timestamp) -> Timestamp {
        let until = until.min(now + LONGEST_SLEEP);
        self.watch.mark_sleeping(until);
        until
    }

    pub(super) fn record_start(&mut self, start: &DueRequest) {
        self.recorder.plan(start.arrival.intended_start);
        self.live.count_start();
    }

    pub(super) fn record_end(&mut self, call: EndedCall) {
        let EndedCall { start, actual_start, end, outcome } = call;
        self.failures_in_a_row = if outcome.is_failed() { self.failures_in_a_row + 1 } else { 0 };
        let record =
            RequestRecord::new(start.arrival, actual_start, end, outcome).with_start_delay(start.connection_wait, None);
        let record = RequestRecord { place: start.place, ..record };
        self.recorder.record(&record);
        self.live.count_end(&record);
        self.driver.complete(start.user, end);
    }

    /// Ends the run of this worker, after every started call has ended. Records the arrivals that were never issued.
    pub(super) fn finish(mut self, ended: Timestamp) -> WorkerResult {
        self.recorder.record_unissued(&mut self.driver, ended);
        self.result(ended)
    }

    /// Ends the run like [`Measurement::finish`], and calls `never_issued` for each arrival that was never issued.
    pub(super) fn finish_with(mut self, ended: Timestamp, mut never_issued: impl FnMut(Arrival)) -> WorkerResult {
        while let Some(unissued) = self.driver.pop_unissued_with_session() {
            self.recorder.plan(unissued.arrival.intended_start);
            self.recorder.record(&unissued.record(ended));
            never_issued(unissued.arrival);
        }
        self.result(ended)
    }

    fn result(self, ended: Timestamp) -> WorkerResult {
        WorkerResult {
            recorder: self.recorder,
            target_tallies: TargetTallies::default(),
            driver: self.driver,
            generator: worker_stats(self.watch, self.cpu_before),
            ended,
        }
    }
}
