//! hey, by Jaana Dogan: a closed loop with an optional cap on the rate of each worker.

mod parse;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use crate::{CommandError, Found, Install, Invocation, Load, Lookup, Missing, Output, ParseError, Report, Tool};

pub use parse::parse_csv;

/// hey with `users` workers and no cap: a closed loop.
pub struct Hey;

pub(super) const NAME: &str = "hey";
pub(super) const TESTED: &str = "0.1.4";

impl Tool for Hey {
    fn name(&self) -> &'static str {
        NAME
    }

    fn label_model(&self) -> LoadModelKind {
        LoadModelKind::Closed
    }

    fn says_of_its_clock(&self) -> &'static str {
        "from the sending of a request; requests without an answer are left out"
    }

    fn install(&self) -> Install {
        Install { origin: "apt", debian: "apt-get install -y hey", macos: Some("brew install hey") }
    }

    fn tested_version(&self) -> &'static str {
        TESTED
    }

    /// hey has no option that prints its version.
    fn find(&self, lookup: &Lookup) -> Result<Found, Missing> {
        Ok(Found { path: lookup.program(NAME)?, version: "unknown".to_owned() })
    }

    fn command(&self, found: &Found, load: &Load, _folder: &Path) -> Result<Invocation, CommandError> {
        let mut args = vec!["-z".to_owned(), format!("{}s", load.whole_seconds())];
        args.extend(["-c".to_owned(), load.users.to_string(), "-o".to_owned(), "csv".to_owned()]);
        if let Some(timeout) = load.timeout {
            args.extend(["-t".to_owned(), (timeout.0.div_ceil(1_000_000_000)).to_string()]);
        }
        args.push(load.url.clone());
        Ok(Invocation { program: found.path.clone(), args, ..Invocation::default() })
    }

    fn parse(&self, output: &Output, _load: &Load) -> Result<Report, ParseError> {
        parse_csv(&output.stdout)
    }
}
