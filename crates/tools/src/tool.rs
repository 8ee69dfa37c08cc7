//! The interface of a load tool.

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use crate::{
    CommandError, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, ToolNotFound, ToolOutput, ToolReport,
};

/// How to install a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InstallHint {
    /// Where it comes from, such as `apt`, `Go module proxy`, `Maven Central`, `PyPI`, `npm`, `crates.io`, `source`.
    pub origin: &'static str,
    /// The command that installs it on a Debian-like system: the repository's script, where that does it.
    pub debian: &'static str,
    /// The command that installs it on macOS, if there is one.
    pub macos: Option<&'static str>,
}

impl InstallHint {
    /// The same command on every system.
    pub const fn anywhere(origin: &'static str, line: &'static str) -> InstallHint {
        InstallHint { origin, debian: line, macos: Some(line) }
    }
}

/// Facts about a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToolInfo {
    /// Its name on the command line: lower-case letters, digits and `-`.
    pub name: &'static str,
    /// The load model that its documentation claims for this mode.
    pub label_model: LoadModelKind,
    /// Where its latency starts, and what it leaves out, in a sentence.
    pub clock: &'static str,
    /// How to install it.
    pub install: InstallHint,
    /// The version that the parser was tested with, as in [`InstalledTool::version`].
    pub tested_version: &'static str,
}

/// A load tool in one of its modes: k6 is two tools.
pub trait Tool: Sync {
    /// Facts about it.
    fn info(&self) -> &ToolInfo;

    /// [`ToolInfo::name`].
    fn name(&self) -> &'static str {
        self.info().name
    }

    /// Whether it asks a language model and measures answers that come in pieces. Others measure whole answers.
    fn measures_streams(&self) -> bool {
        false
    }

    /// Users that it runs where it is a closed loop.
    fn users(&self, load: &LoadSpec) -> u32 {
        load.users
    }

    /// Finds the installed tool and asks for its version.
    ///
    /// # Errors
    /// [`ToolNotFound`], which says what was searched for.
    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound>;

    /// How to start it so that it offers `load`. `folder` is where the caller writes its input files and runs it, and
    /// where it writes its output files.
    ///
    /// # Errors
    /// [`CommandError`] where the tool cannot offer such a load.
    fn command(&self, found: &InstalledTool, load: &LoadSpec, folder: &Path) -> Result<Invocation, CommandError>;

    /// Parses its output. `load` is the load that it was asked for.
    ///
    /// # Errors
    /// [`ParseError`], which names the file and the line.
    fn parse(&self, output: &ToolOutput, load: &LoadSpec) -> Result<ToolReport, ParseError>;

    /// Parses its output after a command line that is not from [`Tool::command`]. The same as [`Tool::parse`], except for
    /// tools with options that change what the figures mean and leave no trace in the output.
    ///
    /// # Errors
    /// As [`Tool::parse`].
    fn parse_with_args(&self, argv: &[String], output: &ToolOutput, load: &LoadSpec) -> Result<ToolReport, ParseError> {
        let _ = argv;
        self.parse(output, load)
    }
}
