//! The interface of a load tool.

use std::path::Path;

use truetail_model::workload::LoadModelKind;

use crate::{
    CommandError, InstalledTool, Invocation, LoadSpec, ParseError, SearchPath, ToolNotFound, ToolOutput, ToolReport,
};

/// Instructions for installing a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InstallHint {
    /// Source, such as `apt`, `Go module proxy`, `Maven Central`, `PyPI`, `npm`, `crates.io`, `source`.
    pub origin: &'static str,
    /// Command that installs it on a Debian-like system: the repository's script if it supports the tool.
    pub debian: &'static str,
    /// Command that installs it on macOS, if any.
    pub macos: Option<&'static str>,
}

impl InstallHint {
    /// Creates a hint with the same command for every system.
    pub const fn anywhere(origin: &'static str, line: &'static str) -> InstallHint {
        InstallHint { origin, debian: line, macos: Some(line) }
    }
}

/// Facts about a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToolInfo {
    /// Name on the command line: lower-case letters, digits and `-`.
    pub name: &'static str,
    /// Load model that its documentation claims for this mode.
    pub label_model: LoadModelKind,
    /// Start of its latency, and omissions, in one sentence.
    pub clock: &'static str,
    /// Instructions for installing it.
    pub install: InstallHint,
    /// Version that the parser was tested with, as in [`InstalledTool::version`].
    pub tested_version: &'static str,
}

/// Protocols that a tool can offer a load in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocols {
    /// Requests of HTTP.
    Http,
    /// Calls of gRPC.
    Grpc,
    /// Both.
    HttpAndGrpc,
}

impl Protocols {
    /// Returns true if the tool can call gRPC if `grpc` is true, or else if it can send requests of HTTP.
    pub fn can(self, grpc: bool) -> bool {
        self == Protocols::HttpAndGrpc || (self == Protocols::Grpc) == grpc
    }
}

/// A load tool in one mode. k6, for example, is two tools.
pub trait Tool: Sync {
    /// Returns facts about the tool.
    fn info(&self) -> &ToolInfo;

    /// Returns [`ToolInfo::name`].
    fn name(&self) -> &'static str {
        self.info().name
    }

    /// Returns true if the tool queries a language model and measures streams. Other tools measure whole answers.
    fn measures_streams(&self) -> bool {
        false
    }

    /// Returns the protocols that it speaks.
    fn protocols(&self) -> Protocols {
        Protocols::Http
    }

    /// Returns the number of users if the tool is a closed loop.
    fn users(&self, load: &LoadSpec) -> u32 {
        load.users
    }

    /// Locates the installed tool and asks for its version.
    ///
    /// # Errors
    /// [`ToolNotFound`], which describes the search.
    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound>;

    /// Returns the command line that offers `load`. The caller writes the input files into `folder` and runs the tool
    /// there, and the tool writes its output files there.
    ///
    /// # Errors
    /// [`CommandError`] if the tool cannot offer the load.
    fn command(&self, found: &InstalledTool, load: &LoadSpec, folder: &Path) -> Result<Invocation, CommandError>;

    /// Parses the output of a run that was asked for `load`.
    ///
    /// # Errors
    /// [`ParseError`], which names the file and the line.
    fn parse(&self, output: &ToolOutput, load: &LoadSpec) -> Result<ToolReport, ParseError>;

    /// Parses the output of any other command line, `argv`. Equals [`Tool::parse`], except for tools with options that
    /// change the meaning of the figures and leave no trace in the output.
    ///
    /// # Errors
    /// [`ParseError`], which names the file and the line.
    fn parse_with_args(&self, argv: &[String], output: &ToolOutput, load: &LoadSpec) -> Result<ToolReport, ParseError> {
        let _ = argv;
        self.parse(output, load)
    }
}
