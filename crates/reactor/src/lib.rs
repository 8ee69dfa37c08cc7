//! Services of the operating system for a run: socket readiness with nanosecond timeouts, the monotonic clock, stamps
//! of arrivals, priority of threads, facts about the machine. `linux/` lists the services that only Linux has, and what
//! replaces them elsewhere.

#![warn(unreachable_pub)]

mod clock;
mod readiness;
#[cfg(all(target_os = "linux", not(feature = "portable")))]
#[path = "linux/mod.rs"]
mod system;
#[cfg(not(all(target_os = "linux", not(feature = "portable"))))]
#[path = "portable/mod.rs"]
mod system;

use std::io;
use std::os::fd::AsFd;

use system::readiness as backend;
use truetail_model::time::{Nanos, Timestamp};

pub use clock::{MonotonicClock, WallTime, clock_reading_ns, unix_ns};
pub use readiness::{MAX_TOKEN, Readiness};
pub use system::threads::minimize_timer_slack;
pub use system::{LINUX_SERVICES, contention, machine, sending, stamps, threads};

/// Waits for many sockets at once. It is edge-triggered: a source is reported when its state *changes*. After a report,
/// the caller must read (or write) until a call is short or would block.
#[derive(Debug)]
pub struct Reactor(backend::Backend);

/// Ends a wait of its [`Reactor`] from any thread.
#[derive(Clone, Debug)]
pub struct Waker(backend::BackendWaker);

/// The events of one wait of a [`Reactor`]. Make it once and pass it to every wait.
#[derive(Debug)]
pub struct ReadinessEvents {
    happened: Vec<Readiness>,
    raw: backend::RawEvents,
    capacity: usize,
}

impl ReadinessEvents {
    /// Makes room for `capacity` events per wait. Events that do not fit are reported by the next wait.
    pub fn with_capacity(capacity: usize) -> ReadinessEvents {
        ReadinessEvents { happened: Vec::with_capacity(capacity), raw: backend::RawEvents::new(capacity), capacity }
    }

    /// Iterates over the events of the last wait.
    pub fn iter(&self) -> impl Iterator<Item = Readiness> + '_ {
        self.happened.iter().copied()
    }

    /// Returns the number of events of the last wait.
    pub fn len(&self) -> usize {
        self.happened.len()
    }

    /// Returns true if the last wait may have had more events than there was room for.
    pub fn is_full(&self) -> bool {
        // A wake and the timer may have taken two places without being reported.
        self.happened.len() + 2 >= self.capacity
    }

    /// Returns true if the last wait reported no event.
    pub fn is_empty(&self) -> bool {
        self.happened.is_empty()
    }
}

impl Reactor {
    /// Creates a reactor without sources.
    ///
    /// # Errors
    /// If the process has no free file descriptor.
    pub fn new() -> io::Result<Reactor> {
        Ok(Reactor(backend::Backend::new()?))
    }

    /// Watches `source` in both directions until [`Reactor::remove`]. Events carry `token`, at most [`MAX_TOKEN`].
    ///
    /// # Errors
    /// If the source is watched already, or the system's limit on watches is reached.
    pub fn add(&self, source: impl AsFd, token: u64) -> io::Result<()> {
        assert!(token <= MAX_TOKEN, "a token that is kept for the waker or the timer");
        self.0.add(source.as_fd(), token)
    }

    /// Stops watching `source`. Call this before closing the source.
    ///
    /// # Errors
    /// If the source is not watched.
    pub fn remove(&self, source: impl AsFd) -> io::Result<()> {
        self.0.remove(source.as_fd())
    }

    /// Waits until something happens, for at most `timeout` (`None`: forever), and stores the events in `events`.
    /// Returns early when woken, on a signal, or at the deadline of an earlier [`Reactor::wait_until`]. Events from
    /// before the call are included, as far as `events` has room.
    ///
    /// # Errors
    /// Only for bugs of the caller.
    pub fn wait(&self, events: &mut ReadinessEvents, timeout: Option<Nanos>) -> io::Result<()> {
        events.happened.clear();
        self.0.wait(&mut events.raw, &mut events.happened, timeout)
    }

    /// Waits until something happens, or until `deadline` of `clock`, and stores the events in `events`. This is
    /// cheaper than [`Reactor::wait`] with a timeout, above all if events come before the deadline and the next wait
    /// has the same deadline. Returns true if it had to wait, so that no reported event happened before the call.
    ///
    /// # Errors
    /// Only for bugs of the caller.
    pub fn wait_until(
        &self,
        events: &mut ReadinessEvents,
        clock: &MonotonicClock,
        deadline: Timestamp,
    ) -> io::Result<bool> {
        events.happened.clear();
        self.0.wait_until(&mut events.raw, &mut events.happened, clock.to_monotonic_ns(deadline))
    }

    /// Returns a handle that ends a wait from another thread.
    pub fn waker(&self) -> Waker {
        Waker(self.0.waker())
    }
}

impl Waker {
    /// Ends the current wait, or else the next one.
    pub fn wake(&self) {
        self.0.wake();
    }
}

#[cfg(test)]
mod tests;
