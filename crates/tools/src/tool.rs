//! What a load tool is to this crate.

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use crate::{
    CommandError, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, ToolNotFound, ToolOutput, ToolReport,
};

/// How a tool is had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InstallHint {
    /// Where it comes from, such as `apt`, `Go module proxy`, `Maven Central`, `PyPI`, `npm`, `crates.io`, `source`.
    pub origin: &'static str,
    /// The line that installs it on a Debian-like machine. Where the repository's script does it, that line.
    pub debian: &'static str,
    /// The line that installs it on macOS, where there is one.
    pub macos: Option<&'static str>,
}

impl InstallHint {
    /// The same line on every machine.
    pub const fn anywhere(origin: &'static str, line: &'static str) -> InstallHint {
        InstallHint { origin, debian: line, macos: Some(line) }
    }
}

/// What is known of a tool before it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToolInfo {
    /// Its name, as users write it: lower case letters, digits and `-`.
    pub name: &'static str,
    /// The load model that its documentation claims for this way of using it.
    pub label_model: LoadModelKind,
    /// What its own latency starts from, in a sentence, and what it leaves out.
    pub clock: &'static str,
    /// How it is had.
    pub install: InstallHint,
    /// The version this crate's parser was tested with, as [`InstalledTool::version`] has it.
    pub tested_version: &'static str,
}

/// A load tool, in one of the ways it can be used: k6 is two of them.
pub trait Tool: Sync {
    /// What is known of it before it runs.
    fn info(&self) -> &ToolInfo;

    /// [`ToolInfo::name`].
    fn name(&self) -> &'static str {
        self.info().name
    }

    /// Looks for it and asks for its version.
    ///
    /// # Errors
    /// [`ToolNotFound`], which says what was looked for.
    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound>;

    /// How it is started to offer `load`. Files it needs are in the answer, to be written into `folder` beforehand;
    /// what it writes is to be written there, too.
    ///
    /// # Errors
    /// [`CommandError`] where the tool cannot offer such a load.
    fn command(&self, found: &InstalledTool, load: &LoadSpec, folder: &Path) -> Result<Invocation, CommandError>;

    /// Reads what it left. `load` is what it had been asked for.
    ///
    /// # Errors
    /// [`ParseError`], which names the file and the line.
    fn parse(&self, output: &ToolOutput, load: &LoadSpec) -> Result<ToolReport, ParseError>;

    /// Reads what it left when it was started by somebody else's command line. That is what [`Tool::parse`] does, but for
    /// tools whose options change what their figures mean without a trace in what they print.
    ///
    /// # Errors
    /// As [`Tool::parse`].
    fn parse_with_args(&self, argv: &[String], output: &ToolOutput, load: &LoadSpec) -> Result<ToolReport, ParseError> {
        let _ = argv;
        self.parse(output, load)
    }
}
