//! Rules of a search for capacity: the highest rate that a service can provably take and still meet its objectives.
//!
//! These rules send no requests and read no clock. `truetail-study` applies them to real or simulated probes.
//! `docs/capacity.md` describes the method, its sources, and how often its answers are right.
//!
//! | module | content |
//! |---|---|
//! | `objective` | an objective such as `p99 < 50ms`: the bad requests and their allowed share |
//! | `stream_limit` | bad streams, and bad values of streams |
//! | `sample` | the bad requests of a probe, by stretch |
//! | `run_sample` | the bad requests of a run, by stretch |
//! | `evidence` | evidence that fewer or more requests than allowed are bad |
//! | `looks` | times of the looks at a probe, and the level that each look may spend |
//! | `judge`, `answer` | the answer of a probe |
//! | `search`, `probe_spec` | the rates to probe, and what their answers prove |
//! | `abort` | a condition that ends any run early, proven in the same way |
//! | `aim` | the estimated limit and the next rate |
//! | `ends` | the rates for the proof of both ends |

mod abort;
mod aim;
mod answer;
mod ends;
mod evidence;
mod judge;
mod limit_estimate;
mod looks;
mod objective;
mod probe_spec;
mod rates;
mod run_sample;
mod sample;
mod search;
mod stream_limit;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;

pub use abort::{AbortRule, AbortWatch};
pub use answer::Answer;
pub use judge::{ObjectiveEvidence, ProbeJudge, ProbeState, is_spoilt};
pub use limit_estimate::LimitEstimate;
pub use objective::{Objective, ObjectiveError};
pub use probe_spec::{FinishedProbe, ProbeSpec, Purpose};
pub use run_sample::SoFar;
pub use sample::{Sample, Stretch};
pub use search::{Search, SearchLimits, SearchState, Step};
