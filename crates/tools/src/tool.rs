//! What a load tool is to this crate.

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use crate::{CommandError, Found, Invocation, Load, Lookup, Missing, Output, ParseError, Report};

/// How a tool is had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Install {
    /// Where it comes from, such as `apt`, `Go module proxy`, `Maven Central`, `PyPI`, `npm`, `crates.io`, `source`.
    pub origin: &'static str,
    /// The line that installs it on a Debian-like machine. Where the repository's script does it, that line.
    pub debian: &'static str,
    /// The line that installs it on macOS, where there is one.
    pub macos: Option<&'static str>,
}

/// A load tool, in one of the ways it can be used: k6 is two of them.
pub trait Tool: Sync {
    /// Its name, as users write it: lower case letters, digits and `-`.
    fn name(&self) -> &'static str;

    /// The load model that its documentation claims for this way of using it.
    fn label_model(&self) -> LoadModelKind;

    /// What its own latency starts from, in a sentence, and what it leaves out.
    fn says_of_its_clock(&self) -> &'static str;

    /// How it is had.
    fn install(&self) -> Install;

    /// The version this crate's parser was tested with, as [`Found::version`] has it.
    fn tested_version(&self) -> &'static str;

    /// Looks for it and asks for its version.
    ///
    /// # Errors
    /// [`Missing`], which says what was looked for.
    fn find(&self, lookup: &Lookup) -> Result<Found, Missing>;

    /// How it is started to offer `load`. Files it needs are in the answer, to be written into `folder` beforehand;
    /// what it writes is to be written there, too.
    ///
    /// # Errors
    /// [`CommandError`] where the tool cannot offer such a load.
    fn command(&self, found: &Found, load: &Load, folder: &Path) -> Result<Invocation, CommandError>;

    /// Reads what it left. `load` is what it had been asked for.
    ///
    /// # Errors
    /// [`ParseError`], which names the file and the line.
    fn parse(&self, output: &Output, load: &Load) -> Result<Report, ParseError>;
}
