//! The simulator: the same scenario and the same driver as the engine, in virtual time.
//!
//! There is no network and no generator here, so neither takes time: a request reaches the service at the instant it
//! starts, and starts at its intended start unless the user's own cap on connections holds it back, or
//! [`GeneratorFlaws`] were asked for. What comes out is
//! what an ideal client would have measured, to the nanosecond: the truth that other measurements are compared with.
//!
//! [`simulate`] makes a [`Run`] of a scenario. [`Simulation`] hands each request to a [`Sink`] of the caller's instead.
//! [`labs`] are small experiments with a name.
//!
//! All of it is deterministic: the same scenario gives the same records in the same order, always.
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

mod client_outcome;
mod error;
mod flaws;
mod in_flight;
pub mod labs;
mod run;
mod simulation;
mod sink;

pub use error::SimError;
pub use flaws::GeneratorFlaws;
pub use run::{SimOptions, simulate};
pub use simulation::{FaultClockStart, Simulation, SimulationEnd};
pub use sink::Sink;
pub use truetail_run::Run;
