//! The stored outputs of each tool, and `expected.json` beside them in `testdata/tools/TOOL/VERSION/SITUATION`.
//!
//! A new capture needs an entry with its `stdout`, `stderr`, `exit` and `files`; `UPDATE_GOLDEN=1` writes its `report`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use truetail_tools::{ToolOutput, names};

use crate::support::{bytes_of, described, parse, testdata};

const EXPECTED: &str = "expected.json";
/// Files that are no output: the command lines of a situation, and what is expected of it.
const NO_OUTPUT: [&str; 2] = ["cmd.txt", EXPECTED];

/// One output and what its parser returns. Files are named relative to the folder.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Capture {
    #[serde(skip)]
    pub(crate) tool: String,
    #[serde(skip)]
    folder: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdout: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stderr: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit: Option<i32>,
    /// File names by the keys of [`ToolOutput::files`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
    /// The report as [`described`] prints it.
    #[serde(default)]
    report: Vec<String>,
}

impl Capture {
    pub(crate) fn output(&self) -> ToolOutput {
        let read = |name: &String| bytes_of(&self.folder.join(name));
        ToolOutput {
            stdout: self.stdout.as_ref().map(read).unwrap_or_default(),
            stderr: self.stderr.as_ref().map(read).unwrap_or_default(),
            exit_code: Some(self.exit.unwrap_or_default()),
            files: self.files.iter().map(|(key, name)| (key.clone(), read(name))).collect(),
        }
    }

    fn described(&self) -> Vec<String> {
        described(&parse(&self.tool, &self.output()))
    }

    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        let names = self.stdout.iter().chain(&self.stderr).chain(self.files.values());
        names.map(move |name| {
            self.folder.join(name).canonicalize().unwrap_or_else(|error| panic!("{self}: {name}: {error}"))
        })
    }
}

impl fmt::Display for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {:?}", self.folder.display(), self.stdout, self.files)
    }
}

fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

/// Returns the folders of all situations, each with the name of its tool.
fn situations() -> Vec<(String, PathBuf)> {
    let of_tool = |tool: PathBuf| {
        let situations = inside(&tool).into_iter().flat_map(|version| inside(&version));
        situations.map(move |situation| (name(&tool), situation))
    };
    inside(&testdata("")).into_iter().flat_map(of_tool).collect()
}

/// Returns the expectations in a folder; none without the file.
fn expected(tool: &str, folder: &Path) -> Vec<Capture> {
    let Ok(text) = fs::read(folder.join(EXPECTED)) else { return Vec::new() };
    let mut captures: Vec<Capture> =
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for capture in &mut captures {
        tool.clone_into(&mut capture.tool);
        folder.clone_into(&mut capture.folder);
    }
    captures
}

/// Every stored output of every tool.
pub(crate) static CAPTURES: LazyLock<Vec<Capture>> = LazyLock::new(|| {
    let is_update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let captures = situations().into_iter().flat_map(|(tool, folder)| {
        let mut captures = expected(&tool, &folder);
        if is_update && !captures.is_empty() {
            captures.iter_mut().for_each(|capture| capture.report = capture.described());
            let text = serde_json::to_string_pretty(&captures).expect("JSON") + "\n";
            fs::write(folder.join(EXPECTED), text).expect("written");
        }
        captures
    });
    captures.collect()
});

#[test]
fn each_stored_output_is_read_as_expected() {
    let differ = CAPTURES.iter().filter_map(|capture| {
        let report = capture.described();
        (report != capture.report).then(|| format!("{capture}\n is read as {report:#?}\n not as {:#?}", capture.report))
    });
    let differ: Vec<_> = differ.collect();
    assert!(differ.is_empty(), "if that is right, UPDATE_GOLDEN=1:\n{}", differ.join("\n"));
}

#[test]
fn each_file_of_an_output_is_expected_to_be_read() {
    let named: BTreeSet<_> = CAPTURES.iter().flat_map(Capture::paths).collect();
    let stored = situations().into_iter().flat_map(|(_, folder)| inside(&folder));
    let stored = stored.filter(|file| !NO_OUTPUT.contains(&name(file).as_str()));
    let stored: BTreeSet<_> = stored.map(|file| file.canonicalize().expect("a path")).collect();
    assert!(!stored.is_empty());
    let unnamed: Vec<_> = stored.difference(&named).collect();
    assert!(unnamed.is_empty(), "{EXPECTED} beside them names none of {unnamed:#?}");
}

#[test]
fn each_tool_has_a_stored_output() {
    let tools: BTreeSet<_> = CAPTURES.iter().map(|capture| capture.tool.as_str()).collect();
    // Truetail reads only what the same version of it writes.
    let known: BTreeSet<_> = names().into_iter().filter(|tool| !tool.starts_with("truetail")).collect();
    assert_eq!(tools, known);
}
