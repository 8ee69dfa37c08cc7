//! Tests of the measuring loop around callables.

use std::num::NonZeroU64;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::support::DRAIN;
use truetail_engine::callable::{
    Call, CallHandle, CallLauncher, CallPlan, Callable, WaitStrategy, bench, bench_here, bench_launched,
};
use truetail_engine::{Control, RunOutput};
use truetail_model::arrival::Horizon;
use truetail_model::record::{Cause, Metric, Outcome};
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::LoadModel;
use truetail_run::RunSource;

fn at_rate(per_second: f64, millis: u64) -> CallPlan {
    CallPlan::at_rate(Rate::per_second(per_second).unwrap(), Nanos::from_millis(millis))
}

fn checked(measured: RunOutput) -> RunOutput {
    measured.snapshot.tally.check().unwrap();
    for record in measured.snapshot.samples.even() {
        assert!(record.intended_start <= record.actual_start && record.actual_start <= record.end, "{record:?}");
    }
    measured
}

#[test]
fn every_planned_call_is_made_by_each_way_of_waiting() {
    for waiting in [WaitStrategy::Sleep, WaitStrategy::Spin] {
        for workers in [1, 3] {
            let calls = AtomicU64::new(0);
            let plan = CallPlan { waiting, workers, ..at_rate(1000.0, 200) };
            let measured = checked(bench(&plan, &Control::new(), |_| || calls.fetch_add(1, Ordering::Relaxed)));
            assert_eq!((measured.snapshot.tally.responses, calls.into_inner()), (200, 200), "{waiting:?} {workers}");
        }
    }
}

#[test]
fn a_pause_shows_in_every_call_it_held_up() {
    let mut n = 0;
    let pausing = || {
        n += 1;
        if n == 50 {
            std::thread::sleep(Duration::from_millis(200));
        }
    };
    let mut pausing = Some(pausing);
    let cell = std::sync::Mutex::new(&mut pausing);
    let measured = checked(bench(&at_rate(500.0, 400), &Control::new(), |_| cell.lock().unwrap().take().unwrap()));
    let held_up = |metric| {
        let all = measured.snapshot.metric(metric);
        all.count() - all.count_at_or_below(Nanos::from_millis(20))
    };
    // 200 ms at 500/s: a hundred calls were due in the pause, and only the last ten waited less than 20 ms.
    assert_eq!(held_up(Metric::ServiceTime), 1, "a naive loop sees one");
    assert!(held_up(Metric::ResponseTime) >= 85, "{}", held_up(Metric::ResponseTime));
    assert!(held_up(Metric::ConnectionWait) >= 85, "they waited for their worker");
}

#[test]
fn a_rate_that_cannot_be_held_ends_on_time_with_balanced_books() {
    let mut plan = at_rate(1000.0, 300);
    plan.workload.limits.drain = Nanos::from_millis(100);
    let slow = |_| || std::thread::sleep(Duration::from_millis(5));
    let measured = checked(bench(&plan, &Control::new(), slow));
    let tally = measured.snapshot.tally;
    // 400 ms at 5 ms or more per call.
    assert!(tally.planned == 300 && tally.issued <= 81 && tally.never_issued >= 219, "{tally:?}");
}

#[test]
fn failures_are_not_answers_and_too_many_end_the_run() {
    let mut plan = at_rate(1000.0, 10_000);
    plan.give_up_after = NonZeroU64::new(20);
    let measured = checked(bench(&plan, &Control::new(), |_| || Err::<(), &str>("no")));
    assert_eq!(measured.snapshot.causes.get(&Cause::Raised), Some(&20));
    assert!(measured.snapshot.tally.planned < 10_000 && measured.snapshot.metric(Metric::ResponseTime).is_empty());
    plan.give_up_after = None;
    plan.workload.model = at_rate(1000.0, 100).workload.model;
    let measured = checked(bench(&plan, &Control::new(), |_| || Err::<(), &str>("no")));
    assert_eq!(measured.snapshot.tally.malformed, 100);
}

