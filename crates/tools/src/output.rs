//! How a tool is started, and what it leaves.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::InstalledTool;

/// How a tool is started.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Invocation {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory; its own folder where `None`.
    pub started_in: Option<PathBuf>,
    /// Environment variables beside the inherited ones.
    pub env: Vec<(String, String)>,
    /// Text for standard input.
    pub stdin: String,
    /// Files to write into its folder before it starts: (relative path, text).
    pub inputs: Vec<(String, String)>,
    /// Files in its folder that the parser wants: (the key in [`ToolOutput::files`], a relative path). A component `*` is any
    /// one folder; of several matches the newest counts.
    pub outputs: Vec<(&'static str, String)>,
    /// Commands to run before it in the same folder, such as a compiler. If one fails the tool is not run.
    pub before: Vec<Vec<String>>,
    /// Commands to run after it, such as a decoder: (the file for its standard output, the command).
    pub after: Vec<(String, Vec<String>)>,
}

impl Invocation {
    /// The program `found` with the space-separated arguments in `words`.
    pub fn new(found: &InstalledTool, words: &str) -> Invocation {
        let args = words.split_whitespace().map(str::to_owned).collect();
        Invocation { program: found.path.clone(), args, ..Invocation::default() }
    }

    /// Adds one argument, which may contain spaces.
    pub fn arg(mut self, arg: impl Into<String>) -> Invocation {
        self.args.push(arg.into());
        self
    }

    /// Adds the space-separated arguments in `words`.
    pub fn words(mut self, words: &str) -> Invocation {
        self.args.extend(words.split_whitespace().map(str::to_owned));
        self
    }
}

/// What a tool left: its output and its files.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ToolOutput {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Exit code; `None` when a signal ended it.
    pub exit_code: Option<i32>,
    /// Its files, by the keys of [`Invocation::outputs`]; missing files have no entry.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl ToolOutput {
    /// Standard output as text; bytes that are not UTF-8 become the replacement character.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }

    /// A file as bytes.
    pub fn file(&self, key: &str) -> Option<&[u8]> {
        self.files.get(key).map(Vec::as_slice)
    }
}
