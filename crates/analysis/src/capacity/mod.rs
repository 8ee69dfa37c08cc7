//! The rules of a search for capacity: the highest rate at which a service provably meets its objectives.
//!
//! Nothing here sends a request or reads a clock. `truetail-study` drives these rules over real or simulated probes;
//! `docs/capacity.md` gives the method, its sources, and how often its answers are right.
//!
//! | module | content |
//! |---|---|
//! | `objective` | an objective such as `p99 < 50ms`: which requests are bad, and how many may be |
//! | `sample` | the bad requests of a probe, by stretch |
//! | `of_run` | the same of a run |
//! | `evidence` | how likely so few or so many bad requests are at the limit |
//! | `looks` | when a probe is looked at, and the level that each look may spend |
//! | `judge`, `answer` | the answer of a probe |
//! | `search`, `trial` | the rates to probe, and what the answers prove |
//! | `aim` | where the limit probably is |
//! | `ends` | the rates at which the ends are proven |

mod aim;
mod answer;
mod ends;
mod evidence;
mod judge;
mod limit_estimate;
mod looks;
mod objective;
mod of_run;
mod rates;
mod sample;
mod search;
#[cfg(test)]
mod tests;
mod trial;

pub use answer::Answer;
pub use judge::{Look, ProbeJudge, spoilt};
pub use limit_estimate::LimitEstimate;
pub use objective::{Objective, ObjectiveError};
pub use sample::{Sample, Stretch};
pub use search::{Search, SearchLimits, SearchState, Step};
pub use trial::{Probed, Purpose, Trial};
