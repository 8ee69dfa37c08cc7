//! Load on anything that can be called: a function, a client library, an order router.
//!
//! The HTTP engine's schedule, driver, recorder and tally are used; only the call is yours. Each call is measured from
//! its intended start, so a pause of the callable shows in every call that it delayed, and not only in one.
//!
//! | | |
//! |---|---|
//! | [`bench()`] | a function, called on the engine's threads |
//! | [`bench_here`] | a function, with the first worker on the calling thread, for callables that belong to it |
//! | `bench_async` | futures on tokio, many in flight (feature `tokio`) |
//! | [`bench_launched`] | calls that run anywhere else, many in flight: an event loop, another runtime |
//!
//! ```
//! use truetail_engine::Control;
//! use truetail_engine::callable::{CallPlan, bench};
//! use truetail_model::time::Nanos;
//! use truetail_run::RunSource;
//!
//! let plan = CallPlan::at_rate("2000/s".parse()?, Nanos::from_millis(100));
//! let measured = bench(&plan, &Control::new(), |_worker| || std::hint::black_box((0..100).sum::<u64>()));
//! assert_eq!(measured.snapshot.tally.responses, 200);
//! let run = measured.into_run(RunSource::Callable, plan.offered());
//! # assert_eq!(run.facts.offered.connections, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "tokio")]
mod asynchronous;
mod blocking;
mod call;
mod launched;
mod measurement;
mod plan;

#[cfg(feature = "tokio")]
pub use asynchronous::bench_async;
pub use blocking::{CallWorker, CallWorkerResult, bench, bench_here};
pub use call::{Call, CallOutcome, Callable};
pub use launched::{CallEnd, CallHandle, CallLauncher, bench_launched};
pub use plan::{CallPlan, WaitStrategy};
