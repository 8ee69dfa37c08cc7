//! The same measuring loop around anything that can be called: a function, a client library, an order router.
//!
//! The schedule, the driver, the recorder and the books are those of the HTTP engine; only the call is yours. Each call
//! is measured from the instant at which it *should* have begun, so a pause of the callable shows in every call that it
//! held up and not in one alone.
//!
//! ```
//! use truetail_engine::Control;
//! use truetail_engine::callable::{CallPlan, bench};
//! use truetail_model::time::Nanos;
//!
//! let plan = CallPlan::at_rate("2000/s".parse()?, Nanos::from_millis(100));
//! let measured = bench(&plan, &Control::new(), |_worker| || std::hint::black_box((0..100).sum::<u64>()));
//! assert_eq!(measured.snapshot.tally.responses, 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "tokio")]
mod asynchronous;
mod blocking;
mod outcome;
mod plan;

#[cfg(feature = "tokio")]
pub use asynchronous::bench_async;
pub use blocking::bench;
pub use outcome::CallOutcome;
pub use plan::{CallPlan, Waiting};
