//! A look at this machine before a measurement.

use std::io;

use truetail_model::time::{Clock as _, Timestamp};
use truetail_reactor::{MonotonicClock, Reactor, ReadinessEvents, contention, threads};
use truetail_run::MachineLook;

/// Wake-ups of a look, one each 2 ms.
const WAKES: u64 = 500;
const EVERY: u64 = 2_000_000;

/// Looks at this machine for a second, in a new thread.
///
/// # Errors
/// If the process has no free file descriptor.
pub(super) fn look() -> io::Result<MachineLook> {
    std::thread::spawn(look_here).join().unwrap_or_else(|_| Err(io::Error::other("the thread ended early")))
}

fn look_here() -> io::Result<MachineLook> {
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
    Ok(MachineLook {
        length_ns: length.0,
        late_ns,
        steal_ns: during(0),
        throttled_ns: during(1),
        pressure_ns: during(2),
    })
}
