//! Comparison of runs before and after a change: the ratio of their quantiles, with its interval.
//!
//! Requests of a run depend on each other, and two runs differ by more than the chance within one run. If a side has
//! several runs, the interval of the ratio therefore comes from how these runs differ: each run is one estimate. With
//! one run on each side, only the dependence within the runs is known, and [`Comparison::between_runs_known`] is false.
//! Of times of streams, not even that is known, so they need several runs on a side.

mod comparable;
mod comparison;
mod estimate;
mod gate;
mod quantiles;
mod ratio;
mod stream_figures;
mod streams;

pub(crate) use comparable::differences_except;
pub use comparable::{ExpectedDifference, objections, objections_except};
pub use comparison::{Comparison, compare, compare_at};
pub use estimate::{Interval, RunEstimate};
pub use gate::{CompareGate, CompareGateError};
pub use quantiles::{Difference, QuantileComparison, compare_estimates, compare_estimates_at};
pub use stream_figures::StreamFigures;
pub use streams::{Change, RateComparison, ShareComparison, StreamTimeComparison, StreamsComparison};