#[test]
fn who_gives_up_makes_no_call_that_is_due_already() {
    let mut plan = at_rate(1000.0, 10_000);
    plan.give_up_after = NonZeroU64::new(20);
    let slow = |_| {
        || {
            std::thread::sleep(Duration::from_millis(5));
            Err::<(), &str>("no")
        }
    };
    let measured = checked(bench(&plan, &Control::new(), slow));
    assert_eq!(measured.snapshot.causes.get(&Cause::Raised), Some(&20));
}

#[test]
fn a_closed_loop_calls_back_to_back() {
    let horizon = Horizon { duration: None, requests: Some(1000) };
    let mut plan = CallPlan::new(LoadModel::Closed { users: 2.into(), think_time: Nanos::ZERO, horizon });
    plan.workers = 4;
    let measured = checked(bench(&plan, &Control::new(), |_| || 1u64));
    assert_eq!((measured.snapshot.tally.responses, measured.generator.threads), (1000, 2));
}

#[test]
fn control_ends_it() {
    let control = Control::new();
    let handle = control.clone();
    let calls = AtomicU64::new(0);
    let call = |_| {
        || {
            if calls.fetch_add(1, Ordering::SeqCst) == 100 {
                handle.stop();
            }
        }
    };
    let measured = checked(bench(&at_rate(2000.0, 60_000), &control, call));
    assert!((101..120_000).contains(&measured.snapshot.tally.planned), "{:?}", measured.snapshot.tally);
}

#[test]
#[should_panic(expected = "the callable broke")]
fn a_panic_of_the_callable_is_not_swallowed() {
    bench(&at_rate(1000.0, 100), &Control::new(), |_| || -> () { panic!("the callable broke") });
}

/// A callable that needs time to get ready, which is not part of its call.
struct Late<'a> {
    idles: &'a AtomicU64,
}

impl Callable for Late<'_> {
    type Answer = ();

    fn call(&mut self, call: &mut Call) {
        std::thread::sleep(Duration::from_millis(2));
        call.begin();
    }

    fn idle(&mut self) {
        self.idles.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_call_may_begin_later_than_its_worker_turned_to_it() {
    let idles = AtomicU64::new(0);
    let measured = checked(bench(&at_rate(20.0, 1500), &Control::new(), |_| Late { idles: &idles }));
    let lag = measured.snapshot.metric(Metric::GeneratorLag);
    assert!(lag.count() == 30 && lag.min().unwrap() >= Nanos::from_millis(2), "{lag:?}");
    // If the machine pauses for half a second, ten of these breaks are lost.
    assert!(idles.into_inner() >= 10, "between two calls a twentieth of a second apart there is time to look around");
}

#[test]
fn the_first_worker_may_be_the_calling_thread() {
    let home = std::thread::current().id();
    let plan = CallPlan { workers: 2, ..at_rate(1000.0, 100) };
    let here = AtomicU64::new(0);
    let elsewhere = AtomicU64::new(0);
    let call = || {
        let counter = if std::thread::current().id() == home { &here } else { &elsewhere };
        counter.fetch_add(1, Ordering::Relaxed)
    };
    let measured = checked(bench_here(&plan, &Control::new(), |caller| caller.run(call)));
    assert_eq!((here.into_inner(), elsewhere.into_inner()), (50, 50));
    let run = measured.into_run(RunSource::Callable, plan.offered());
    assert_eq!((run.facts.offered.connections, run.snapshot.tally.responses), (Some(2), 100));
}

/// Notes the number of each of its calls, and how many callables there were by then.
struct Numbered<'a> {
    calls: &'a Mutex<Vec<(u64, u64)>>,
    made: &'a AtomicU64,
}

impl Callable for Numbered<'_> {
    type Answer = ();

    fn call(&mut self, call: &mut Call) {
        self.calls.lock().unwrap().push((call.arrival().index, self.made.load(Ordering::SeqCst)));
    }
}

