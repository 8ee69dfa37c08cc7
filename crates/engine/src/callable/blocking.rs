//! Callables that return when they are done, one at a time on each worker.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::thread;

use truetail_model::driver::{Driver, Hand, Start, Turn};
use truetail_model::record::{Recorder, RequestRecord, StartDelay};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_model::workload::{LoadModel, Workload};
use truetail_reactor::{MonotonicClock, Reactor, precise_sleeps};

use super::{CallOutcome, CallPlan, Waiting};
use crate::control::{Asked, Control};
use crate::harvest::{Harvest, Measured, cpu_since, put_together, recorder_options};
use crate::host;
use crate::live::Live;
use crate::watch::Watch;

/// From the call to the first intended start: time for every worker to be ready.
const LEAD: Nanos = Nanos::from_millis(10);
/// Longest sleep, so that an order to end is obeyed soon.
const LONGEST_SLEEP: Nanos = Nanos::from_millis(20);
/// A spinning worker sleeps until this long before the intended start: more than a sleep is usually late by.
const SPIN_FOR: Nanos = Nanos::from_micros(100);

/// Calls at the plan's schedule and measures each call from its intended start. `make(worker)` makes the callable of
/// each worker, on that worker's thread.
///
/// A worker does one call at a time. Where calls are slower than the schedule, arrivals wait for their worker and keep
/// their intended start; what is not begun when the drain is over is counted as never issued.
///
/// # Panics
/// When a callable panics, after the other workers were told to end.
pub fn bench<F, R>(plan: &CallPlan, control: &Control, make: impl Fn(u32) -> F + Sync) -> Measured
where
    F: FnMut() -> R,
    R: CallOutcome,
{
    let workers = workers_of(plan);
    let mut workload = plan.workload.clone();
    workload.limits.connections = Some(workers);
    let clock = MonotonicClock::starting_in(LEAD);
    let harvests = thread::scope(|scope| {
        let start = |index| {
            let caller = Caller::new(plan, &workload, Hand { index, of: workers }, clock, control);
            let make = &make;
            scope.spawn(move || caller.run(make(index)))
        };
        let running: Vec<_> = (0..workers).map(start).collect();
        let ended: Vec<_> = running.into_iter().map(|worker| end_of(worker, control)).collect();
        ended.into_iter().map(|harvest| harvest.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    put_together(harvests, clock)
}

/// Never more workers than users, so that each has work.
fn workers_of(plan: &CallPlan) -> u32 {
    match plan.workload.model {
        LoadModel::Closed { users, .. } => plan.workers.min(users).max(1),
        _ => plan.workers.max(1),
    }
}

fn end_of(worker: thread::ScopedJoinHandle<'_, Harvest>, control: &Control) -> thread::Result<Harvest> {
    worker.join().inspect_err(|_| control.stop_now())
}

/// One worker.
struct Caller {
    driver: Driver,
    recorder: Recorder,
    clock: MonotonicClock,
    watch: Watch,
    waiting: Waiting,
    give_up_after: Option<NonZeroU64>,
    failures_in_a_row: u64,
    control: Control,
    live: Arc<Live>,
}

impl Caller {
    fn new(plan: &CallPlan, workload: &Workload, hand: Hand, clock: MonotonicClock, control: &Control) -> Caller {
        let live = Arc::new(Live::default());
        if let Ok(reactor) = Reactor::new() {
            control.attach(reactor.waker(), Arc::clone(&live));
        }
        Caller {
            driver: Driver::new(workload, hand),
            recorder: Recorder::new(recorder_options(workload, plan.samples, hand.of)),
            clock,
            watch: Watch::new(hand.index),
            waiting: plan.waiting,
            give_up_after: plan.give_up_after,
            failures_in_a_row: 0,
            control: control.clone(),
            live,
        }
    }

    fn run<R: CallOutcome>(mut self, mut call: impl FnMut() -> R) -> Harvest {
        precise_sleeps();
        let cpu_before = host::thread_cpu();
        self.clock.wait_for_origin();
        loop {
            let now = self.clock.now();
            self.watch.awake(now);
            self.obey(now);
            match self.driver.turn(now) {
                Turn::Start(start) => self.perform(start, now, &mut call),
                Turn::Wait { until } => self.wait(now, until),
                Turn::Expired | Turn::Finished => return self.settle(cpu_before),
            }
        }
    }

    fn obey(&mut self, now: Timestamp) {
        let gives_up = self.give_up_after.is_some_and(|limit| self.failures_in_a_row >= limit.get());
        match self.control.asked() {
            Asked::GoOn if gives_up => self.control.stop_now(),
            Asked::GoOn => {}
            Asked::Stop => self.driver.stop(now),
            Asked::StopNow => self.driver.stop_now(now),
        }
    }

    fn perform<R: CallOutcome>(&mut self, start: Start, now: Timestamp, call: &mut impl FnMut() -> R) {
        self.recorder.plan(start.arrival.intended_start);
        self.live.started();
        let answer = call();
        let end = self.clock.now();
        // However long the call took, it was the callable's time.
        self.watch.sleeping(end);
        self.failures_in_a_row = if answer.is_answer() { 0 } else { self.failures_in_a_row + 1 };
        let record = RequestRecord {
            index: start.arrival.index,
            intended_start: start.arrival.intended_start,
            actual_start: now,
            end,
            delay: StartDelay::split(start.arrival.intended_start, now, start.connection_wait, Nanos::ZERO),
            connected: false,
            outcome: answer.outcome(),
            bytes_in: 0,
        };
        self.recorder.record(&record);
        self.live.ended(&record);
        self.driver.finish(start.user, end);
    }

    /// Waits until `until`, or for a while.
    fn wait(&mut self, now: Timestamp, until: Timestamp) {
        let until = until.min(now + LONGEST_SLEEP);
        self.watch.sleeping(until);
        match self.waiting {
            Waiting::Sleep => thread::sleep(until.since(now).into()),
            Waiting::Spin => {
                thread::sleep(until.since(now).saturating_sub(SPIN_FOR).into());
                while self.clock.now() < until {
                    std::hint::spin_loop();
                }
            }
        }
    }

    fn settle(mut self, cpu_before: truetail_run::CpuTime) -> Harvest {
        let ended = self.clock.now();
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
