//! Comparison of A and B. They run in turns, A B, B A, A B and so on, so that a slow drift affects both sides alike.

mod ending;
mod rounds;

pub use ending::Ending;
pub use rounds::{AbPlan, AbResult, EndReason, RunSide, Side, SideFigures, SideOutcome, run_rounds};
