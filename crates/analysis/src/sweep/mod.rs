//! A sweep: one rate after another, each for the same time, and the figures that each shows.
//!
//! | module | content |
//! |---|---|
//! | `ladder` | the rates: `1..32`, `1..32/8`, `1,2,4,8` |
//! | `backlog` | services that fall behind |
//! | `step` | the figures of one rate |
//! | `saved` | a sweep as it is saved and read |

mod backlog;
mod ladder;
mod saved;
mod step;

pub use ladder::{Ladder, LadderError};
pub use saved::{EndedBy, SCHEMA, Sweep, SweepError};
pub use step::{StepGoodput, StepObjective, StepQuantile, StepState, StepTime, SweepStep};
