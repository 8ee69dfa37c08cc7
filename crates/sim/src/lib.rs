//! The simulator runs the same scenarios with the same driver as the engine, but in virtual time.
//!
//! Network and generator take no time. A request starts at its intended start, unless the user's limit on connections
//! or [`GeneratorFlaws`] hold it back, and reaches the service at once. The result is what an ideal client would
//! measure, exact to the nanosecond: the truth for other measurements.
//!
//! [`simulate`] returns a [`Run`], [`simulate_on`] a run for each of several machines, [`simulate_stripe`] the run of
//! one of them, and [`simulate_loops`] three runs. [`simulate_sessions`] has users whose requests follow each other.
//! [`Simulation`] passes each request to the caller's [`Sink`]. [`labs`] contains small named experiments.
//!
//! The simulator is deterministic: the same scenario always gives the same records in the same order.
//!
//! ```
//! use truetail_model::record::Metric;
//! use truetail_model::scenario::builtin;
//! use truetail_sim::{SimOptions, simulate};
//!
//! // A server stops for one second in a minute of 1 000 requests a second.
//! let run = simulate(&builtin::find("02-single-hiccup")?, SimOptions::default())?;
//! let p99 = run.snapshot.metric(Metric::ResponseTime).quantile(0.99).unwrap();
//! assert!((p99.as_millis_f64() - 410.0).abs() < 0.41, "to 0.1 %, from the buckets");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(unreachable_pub)]

mod channels;
mod client_outcome;
mod error;
mod flaws;
mod generators;
mod in_flight;
pub mod labs;
mod limits;
mod livelock;
mod loops;
mod run;
mod sessions;
mod simulation;
mod sink;
mod stream_books;
mod stream_ticket;
mod streams;

pub use error::SimError;
pub use flaws::GeneratorFlaws;
pub use loops::{Loops, simulate_loops};
pub use run::{SimOptions, simulate, simulate_on, simulate_sessions, simulate_stripe};
pub use sessions::{SessionRequest, Sessions};
pub use simulation::{FaultClockStart, Simulation, SimulationEnd};
pub use sink::{SimulatedStream, Sink};
pub use stream_books::StreamBooks;
pub use truetail_run::Run;
