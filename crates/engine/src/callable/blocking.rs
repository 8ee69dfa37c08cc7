//! Callables that return when they are done, one at a time on each worker.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::thread;

use truetail_model::driver::{Directive, Driver, DueRequest, WorkerShare};
use truetail_model::record::{Recorder, RequestRecord, StartDelay};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_model::workload::Workload;
use truetail_reactor::{MonotonicClock, minimize_timer_slack};

use super::{Call, CallOutcome, CallPlan, Callable, Waiting};
use crate::control::{Asked, Control};
use crate::harvest::{Harvest, Measured, put_together, recorder_options};
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
pub fn bench<C: Callable>(plan: &CallPlan, control: &Control, make: impl Fn(u32) -> C + Sync) -> Measured {
    run_team(plan, control, First::InAThread, |caller| {
        let callable = make(caller.number());
        caller.run(callable)
    })
}

/// As [`bench`], with the first worker on the calling thread, for callables that belong to it. `work` is called once on
/// the thread of each worker and lets it run.
///
/// # Panics
/// When `work` panics, after the other workers were told to end.
pub fn bench_here(plan: &CallPlan, control: &Control, work: impl Fn(Caller) -> Called + Sync) -> Measured {
    run_team(plan, control, First::Here, work)
}

/// Where the first worker runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Here,
    InAThread,
}

fn run_team(plan: &CallPlan, control: &Control, first: First, work: impl Fn(Caller) -> Called + Sync) -> Measured {
    let workers = plan.effective_workers();
    let workload = plan.workload_of_workers();
    let clock = MonotonicClock::starting_in(LEAD);
    let mut callers = (0..workers)
        .map(|index| Caller::new(plan, &workload, WorkerShare { index, workers }, clock, control))
        .collect::<Vec<_>>();
    let work = |caller| {
        let _guard = EndWithPanic(control);
        work(caller).0
    };
    let harvests = thread::scope(|scope| {
        let here = (first == First::Here).then(|| callers.remove(0));
        let running: Vec<_> = callers.into_iter().map(|caller| scope.spawn(|| work(caller))).collect();
        let mine: Vec<_> = here.into_iter().map(&work).collect();
        let others: Vec<_> = running.into_iter().map(thread::ScopedJoinHandle::join).collect();
        let others = others.into_iter().map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        mine.into_iter().chain(others).collect()
    });
    put_together(harvests, clock)
}

/// Tells the other workers to end when one of them panics.
struct EndWithPanic<'a>(&'a Control);

impl Drop for EndWithPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop_now();
        }
    }
}

/// What a worker brings home: proof that it ran.
#[derive(Debug)]
pub struct Called(Harvest);

/// One worker of a run that has not begun.
#[derive(Debug)]
pub struct Caller {
    number: u32,
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
    fn new(
        plan: &CallPlan,
        workload: &Workload,
        share: WorkerShare,
        clock: MonotonicClock,
        control: &Control,
    ) -> Caller {
        let live = Arc::new(Live::default());
        control.attach(Arc::clone(&live), None);
        Caller {
            number: share.index,
            driver: Driver::new(workload, share),
            recorder: Recorder::new(recorder_options(workload, plan.samples)),
            clock,
            watch: Watch::new(share.index),
            waiting: plan.waiting,
            give_up_after: plan.give_up_after,
            failures_in_a_row: 0,
            control: control.clone(),
            live,
        }
    }

    /// Which worker it is, from 0.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Calls at the schedule until the run is over.
    pub fn run(mut self, mut callable: impl Callable) -> Called {
        minimize_timer_slack();
        let cpu_before = host::thread_cpu();
        self.clock.wait_for_origin();
        loop {
            let now = self.clock.now();
            self.watch.awake(now);
            self.obey(now);
            match self.driver.poll(now) {
                Directive::Start(start) => self.perform(start, now, &mut callable),
                Directive::Wait { until } if until.since(now) >= LONGEST_SLEEP => {
                    callable.idle();
                    self.wait(self.clock.now(), until);
                }
                Directive::Wait { until } => self.wait(now, until),
                Directive::Expired | Directive::Finished => break,
            }
        }
        let ended = self.clock.now();
        Called(Harvest::of_calls(self.driver, self.recorder, self.watch, cpu_before, ended))
    }

    fn obey(&mut self, now: Timestamp) {
        let gives_up = self.give_up_after.is_some_and(|limit| self.failures_in_a_row >= limit.get());
        match self.control.asked() {
            Asked::GoOn if gives_up => {
                self.control.stop_now();
                // Nor is one made that is due in this very turn.
                self.driver.stop_now(now);
            }
            Asked::GoOn => {}
            Asked::Stop => self.driver.stop(now),
            Asked::StopNow => self.driver.stop_now(now),
        }
    }

    fn perform(&mut self, start: DueRequest, now: Timestamp, callable: &mut impl Callable) {
        self.recorder.plan(start.arrival.intended_start);
        self.live.started();
        let mut call = Call::new(start.arrival, self.clock, now);
        let answer = callable.call(&mut call);
        let end = self.clock.now();
        // However long the call took, it was the callable's time.
        self.watch.sleeping(end);
        self.failures_in_a_row = if answer.is_answer() { 0 } else { self.failures_in_a_row + 1 };
        let (intended, actual) = (start.arrival.intended_start, call.actual_start());
        let record = RequestRecord {
            index: start.arrival.index,
            intended_start: intended,
            actual_start: actual,
            end,
            delay: StartDelay::split(intended, actual, start.connection_wait, Nanos::ZERO),
            connected: false,
            tls_handshake: None,
            read_lag: None,
            outcome: answer.outcome(),
            bytes_in: 0,
        };
        self.recorder.record(&record);
        self.live.ended(&record);
        self.driver.complete(start.user, end);
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
}
