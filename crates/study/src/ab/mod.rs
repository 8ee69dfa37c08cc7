//! Comparison of A and B, which run in turns, A B, B A, A B …, so that a slow drift of the machine affects both sides
//! alike.
//!
//! | module | content |
//! |---|---|
//! | `ending` | the number of rounds, the looks at the result, and the cost of the looks |
//! | `rounds` | runs the rounds, and compares |

mod ending;
mod rounds;

pub use ending::Ending;
pub use rounds::{AbPlan, AbResult, Ended, RunSide, Side, Turn, run_rounds};
