//! Does B differ from A? Both run in turns, because machines drift: A B, B A, A B, and so on. What rises slowly then adds as
//! much to one side as to the other.
//!
//! | module | content |
//! |---|---|
//! | `ending` | how many rounds there are, when the result is looked at, and what the looks cost |
//! | `rounds` | runs the rounds, and compares |

mod ending;
mod rounds;

pub use ending::Ending;
pub use rounds::{AbPlan, AbResult, Ended, RunSide, Side, Turn, run_rounds};
