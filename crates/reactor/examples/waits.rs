//! Measures the CPU time of a wait, by how it is bounded and by what ends it: `cargo run --release -p truetail-reactor
//! --example waits`. Setting the timer of a virtual processor is expensive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use truetail_model::time::{Clock, NANOS_PER_SECOND, Nanos};
use truetail_reactor::{MonotonicClock, Reactor, ReadinessEvents, minimize_timer_slack};

const WAITS: u64 = 2_000;
const ROUNDS: usize = 5;
/// Time between two wakes, if wakes end the wait.
const EVERY: Duration = Duration::from_micros(250);
/// Timeout that is longer than [`EVERY`], so that no wait reaches it.
const BOUND: Nanos = Nanos::from_micros(800);
const TICK: Nanos = Nanos::from_millis(1);

fn main() {
    minimize_timer_slack();
    let reactor = Reactor::new().expect("file descriptors");
    let mut events = ReadinessEvents::with_capacity(8);
    let clock = MonotonicClock::starting_now();
    let waits = "the only errors are bugs of the caller";
    println!("us of CPU a wait, median of {ROUNDS} times {WAITS} waits");
    report("timeout, which ends it", |_| reactor.wait(&mut events, Some(TICK)).expect(waits));
    report("instant, which ends it", |_| {
        reactor.wait_until(&mut events, &clock, clock.now() + TICK).map(drop).expect(waits)
    });
    let waker = reactor.waker();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let waking = thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            thread::sleep(EVERY);
            waker.wake();
        }
    });
    report("unbounded, something ends it", |_| reactor.wait(&mut events, None).expect(waits));
    report("timeout, something ends it", |_| reactor.wait(&mut events, Some(BOUND)).expect(waits));
    let far = clock.now() + Nanos::from_secs(3600);
    report("one instant for all, something ends it", |_| {
        reactor.wait_until(&mut events, &clock, far).map(drop).expect(waits)
    });
    stop.store(true, Ordering::Relaxed);
    waking.join().expect("it only sleeps and wakes");
}

fn report(what: &str, mut wait: impl FnMut(u64)) {
    let mut costs: Vec<u64> = (0..ROUNDS)
        .map(|_| {
            let before = thread_cpu_ns();
            (0..WAITS).for_each(&mut wait);
            (thread_cpu_ns() - before) / WAITS
        })
        .collect();
    costs.sort_unstable();
    println!("{:>6.1}  {what}", costs[ROUNDS / 2] as f64 / 1e3);
}

fn thread_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * NANOS_PER_SECOND + used.tv_nsec as u64
}
