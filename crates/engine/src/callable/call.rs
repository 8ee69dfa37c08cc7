//! What is called, what it may know of a call, and what a call returns.

use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Clock, Timestamp};
use truetail_reactor::MonotonicClock;

/// One call, as its callable sees it.
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

    /// The arrival that the call is made for.
    pub fn arrival(&self) -> Arrival {
        self.arrival
    }

    /// Sets the actual start to now. The time before it becomes generator lag. For a callable that first waits for something
    /// which is not part of it, such as the lock of an interpreter.
    pub fn begin(&mut self) {
        self.actual_start = self.clock.now();
    }

    pub(super) fn actual_start(&self) -> Timestamp {
        self.actual_start
    }
}

/// What a worker calls. Every closure without arguments is a callable.
pub trait Callable {
    /// What a call returns.
    type Answer: CallOutcome;

    /// Makes one call.
    fn call(&mut self, call: &mut Call) -> Self::Answer;

    /// Called every 20 ms while no call is due for 20 ms or more, for upkeep. If it takes longer than that, calls start late
    /// and the delay is generator lag.
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

/// What a call may return. `()` and numbers are answers. An `Err` is a failure, which counts as slower than every answer, so
/// that failing fast does not improve a quantile.
pub trait CallOutcome {
    /// Did the call give its answer?
    fn is_answer(&self) -> bool;

    /// Its outcome in the tally.
    fn outcome(&self) -> Outcome {
        if self.is_answer() { Outcome::Response { status: 0 } } else { Outcome::Malformed(Cause::Raised) }
    }
}

impl<T, E> CallOutcome for Result<T, E> {
    fn is_answer(&self) -> bool {
        self.is_ok()
    }
}

macro_rules! answers {
    ($($type:ty),*) => {
        $(impl CallOutcome for $type {
            fn is_answer(&self) -> bool {
                true
            }
        })*
    };
}

answers!((), u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64);
