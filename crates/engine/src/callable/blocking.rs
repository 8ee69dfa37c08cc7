//! Callables that return when they are done, one at a time on each worker.

use std::thread;

use truetail_model::driver::{Directive, DueRequest, WorkerShare};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_model::workload::Workload;

use super::call::{Call, CallOutcome, Callable};
use super::measurement::{EndedCall, LONGEST_SLEEP, Measurement};
use super::plan::{CallPlan, WaitStrategy};
use crate::control::Control;
use crate::result::{RunOutput, WorkerResult, merge_results};
use crate::start::{SharedStart, WorkerStart};

/// Time that a spinning worker spins before the intended start. Sleeps are usually less late than this.
const SPIN_FOR: Nanos = Nanos::from_micros(100);

/// Makes the calls of the plan's schedule, and measures each call from its intended start. `make(worker)` makes the
/// callable of a worker, on that worker's thread. The schedule begins when all callables are made.
///
/// A worker makes one call at a time. If calls are slower than the schedule, arrivals wait for their worker and keep
/// their intended start. Calls that have not begun when the drain is over are counted as never issued.
///
/// # Panics
/// If a callable panics, after the other workers were told to end.
pub fn bench<C: Callable>(plan: &CallPlan, control: &Control, make: impl Fn(u32) -> C + Sync) -> RunOutput {
    run_workers(plan, control, FirstWorker::InAThread, |worker| {
        let callable = make(worker.number());
        worker.run(callable)
    })
}

/// Measures as [`bench()`] does, but runs the first worker on the calling thread, for callables that must stay there.
/// `work` is called once for each worker, on that worker's thread, and must call [`CallWorker::run`]. The schedule
/// begins when all workers have called it.
///
/// # Panics
/// If `work` panics, after the other workers were told to end.
pub fn bench_here(
    plan: &CallPlan,
    control: &Control,
    work: impl Fn(CallWorker<'_>) -> CallWorkerResult + Sync,
) -> RunOutput {
    run_workers(plan, control, FirstWorker::Here, work)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstWorker {
    Here,
    InAThread,
}

fn run_workers(
    plan: &CallPlan,
    control: &Control,
    first: FirstWorker,
    work: impl Fn(CallWorker<'_>) -> CallWorkerResult + Sync,
) -> RunOutput {
    let workers = plan.worker_count();
    let workload = plan.blocking_workload();
    let shared = SharedStart::when_ready();
    let worker = |index| {
        let share = WorkerShare { index, workers, ..WorkerShare::WHOLE };
        CallWorker { plan, workload: &workload, share, control, start: shared.for_worker(None) }
    };
    let mut workers: Vec<_> = (0..workers).map(worker).collect();
    let work = |worker| {
        let _guard = StopsOnPanic(control);
        work(worker).0
    };
    thread::scope(|scope| {
        let here = (first == FirstWorker::Here).then(|| workers.remove(0));
        let start = scope.spawn(move || shared.wait());
        let running: Vec<_> = workers.into_iter().map(|worker| scope.spawn(|| work(worker))).collect();
        let here = here.map(&work);
        let others: Vec<_> = running.into_iter().map(thread::ScopedJoinHandle::join).collect();
        let others = others.into_iter().map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let results = here.into_iter().chain(others).collect();
        merge_results(results, start.join().expect("it only waits"))
    })
}

/// Tells the other workers to end when one of them panics.
struct StopsOnPanic<'a>(&'a Control);

impl Drop for StopsOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop_now();
        }
    }
}

/// Results of one worker, which prove that it ran.
#[derive(Debug)]
pub struct CallWorkerResult(WorkerResult);

/// One worker of a run that has not begun.
#[derive(Debug)]
pub struct CallWorker<'a> {
    plan: &'a CallPlan,
    workload: &'a Workload,
    share: WorkerShare,
    control: &'a Control,
    start: WorkerStart,
}

impl CallWorker<'_> {
    /// Returns the index of the worker.
    pub fn number(&self) -> u32 {
        self.share.index
    }

    /// Waits until all workers are ready, and makes this worker's calls until the run is over.
    pub fn run(self, callable: impl Callable) -> CallWorkerResult {
        let clock = self.start.wait().clock;
        let measurement = Measurement::new(self.plan, self.workload, self.share, clock, self.control);
        CallLoop { waiting: self.plan.waiting, measurement }.run(callable)
    }
}

/// One worker under way.
struct CallLoop {
    waiting: WaitStrategy,
    measurement: Measurement,
}

impl CallLoop {
    fn run(mut self, mut callable: impl Callable) -> CallWorkerResult {
        self.measurement.wait_for_origin();
        loop {
            match self.measurement.turn() {
                (now, Directive::Start(start)) => self.call(start, now, &mut callable),
                (now, Directive::Wait { until }) if until.since(now) >= LONGEST_SLEEP => {
                    callable.idle();
                    self.wait(self.measurement.clock.now(), until);
                }
                (now, Directive::Wait { until }) => self.wait(now, until),
                (_, Directive::Expired | Directive::Finished) => break,
            }
        }
        let ended = self.measurement.clock.now();
        CallWorkerResult(self.measurement.finish(ended))
    }

    fn call(&mut self, start: DueRequest, now: Timestamp, callable: &mut impl Callable) {
        self.measurement.record_start(&start);
        let mut call = Call::new(self.measurement.clock, start.arrival, now);
        let outcome = callable.call(&mut call).outcome();
        let returned = self.measurement.clock.now();
        // The time that a call takes is not a pause of the worker.
        self.measurement.watch.mark_sleeping(returned);
        let end = call.end_or(returned);
        self.measurement.record_end(EndedCall { start, actual_start: call.actual_start(), end, outcome });
    }

    /// Waits until `until`, or for [`LONGEST_SLEEP`] if that is shorter.
    fn wait(&mut self, now: Timestamp, until: Timestamp) {
        let until = self.measurement.sleep(now, until);
        match self.waiting {
            WaitStrategy::Sleep => thread::sleep(until.since(now).into()),
            WaitStrategy::Spin => {
                thread::sleep(until.since(now).saturating_sub(SPIN_FOR).into());
                while self.measurement.clock.now() < until {
                    std::hint::spin_loop();
                }
            }
        }
    }
}