#[test]
fn calls_are_numbered_and_the_schedule_waits_until_all_callables_are_made() {
    let calls = Mutex::new(Vec::new());
    let made = AtomicU64::new(0);
    let make = |worker: u32| {
        std::thread::sleep(Duration::from_millis(50 * u64::from(worker)));
        made.fetch_add(1, Ordering::SeqCst);
        Numbered { calls: &calls, made: &made }
    };
    let plan = CallPlan { workers: 3, ..at_rate(1000.0, 60) };
    let measured = checked(bench(&plan, &Control::new(), make));
    let mut calls = calls.into_inner().unwrap();
    calls.sort_unstable();
    assert_eq!(calls, (0..60).map(|number| (number, 3)).collect::<Vec<_>>());
    assert_eq!(measured.snapshot.tally.responses, 60);
}

/// Ends its calls, and looks at their answers later. Keeps the longest response time.
struct LooksBack<'a> {
    longest_ns: &'a AtomicU64,
}

impl Callable for LooksBack<'_> {
    type Answer = ();

    fn call(&mut self, call: &mut Call) {
        self.longest_ns.fetch_max(call.end().0, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_call_may_end_before_its_callable_returns() {
    let longest_ns = AtomicU64::new(0);
    let measured = checked(bench(&at_rate(20.0, 500), &Control::new(), |_| LooksBack { longest_ns: &longest_ns }));
    let longest = measured.snapshot.metric(Metric::ResponseTime).max();
    assert_eq!(longest, Some(Nanos(longest_ns.into_inner())));
}

/// Hands each call to a new thread.
struct Threads;

impl CallLauncher for Threads {
    fn launch(&mut self, mut ticket: CallHandle) {
        std::thread::spawn(move || {
            ticket.begin();
            match ticket.arrival().index {
                3 => drop(ticket),
                5 => ticket.end(Outcome::TimedOut),
                7 => std::mem::forget(ticket),
                _ => ticket.end(Outcome::ANSWERED),
            }
        });
    }
}

#[test]
fn calls_that_run_elsewhere_are_all_accounted_for() {
    let mut plan = at_rate(100.0, 200);
    plan.workload.limits.drain = DRAIN;
    let tally = checked(bench_launched(&plan, &Control::new(), Threads)).snapshot.tally;
    assert_eq!((tally.responses, tally.malformed, tally.timed_out, tally.in_flight_at_end), (17, 1, 1, 1), "{tally:?}");
}

#[cfg(feature = "tokio")]
mod asynchronous {
    use super::*;
    use crate::support::TIMEOUT;
    use truetail_engine::callable::bench_async;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
    }

    #[test]
    fn calls_overlap_and_all_are_measured() {
        let runtime = runtime();
        let sleep = || tokio::time::sleep(Duration::from_millis(200));
        let measured = checked(bench_async(&at_rate(500.0, 200), &Control::new(), runtime.handle(), sleep));
        assert_eq!(measured.snapshot.tally.responses, 100);
        assert!(measured.snapshot.metric(Metric::ResponseTime).min().unwrap() >= Nanos::from_millis(200));
        assert!(measured.elapsed < Nanos::from_secs(10), "one after the other they would take twenty seconds");
    }

    #[test]
    fn a_cap_a_timeout_a_failure_and_a_panic_are_told_apart() {
        let runtime = runtime();
        let mut plan = at_rate(200.0, 200);
        plan.workload.limits.timeout = Some(TIMEOUT);
        plan.workload.limits.connections = Some(1);
        let n = AtomicU64::new(0);
        let call = || {
            let n = n.fetch_add(1, Ordering::SeqCst);
            async move {
                match n {
                    3 => std::future::pending().await,
                    5 => panic!("the callable broke"),
                    7 => Err("no"),
                    _ => Ok(()),
                }
            }
        };
        let tally = checked(bench_async(&plan, &Control::new(), runtime.handle(), call)).snapshot.tally;
        assert_eq!((tally.planned, tally.responses, tally.timed_out, tally.malformed), (40, 37, 1, 2), "{tally:?}");
    }

    #[test]
    fn what_hangs_is_in_flight_at_the_end() {
        let runtime = runtime();
        let mut plan = at_rate(100.0, 100);
        plan.workload.limits.drain = DRAIN;
        let measured = checked(bench_async(&plan, &Control::new(), runtime.handle(), std::future::pending::<()>));
        assert_eq!(measured.snapshot.tally.in_flight_at_end, 10);
    }
}
