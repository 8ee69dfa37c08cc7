//! Command `truetail`: arguments → run → report → exit code. Only this crate prints, exits or reads the environment.
//!
//! | module | content |
//! |---|---|
//! | `args` | arguments of the user, one file per verb |
//! | `config` | `truetail.toml`: runs by name |
//! | `resolve` | resolved arguments: checked, with defaults, and with files read |
//! | `verbs` | implementation of each verb |
//! | `stages` | a load from prepared to delivered, for the verbs |
//! | `supervisor` | conditions that stop a run early: `--until`, `--stop-when-saturated` |
//! | `script` | requests from a script in Lua, with the feature `script` |
//! | `scraping` | metrics of services, read beside a run (`--scrape`) |
//! | `receiving` | spans of services, received beside a run (`--otlp-receive`) |
//! | `events` | commands that a run starts (`--event`) |
//! | `start` | start of a run at a given instant |
//! | `after_load` | steps after a load, which are all tried |
//! | `output_folder` | folder of a saved run |
//! | `live` | live view of a run, and its checkpoints |
//! | `listen` | listeners beside a run |
//! | `background` | threads that work beside a run |
//! | `judging` | processing of a run's result |
//! | `library` | messages and gRPC calls for programs that link this crate |
//! | `labels` | labels of a run: name, command line, commit and others |
//! | `page`, `command_line` | page of a run, and its command line without secrets |
//! | `gating` | gates of `--slo` and `--fail-if`: outcome, files, exit code |
//! | `baseline` | baseline that a run is compared with |
//! | `export` | a saved run in other forms: pictures, CSV, HdrHistogram's text |
//! | `output`, `progress`, `signals` | standard output, standard error, Ctrl-C |
//! | `error` | exit codes, and errors as one line for the user |

#![warn(unreachable_pub)]

mod after_load;
mod args;
mod background;
mod baseline;
mod command_line;
mod config;
mod error;
mod events;
mod export;
mod gating;
mod judging;
mod labels;
pub mod library;
mod listen;
mod live;
mod output;
mod output_folder;
mod page;
mod progress;
mod receiving;
mod resolve;
mod scraping;
#[cfg(feature = "script")]
mod script;
#[cfg(not(feature = "script"))]
#[path = "script_absent.rs"]
mod script;
mod setup;
mod signals;
mod stages;
mod start;
mod supervisor;
mod unanswered;
mod verbs;
mod vllm;

use std::ffi::OsString;

/// Executes `arguments`, the first being the program's name, and returns the exit code.
pub fn command(arguments: impl Iterator<Item = OsString>) -> u8 {
    let exit_code = args::parse(arguments).and_then(verbs::execute).unwrap_or_else(|error| {
        output::note(&error.message);
        error.exit_code
    });
    exit_code.into()
}
