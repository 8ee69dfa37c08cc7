//! Did it get slower? Quantiles of runs before and after a change, and what can be said of their ratio.
//!
//! Requests of a run depend on each other, and runs differ from each other by more than chance within them explains. So
//! where a side has several runs, the interval of the ratio comes from how these runs differ: each is one estimate. With one
//! run on each side only the dependence within them is known, and [`Comparison::between_runs_known`] is false.
//!
//! | module | content |
//! |---|---|
//! | `estimate` | a quantile of one run, as a logarithm with its uncertainty |
//! | `ratio` | the interval of a ratio |
//! | `quantiles` | what is found at each quantile |
//! | `comparable` | why two sides should not be compared |
//! | `gate` | conditions under which a comparison fails |

mod comparable;
mod estimate;
mod gate;
mod quantiles;
mod ratio;

pub use comparable::{Expected, objections, objections_beyond};
pub use estimate::{Ends, RunEstimate};
pub use gate::{CompareGate, CompareGateError};
pub use quantiles::{
    Comparison, Difference, QuantileComparison, compare, compare_at, compare_estimates, compare_estimates_at,
};
