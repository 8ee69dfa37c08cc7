//! `truetail lab`: compares load tools of other projects.
//!
//! | module | content |
//! |---|---|
//! | `tools` | the list of installed tools |
//! | `run` | runs the tools through a scenario, one at a time |
//! | `progress` | progress of these runs |
//! | `results` | tables and pictures, shown and saved |

mod progress;
mod results;
mod run;
mod tools;

use crate::args::lab::{LabArgs, LabVerb};
use crate::error::{ExitCode, Result};

pub(super) fn lab(args: LabArgs) -> Result<ExitCode> {
    match args.verb {
        LabVerb::Tools(args) => tools::tools(args),
        LabVerb::Run(args) => run::run(args),
    }
}
