//! `truetail lab`: other people's load tools.
//!
//! | module | what is at home there |
//! |---|---|
//! | `tools` | which are installed |
//! | `run` | runs them through a scenario, one at a time |
//! | `progress` | the progress of that |
//! | `results` | tables and pictures, shown and saved |

mod progress;
mod results;
mod run;
mod tools;

use truetail_tools::Tool;

use crate::args::lab::{LabArgs, LabVerb};
use crate::error::{ExitCode, Result, usage_error};

/// Carries out a verb of the laboratory.
///
/// # Errors
/// Those of the verb.
pub fn lab(args: LabArgs) -> Result<ExitCode> {
    match args.verb {
        LabVerb::Tools(args) => tools::tools(args),
        LabVerb::Run(args) => run::run(args),
    }
}

/// The tools of these names, in the order of the registry; all where none is named.
fn named(names: &[String]) -> Result<Vec<&'static dyn Tool>> {
    let known = truetail_tools::names();
    for name in names.iter().map(|name| name.trim()) {
        if !known.contains(&name) {
            return Err(usage_error(format!("there is no tool '{name}'; there are {}", known.join(", "))));
        }
    }
    let wanted = |tool: &&dyn Tool| names.is_empty() || names.iter().any(|name| name.trim() == tool.name());
    Ok(truetail_tools::all().iter().copied().filter(|tool| wanted(tool)).collect())
}
