//! Checks on answers: is the status 200, is the body what it should be?
//!
//! A [`Check`] is parsed from one line, such as `jsonpath $.items[0].id == 7`, and judges an [`Answer`]: both are pure. A
//! [`CheckRun`] applies the checks of a run to its answers while they come, counts, and keeps the first few that failed.
//!
//! | file | what is in it |
//! |---|---|
//! | `check` | a check, and its text |
//! | `parse`, `scanner` | from text to check |
//! | `tests_of` | what is asked of a status, a text, a JSON value |
//! | `answer` | what a check is asked of |
//! | `json_path` | JSONPaths that take no more steps than a budget has; flows have the same |
//! | `judge` | whether a check holds, and why not |
//! | `tally` | counts, by time of the arrival |
//! | `observer` | checks at work in one worker of the engine |
//! | `check_run` | the checks of a run, over all workers |

mod answer;
mod check;
mod check_run;
mod json_path;
mod judge;
mod observer;
mod parse;
mod scanner;
mod tally;
mod tests_of;

pub use answer::{Answer, Body, MAX_BODY_BYTES};
pub use check::Check;
pub use check_run::CheckRun;
pub use json_path::{BoundedPath, TooManySteps};
pub use judge::Failure;
pub use parse::CheckError;
