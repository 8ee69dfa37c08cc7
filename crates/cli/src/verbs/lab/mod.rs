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

use crate::args::lab::{LabArgs, LabVerb};
use crate::error::{ExitCode, Result};

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
