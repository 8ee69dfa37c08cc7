//! `truetail flow`: recordings as loads.
//!
//! | module | what is at home there |
//! |---|---|
//! | `access_log` | an access log as arrivals with their requests |
//! | `har` | what a browser recorded as a Hurl file |

mod access_log;
mod har;

use std::fs;
use std::path::Path;

use crate::args::flow_verb::{FlowVerb, FlowVerbArgs};
use crate::error::{ExitCode, Result, runtime_error};
use crate::{gating, output};

/// Carries out a verb of flows.
///
/// # Errors
/// Those of the verb.
pub fn flow(args: FlowVerbArgs) -> Result<ExitCode> {
    match args.verb {
        FlowVerb::FromAccessLog(args) => access_log::from_access_log(&args),
        FlowVerb::FromHar(args) => har::from_har(&args),
    }
}

/// Writes what was made to a file, or to standard output, and remarks on it to standard error.
fn deliver(text: &str, out: Option<&Path>, notes: &[String]) -> Result<ExitCode> {
    match out {
        None => output::print(text)?,
        Some(file) => {
            gating::check_place("--out", file)?;
            fs::write(file, text)
                .map_err(|error| runtime_error(format!("cannot write {}: {error}", file.display())))?;
        }
    }
    notes.iter().for_each(|note| output::note(note));
    Ok(ExitCode::Success)
}
