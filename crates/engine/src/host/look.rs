//! A look at this machine before a measurement.

use std::io;

use truetail_model::time::{Clock as _, Nanos, Timestamp};
use truetail_reactor::{MonotonicClock, Reactor, ReadinessEvents, contention, threads};

/// Wake-ups of a look, one each 2 ms.
const WAKES: u64 = 500;
const EVERY: u64 = 2_000_000;

/// What was seen of a machine in one second.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Look {
    /// Length of the look.
    pub length: Nanos,
    /// Lateness of wake-ups by a timer such as a worker has, in ascending order.
    pub late_ns: Vec<u64>,
    /// Time that the hypervisor took, over all processors.
    pub steal_ns: Option<u64>,
    /// Time that a quota took.
    pub throttled_ns: Option<u64>,
    /// Time while a task waited for a processor.
    pub pressure_ns: Option<u64>,
}

/// Looks at this machine for a second, in a new thread.
///
/// # Errors
/// If the process has no free file descriptor.
pub fn look() -> io::Result<Look> {
    std::thread::spawn(look_here).join().unwrap_or_else(|_| Err(io::Error::other("the thread ended early")))
}

fn look_here() -> io::Result<Look> {
    threads::minimize_timer_slack();
    let reactor = Reactor::new()?;
    let mut events = ReadinessEvents::with_capacity(4);
    let counters = || [contention::steal_ns(), contention::throttled_ns(), contention::cpu_pressure_ns()];
    let before = counters();
    let clock = MonotonicClock::starting_now();
    let mut late_ns = Vec::with_capacity(WAKES as usize);
    for wake in 1..=WAKES {
        let due = Timestamp(wake * EVERY);
        while clock.now() < due {
            reactor.wait_until(&mut events, &clock, due)?;
        }
        late_ns.push(clock.now().since(due).0);
    }
    let length = clock.now().since(Timestamp::ZERO);
    late_ns.sort_unstable();
    let after = counters();
    let during = |nth: usize| after[nth].zip(before[nth]).map(|(after, before)| after.saturating_sub(before));
    Ok(Look { length, late_ns, steal_ns: during(0), throttled_ns: during(1), pressure_ns: during(2) })
}
