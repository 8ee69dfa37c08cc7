//! Callables, the view of a call that they get, and outcomes of calls.

use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Clock, Nanos, Timestamp};
use truetail_reactor::MonotonicClock;

/// One call, as its callable sees it.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    clock: MonotonicClock,
    arrival: Arrival,
    actual_start: Timestamp,
    end: Option<Timestamp>,
}

impl Call {
    pub(super) fn new(clock: MonotonicClock, arrival: Arrival, now: Timestamp) -> Call {
        Call { clock, arrival, actual_start: now, end: None }
    }

    /// Sets the actual start to now; the time before becomes generator lag. Used by callables that first wait for
    /// something else, such as the lock of an interpreter.
    pub fn begin(&mut self) {
        self.actual_start = self.clock.now();
    }

    /// Sets the end to now and returns the response time. The rest of [`Callable::call`], such as a look at the answer,
    /// is not part of the call.
    pub fn end(&mut self) -> Nanos {
        let end = self.clock.now();
        self.end = Some(end);
        end.since(self.arrival.intended_start)
    }

    /// Returns the arrival of the call, with its place in the whole load.
    pub fn arrival(&self) -> Arrival {
        self.arrival
    }

    pub(super) fn end_or(&self, returned: Timestamp) -> Timestamp {
        self.end.unwrap_or(returned)
    }

    pub(super) fn actual_start(&self) -> Timestamp {
        self.actual_start
    }
}

/// Code that a worker calls. Every closure without arguments is a callable.
pub trait Callable {
    /// The result of a call.
    type Answer: CallOutcome;

    /// Makes one call.
    fn call(&mut self, call: &mut Call) -> Self::Answer;

    /// Called every 20 ms while no call is due within 20 ms, for upkeep. If it takes longer than that, calls start
    /// late, and the delay is generator lag.
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

/// Result of a call. `()` and numbers are answers. An `Err` is a failure and counts as slower than every answer, so
/// that failing fast does not improve a quantile.
pub trait CallOutcome {
    /// Returns true if the call gave its answer.
    fn is_answer(&self) -> bool;

    /// Returns the call's outcome in the tally.
    fn outcome(&self) -> Outcome {
        if self.is_answer() { Outcome::ANSWERED } else { Outcome::Malformed(Cause::Raised) }
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
