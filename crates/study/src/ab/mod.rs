//! Comparison of A and B, which run in turns because machines drift: A B, B A, A B, and so on. A slow drift then adds
//! as much to one side as to the other.
//!
//! | module | content |
//! |---|---|
//! | `ending` | the number of rounds, the looks at the result, and the cost of the looks |
//! | `rounds` | runs the rounds, and compares |

mod ending;
mod rounds;

pub use ending::Ending;
pub use rounds::{AbPlan, AbResult, Ended, RunSide, Side, Turn, run_rounds};
