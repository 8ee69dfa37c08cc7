//! What a call returns, as an outcome.

use truetail_model::record::{Cause, Outcome};

/// What a call may return. `()` and numbers are answers; an `Err` is a failure, which is slower than every answer:
/// a call that fails fast must not flatter.
pub trait CallOutcome {
    /// Did the call give its answer?
    fn is_answer(&self) -> bool;

    /// Its outcome in the books.
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
