//! The laboratory: other people's load tools in front of the misbehaving server, one at a time.
//!
//! Each tool gets a fresh server with its own port and fault clock, so that all of them meet the same fault at the same
//! moment of their run. What the server saw, what the tool printed and wrote, and what it used are kept unchanged, in a
//! folder for each tool:
//!
//! | file | what is in it |
//! |---|---|
//! | `cmd.txt`, `ran.json` | the command, exit code, wall time, CPU time and memory: for people and for programs |
//! | `truth.csv` | the server's truth log, a row for each request |
//! | `stdout`, `stderr`, `stdin` | its standard streams |
//! | `files/` | its working directory: the files that it was given and those that it wrote |
//! | `before-N.txt`, `after.txt` | what the commands before and after it printed, such as a compiler or a decoder |
//! | `.truetail-trial` | marks the folder as a trial's, so that the next trial may empty it |
//! | `report.json` | the parsed figures; written anew each time a result is read |
//!
//! The laboratory runs and records. Rows of the league table and their order come from `truetail_analysis::league`.

mod cancel;
mod command_template;
mod peak_memory;
pub mod process;
mod runner;
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
