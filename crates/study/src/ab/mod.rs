//! Comparison of A and B, which run in turns, A B, B A, A B …, so that a slow drift affects both sides alike.

mod ending;
mod rounds;

pub use ending::Ending;
pub use rounds::{AbPlan, AbResult, EndReason, RunSide, Side, SideOutcome, run_rounds};
