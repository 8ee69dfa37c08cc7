//! The laboratory: runs load tools against the misbehaving server, one at a time.
//!
//! Each tool gets a fresh server with its own port and fault clock, so every tool meets the same fault at the same
//! moment of its run. A folder per tool keeps the server's log, the tool's output and files, and its use of
//! resources, all unchanged:
//!
//! | file | content |
//! |---|---|
//! | `cmd.txt`, `ran.json` | the command, exit code, wall time, CPU time and memory: for people and for programs |
//! | `truth.csv` | the server's log, one row per request |
//! | `events.csv` | the server's log of events, if its answers are streams |
//! | `stdout`, `stderr`, `stdin` | the tool's standard streams |
//! | `files/` | the tool's working directory: the files it was given, and its output files |
//! | `before-N.txt`, `after.txt` | output of the commands run before and after it, such as a compiler or a decoder |
//! | `.truetail-trial` | marks the folder as a trial's; the next trial may empty it |
//! | `report.json` | the parsed figures; written again each time a result is read |
//!
//! This crate only runs and records. `truetail_analysis::league` makes the rows of the league table and their order.

#![warn(unreachable_pub)]

mod audited;
mod cancel;
mod command_template;
mod peak_memory;
pub mod process;
mod runner;
pub mod suite;
mod tool_files;
mod tool_result;
mod tool_run;
mod trial;
mod trial_plan;
mod truth_log;

pub use cancel::CancelToken;
pub use command_template::CommandTemplate;
pub use runner::{LabEvent, LabRunner, ToolEntry};
pub use tool_result::ToolResult;
pub use tool_run::{SavedLoad, ToolRun};
pub use trial::{check_overwritable, run_trial};
pub use trial_plan::{CONNECTIONS, TrialPlan, USERS, UnsupportedScenario};
