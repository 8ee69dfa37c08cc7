//! The command `truetail`: arguments → run → report → exit code. Only this crate prints, exits or reads the environment.
//!
//! | module | content |
//! |---|---|
//! | `args` | what the user typed, one file per verb |
//! | `config` | `truetail.toml`: runs by name |
//! | `resolve` | what that means: checked, with defaults, and with files read |
//! | `verbs` | what each verb does |
//! | `measure` | a run on real sockets, with progress and Ctrl-C |
//! | `supervisor` | `--until`, `--stop-when-saturated`: conditions that stop a run early |
//! | `start` | waiting for the instant at which a run begins |
//! | `after_load` | the steps after a load, each of which is tried |
//! | `output_folder` | where a run is saved |
//! | `live` | a run that is going on, for those who watch it |
//! | `background` | threads that work beside a run |
//! | `judging` | what is made of the result of a run |
//! | `page`, `command_line` | the page of a run, and the command that made it, without secrets |
//! | `gating` | `--slo` and `--fail-if`: gates, the files they are written to, and the exit code that they make |
//! | `baseline` | the run that a run is compared with |
//! | `export` | a saved run in other forms: pictures, CSV, HdrHistogram's text |
//! | `output`, `progress`, `signals` | standard output, standard error, Ctrl-C |
//! | `error` | exit codes, and the one line that says why |

mod after_load;
mod args;
mod background;
mod baseline;
mod command_line;
mod config;
mod error;
mod export;
mod gating;
mod judging;
mod live;
mod measure;
mod output;
mod output_folder;
mod page;
mod progress;
mod resolve;
mod setup;
mod signals;
mod start;
mod supervisor;
mod verbs;
mod vllm;

use std::ffi::OsString;

/// Does what `arguments` ask for, the program's name first, and returns the exit code.
pub fn command(arguments: impl Iterator<Item = OsString>) -> u8 {
    let exit_code = args::parse(arguments).and_then(verbs::execute).unwrap_or_else(|error| {
        output::note(&error.message);
        error.exit_code
    });
    exit_code.into()
}
