//! A command with figures at given places as a tool, and a tool with more options.

use std::path::Path;

use truetail_tools::{
    CommandError, InstalledTool, Invocation, LoadSpec, ParseError, Protocols, SearchPath, Tool, ToolInfo, ToolNotFound,
    ToolOutput, ToolReport,
};

use super::figures::{FILE, Figures};
use crate::command_template::{CommandTemplate, filled};

/// A command whose figures are at the places of an adapter. It runs in its own folder.
pub(super) struct AdaptedCommand {
    command: CommandTemplate,
    figures: Figures,
}

impl AdaptedCommand {
    pub(super) fn new(command: CommandTemplate, figures: Figures) -> AdaptedCommand {
        AdaptedCommand { command, figures }
    }
}

impl Tool for AdaptedCommand {
    fn info(&self) -> &ToolInfo {
        self.command.info()
    }

    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        self.command.locate(search_path)
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, folder: &Path) -> Result<Invocation, CommandError> {
        let outputs = self.figures.file.iter().map(|file| (FILE, file.clone())).collect();
        Ok(Invocation { started_in: None, outputs, ..self.command.command(found, load, folder)? })
    }

    fn parse(&self, output: &ToolOutput, _load: &LoadSpec) -> Result<ToolReport, ParseError> {
        self.figures.read(output)
    }
}

/// A known tool with options after its own.
pub(super) struct WithOptions {
    tool: &'static dyn Tool,
    options: Vec<String>,
}

impl WithOptions {
    pub(super) fn new(tool: &'static dyn Tool, options: &[String]) -> WithOptions {
        WithOptions { tool, options: options.to_vec() }
    }
}

impl Tool for WithOptions {
    fn info(&self) -> &ToolInfo {
        self.tool.info()
    }

    fn measures_streams(&self) -> bool {
        self.tool.measures_streams()
    }

    fn protocols(&self) -> Protocols {
        self.tool.protocols()
    }

    fn users(&self, load: &LoadSpec) -> u32 {
        self.tool.users(load)
    }

    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        self.tool.locate(search_path)
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, folder: &Path) -> Result<Invocation, CommandError> {
        let mut invocation = self.tool.command(found, load, folder)?;
        invocation.args.extend(filled(&self.options, load));
        Ok(invocation)
    }

    fn parse(&self, output: &ToolOutput, load: &LoadSpec) -> Result<ToolReport, ParseError> {
        self.tool.parse(output, load)
    }
}
