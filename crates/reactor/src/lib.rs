//! Socket readiness with timeouts in nanoseconds, and the monotonic clock of a run. Engine and server share it; it knows
//! neither.

mod clock;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(test, not(target_os = "linux")))]
mod portable;
mod readiness;

use std::io;
use std::os::fd::AsFd;

use truetail_model::time::{Nanos, Timestamp};

pub use clock::{MonotonicClock, clock_reading_ns, minimize_timer_slack, unix_ns};
pub use readiness::{MAX_TOKEN, Readiness};

#[cfg(target_os = "linux")]
use linux as backend;
#[cfg(not(target_os = "linux"))]
use portable as backend;

/// Waits for many sockets at once. It is edge-triggered: a source is reported when its state *changes*. So after a report
/// it must be read (or written) until that comes back short or would block.
#[derive(Debug)]
pub struct Reactor(backend::Backend);

/// Ends a wait of its [`Reactor`] from any thread.
#[derive(Clone, Debug)]
pub struct Waker(backend::BackendWaker);

/// The events of one wait of a [`Reactor`]. It is made once and used for every wait.
#[derive(Debug)]
pub struct ReadinessEvents {
    happened: Vec<Readiness>,
    raw: backend::RawEvents,
    capacity: usize,
}

impl ReadinessEvents {
    /// Room for `capacity` events of one wait; what does not fit comes with the next.
    pub fn with_capacity(capacity: usize) -> ReadinessEvents {
        ReadinessEvents { happened: Vec::with_capacity(capacity), raw: backend::RawEvents::new(capacity), capacity }
    }

    /// The events of the last wait.
    pub fn iter(&self) -> impl Iterator<Item = Readiness> + '_ {
        self.happened.iter().copied()
    }

    /// Number of events of the last wait.
    pub fn len(&self) -> usize {
        self.happened.len()
    }

    /// True when there may have been more events than there was room for.
    pub fn is_full(&self) -> bool {
        // A wake and the timer may have taken two places without being reported.
        self.happened.len() + 2 >= self.capacity
    }

    /// Nothing happened.
    pub fn is_empty(&self) -> bool {
        self.happened.is_empty()
    }
}

impl Reactor {
    /// A reactor with no source.
    ///
    /// # Errors
    /// When the system has no file descriptor left.
    pub fn new() -> io::Result<Reactor> {
        Ok(Reactor(backend::Backend::new()?))
    }

    /// Watches `source` in both directions until [`Reactor::remove`]. `token` comes back with each event, and is
    /// [`MAX_TOKEN`] at most.
    ///
    /// # Errors
    /// When the source is watched already, or the system's limit on watches is reached.
    pub fn add(&self, source: impl AsFd, token: u64) -> io::Result<()> {
        assert!(token <= MAX_TOKEN, "a token that is kept for the waker or the timer");
        self.0.add(source.as_fd(), token)
    }

    /// Stops watching `source`. Call it before the source is closed.
    ///
    /// # Errors
    /// When the source is not watched.
    pub fn remove(&self, source: impl AsFd) -> io::Result<()> {
        self.0.remove(source.as_fd())
    }

    /// Waits until something happens, for at most `timeout` (`None`: forever), and stores it in `events`. Returns early
    /// when woken, on a signal, or at the deadline of an earlier [`Reactor::wait_until`]. What had happened before the call
    /// is among the events, as far as there is room for it.
    ///
    /// # Errors
    /// Only for what would be a bug of the caller.
    pub fn wait(&self, events: &mut ReadinessEvents, timeout: Option<Nanos>) -> io::Result<()> {
        events.happened.clear();
        self.0.wait(&mut events.raw, &mut events.happened, timeout)
    }

    /// As [`Reactor::wait`], until `deadline` of `clock` at the latest. This is cheaper than a timeout, above all where
    /// events come before the deadline and the next wait has the same deadline. Returns true when it has waited: nothing of
    /// what it reports had happened before the call.
    ///
    /// # Errors
    /// Only for what would be a bug of the caller.
    pub fn wait_until(
        &self,
        events: &mut ReadinessEvents,
        clock: &MonotonicClock,
        deadline: Timestamp,
    ) -> io::Result<bool> {
        events.happened.clear();
        self.0.wait_until(&mut events.raw, &mut events.happened, clock.to_monotonic_ns(deadline))
    }

    /// A handle that ends a wait from another thread.
    pub fn waker(&self) -> Waker {
        Waker(self.0.waker())
    }
}

impl Waker {
    /// Ends the current wait, or the next one if there is none.
    pub fn wake(&self) {
        self.0.wake();
    }
}

#[cfg(test)]
mod tests;
