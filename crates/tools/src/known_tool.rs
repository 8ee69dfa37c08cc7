//! A tool of this crate as a value: facts, and a function for each step.

use std::path::Path;

use crate::{
    CommandError, InstalledTool, Invocation, LoadSpec, ParseError, Protocols, SearchPath, Tool, ToolInfo, ToolNotFound,
    ToolOutput, ToolReport,
};

type Locate = fn(&SearchPath) -> Result<InstalledTool, ToolNotFound>;
type Command = fn(&InstalledTool, &LoadSpec, &Path) -> Result<Invocation, CommandError>;
type Parse = fn(&ToolOutput, &LoadSpec) -> Result<ToolReport, ParseError>;
type ParseWithArgs = fn(&[String], &ToolOutput) -> Result<ToolReport, ParseError>;

/// One mode of a tool.
pub(crate) struct KnownTool {
    info: ToolInfo,
    locate: Locate,
    command: Command,
    parse: Parse,
    parse_with_args: Option<ParseWithArgs>,
    measures_streams: bool,
    protocols: Protocols,
    users: fn(&LoadSpec) -> u32,
}

impl KnownTool {
    /// Creates a tool that measures whole answers.
    pub(crate) const fn new(info: ToolInfo, locate: Locate, command: Command, parse: Parse) -> KnownTool {
        let users = |load: &LoadSpec| load.users;
        KnownTool {
            info,
            locate,
            command,
            parse,
            parse_with_args: None,
            measures_streams: false,
            protocols: Protocols::Http,
            users,
        }
    }

    pub(crate) const fn measuring_streams(self) -> KnownTool {
        KnownTool { measures_streams: true, ..self }
    }

    pub(crate) const fn speaking(self, protocols: Protocols) -> KnownTool {
        KnownTool { protocols, ..self }
    }

    pub(crate) const fn with_users(self, users: fn(&LoadSpec) -> u32) -> KnownTool {
        KnownTool { users, ..self }
    }

    /// Parses the output of other command lines with `parse`, because options change the meaning of the figures.
    pub(crate) const fn parsing_with_args(self, parse: ParseWithArgs) -> KnownTool {
        KnownTool { parse_with_args: Some(parse), ..self }
    }
}

impl Tool for KnownTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn measures_streams(&self) -> bool {
        self.measures_streams
    }

    fn protocols(&self) -> Protocols {
        self.protocols
    }

    fn users(&self, load: &LoadSpec) -> u32 {
        (self.users)(load)
    }

    fn locate(&self, search_path: &SearchPath) -> Result<InstalledTool, ToolNotFound> {
        (self.locate)(search_path)
    }

    fn command(&self, found: &InstalledTool, load: &LoadSpec, folder: &Path) -> Result<Invocation, CommandError> {
        (self.command)(found, load, folder)
    }

    fn parse(&self, output: &ToolOutput, load: &LoadSpec) -> Result<ToolReport, ParseError> {
        (self.parse)(output, load)
    }

    fn parse_with_args(&self, argv: &[String], output: &ToolOutput, load: &LoadSpec) -> Result<ToolReport, ParseError> {
        self.parse_with_args.map_or_else(|| self.parse(output, load), |parse| parse(argv, output))
    }
}
