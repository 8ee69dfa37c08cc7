//! hey, by Jaana Dogan: a closed loop with an optional cap on the rate of each worker.

mod parse;

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use crate::{About, CommandError, Found, Install, Invocation, Load, Lookup, Missing, Output, ParseError, Report, Tool};

/// hey with `users` workers and no cap: a closed loop.
pub struct Hey;

pub(super) const NAME: &str = "hey";
pub(super) const TESTED: &str = "0.1.4";

const ABOUT: About = About {
    name: NAME,
    label_model: LoadModelKind::Closed,
    clock: "from the sending of a request; requests without an answer are left out",
    install: Install { origin: "apt", debian: "apt-get install -y hey", macos: Some("brew install hey") },
    tested_version: TESTED,
};

impl Tool for Hey {
    fn about(&self) -> &About {
        &ABOUT
    }

    /// hey has no option that prints its version.
    fn find(&self, lookup: &Lookup) -> Result<Found, Missing> {
        Ok(Found { path: lookup.program(NAME)?, version: "unknown".to_owned() })
    }

    fn command(&self, found: &Found, load: &Load, _folder: &Path) -> Result<Invocation, CommandError> {
        let timed = format!("-z {}ms -c {} -o csv", load.whole_millis(), load.users);
        let mut invocation = Invocation::of(found, &timed);
        if let Some(seconds) = load.timeout_seconds() {
            invocation = invocation.words(&format!("-t {seconds}"));
        }
        Ok(invocation.arg(&load.url))
    }

    fn parse(&self, output: &Output, _load: &Load) -> Result<Report, ParseError> {
        parse::parse(output)
    }
}
