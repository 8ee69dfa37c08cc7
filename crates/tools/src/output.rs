//! How a tool is started, and what it left.

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
    /// Where it is started; in its own folder where `None`.
    pub started_in: Option<PathBuf>,
    /// Environment variables, beside those there are.
    pub env: Vec<(String, String)>,
    /// Text for its standard input.
    pub stdin: String,
    /// Files to write into its folder, which is its working directory, before it is started: (relative path, text).
    pub inputs: Vec<(String, String)>,
    /// Files it leaves in its folder that the parser wants: (the key in [`ToolOutput::files`], a relative path in which a
    /// part `*` stands for any one folder, the newest of them).
    pub outputs: Vec<(&'static str, String)>,
    /// Commands to run beforehand in the same folder, such as a compiler; the first that fails ends it.
    pub before: Vec<Vec<String>>,
    /// Commands to run afterwards, such as a decoder; the standard output of each goes to the file named first.
    pub after: Vec<(String, Vec<String>)>,
}

impl Invocation {
    /// The program `found` with the arguments in `words`, which spaces separate, and nothing else.
    pub fn of(found: &InstalledTool, words: &str) -> Invocation {
        let args = words.split_whitespace().map(str::to_owned).collect();
        Invocation { program: found.path.clone(), args, ..Invocation::default() }
    }

    /// The same with one more argument, whatever is in it.
    pub fn arg(mut self, arg: impl Into<String>) -> Invocation {
        self.args.push(arg.into());
        self
    }

    /// The same with these arguments in `words` too.
    pub fn words(mut self, words: &str) -> Invocation {
        self.args.extend(words.split_whitespace().map(str::to_owned));
        self
    }
}

/// What a tool left.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ToolOutput {
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it complained of.
    pub stderr: Vec<u8>,
    /// Its exit code; `None` when a signal ended it.
    pub exit_code: Option<i32>,
    /// Its files, by the keys of [`Invocation::outputs`]; those that are not there are left out.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl ToolOutput {
    /// Its standard output as text; bytes that are not UTF-8 become the replacement character.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }

    /// A file as bytes.
    pub fn file(&self, key: &str) -> Option<&[u8]> {
        self.files.get(key).map(Vec::as_slice)
    }
}
