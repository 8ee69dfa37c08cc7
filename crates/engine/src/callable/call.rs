//! What a worker calls, and what the callable may know of a call.

use truetail_model::arrival::Arrival;
use truetail_model::time::{Clock, Timestamp};
use truetail_reactor::MonotonicClock;

use super::CallOutcome;

/// One call that is about to be made.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    arrival: Arrival,
    clock: MonotonicClock,
    actual_start: Timestamp,
}

impl Call {
    pub(super) fn new(arrival: Arrival, clock: MonotonicClock, now: Timestamp) -> Call {
        Call { arrival, clock, actual_start: now }
    }

    /// The arrival that it answers.
    pub fn arrival(&self) -> Arrival {
        self.arrival
    }

    /// The call begins now, and not when the worker turned to it: what was done before is the generator's lag. For a
    /// callable that needs something first which is not its own, such as an interpreter's lock.
    pub fn begin(&mut self) {
        self.actual_start = self.clock.now();
    }

    pub(super) fn actual_start(&self) -> Timestamp {
        self.actual_start
    }
}

/// What one worker calls again and again. Every closure without arguments is one.
pub trait Callable {
    /// What a call gives.
    type Answer: CallOutcome;

    /// Makes one call.
    fn call(&mut self, call: &mut Call) -> Self::Answer;

    /// Nothing is due for 20 ms or more. Called every 20 ms while that is so, for what must be looked after now and then;
    /// whatever time it takes beyond that is the generator's lag.
    fn idle(&mut self) {}
}

impl<F, R> Callable for F
where
    F: FnMut() -> R,
    R: CallOutcome,
{
    type Answer = R;

    fn call(&mut self, _: &mut Call) -> R {
        self()
    }
}
