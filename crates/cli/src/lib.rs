//! The command `truetail`: arguments → what is to be done → run → report → exit code. The only place that prints or reads
//! the environment.
//!
//! | module | what is at home there |
//! |---|---|
//! | `args` | what the user typed, one file a verb |
//! | `resolve` | what that means: checked, with defaults, and read from files |
//! | `verbs` | one file a verb: what it does |
//! | `measure` | a run on real sockets, watched and interruptible |
//! | `supervise` | `--until`, `--stop-when-saturated`: what is asked of a run while it goes on |
//! | `target_folder` | where a run is saved |
//! | `threshold` | `--fail-if` |
//! | `output`, `progress`, `signals` | standard output, standard error, Ctrl-C |
//! | `outcome` | exit codes, and the one line that says why |

mod args;
mod measure;
mod outcome;
mod output;
mod progress;
mod resolve;
mod signals;
mod supervise;
mod target_folder;
mod threshold;
mod utc;
mod verbs;

use std::ffi::OsString;

/// Does what `arguments` ask for, the program's name first, and gives the exit code.
pub fn command(arguments: impl Iterator<Item = OsString>) -> u8 {
    let done = args::parse(arguments).and_then(verbs::execute);
    done.unwrap_or_else(|failure| failure.tell()).into()
}
