//! Command lines and output of tools.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::InstalledTool;

/// A command line with its environment and files.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Invocation {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Working directory; `None` means the tool's own folder.
    pub started_in: Option<PathBuf>,
    /// Environment variables added to the inherited ones.
    pub env: Vec<(String, String)>,
    /// Text for standard input.
    pub stdin: String,
    /// Files to write into its folder before it starts: (relative path, text).
    pub inputs: Vec<(String, String)>,
    /// Files in its folder that the parser wants: (key in [`ToolOutput::files`], relative path). A component `*`
    /// matches any one folder. Of several matches, the newest counts.
    pub outputs: Vec<(&'static str, String)>,
    /// Commands to run before the tool in the same folder, such as a compiler. If one fails, the tool is not run.
    pub before: Vec<Vec<String>>,
    /// Commands to run after the tool, such as a decoder: (file for standard output, command).
    pub after: Vec<(String, Vec<String>)>,
}

impl Invocation {
    /// Creates an invocation of the program `found` with the space-separated arguments in `words`.
    pub fn new(found: &InstalledTool, words: &str) -> Invocation {
        let args = words.split_whitespace().map(str::to_owned).collect();
        Invocation { program: found.path.clone(), args, ..Invocation::default() }
    }

    /// Adds one argument, which may contain spaces.
    pub fn arg(mut self, arg: impl Into<String>) -> Invocation {
        self.args.push(arg.into());
        self
    }

    /// Adds the space-separated arguments in `words`, if any.
    pub fn words_if(self, words: Option<String>) -> Invocation {
        self.words(&words.unwrap_or_default())
    }

    /// Adds the space-separated arguments in `words`.
    pub fn words(mut self, words: &str) -> Invocation {
        self.args.extend(words.split_whitespace().map(str::to_owned));
        self
    }
}

/// Output and files of a tool.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ToolOutput {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Exit code; `None` if a signal ended the tool.
    pub exit_code: Option<i32>,
    /// Files by the keys of [`Invocation::outputs`]; missing files have no entry.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl ToolOutput {
    /// Returns standard output as text. Bytes that are not UTF-8 become the replacement character.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }

    /// Returns a file as bytes.
    pub fn file(&self, key: &str) -> Option<&[u8]> {
        self.files.get(key).map(Vec::as_slice)
    }
}
