//! Checks on answers, such as `status == 200`.
//!
//! A [`Check`] is parsed from one line, such as `jsonpath $.items[0].id == 7`, and judges an [`Answer`]; both are pure.
//! A [`CheckRun`] applies the checks of a run to its answers as they come, counts, and keeps the first few that failed.
//!
//! | module | content |
//! |---|---|
//! | `check`, `answer` | a check, and the answer that it judges |
//! | `parse`, `scanner` | from text to check |
//! | `conditions` | conditions on a status, a text, a JSON value |
//! | `json_path` | JSONPaths with a limit on the steps of a search; flows use them too |
//! | `judge` | the judgement of an answer, and its reason |
//! | `tally` | counts, by time of the arrival |
//! | `observer` | checks in one worker of the engine |
//! | `check_run` | the checks of a run, over all workers |

#![warn(unreachable_pub)]

mod answer;
mod check;
mod check_run;
mod conditions;
mod json_path;
mod judge;
mod observer;
mod parse;
mod scanner;
mod tally;

pub use answer::{Answer, Body, MAX_BODY_BYTES};
pub use check::Check;
pub use check_run::CheckRun;
pub use json_path::{BoundedPath, TooManySteps};
pub use judge::Failure;
pub use parse::CheckError;
