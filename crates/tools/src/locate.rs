//! Detection of installed tools and their versions.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An installed tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstalledTool {
    /// Path of the program, or of the folder for a tool of several files.
    pub path: PathBuf,
    /// Version that the tool prints; `unknown` if it prints none.
    pub version: String,
}

/// A tool that is not installed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not found: {looked_for}")]
pub struct ToolNotFound {
    /// Missing program or file, with the searched places.
    pub looked_for: String,
}

/// Places of tools: first the laboratory's own folder, then the directories of `PATH`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchPath {
    /// Folder of `tools/install.sh`, for tools that no package manager puts on the path.
    pub folder: PathBuf,
    /// Directories of `PATH`.
    pub path: Vec<PathBuf>,
}

impl SearchPath {
    /// Reads the environment: `TRUETAIL_TOOLS`, or else `truetail/tools` in the user's cache, and `PATH`.
    pub fn from_env() -> SearchPath {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = || set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))).unwrap_or_default();
        let folder = set("TRUETAIL_TOOLS").unwrap_or_else(|| cache().join("truetail/tools"));
        let path = env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
        SearchPath { folder, path }
    }

    /// Returns the program of that name in `bin` of the folder, or else on the path.
    ///
    /// # Errors
    /// [`ToolNotFound`].
    pub fn program(&self, name: &str) -> Result<PathBuf, ToolNotFound> {
        let places = std::iter::once(self.folder.join("bin")).chain(self.path.iter().cloned());
        places.map(|place| place.join(name)).find(|file| is_program(file)).ok_or_else(|| ToolNotFound {
            looked_for: format!("no program {name} in {} or on PATH", self.folder.join("bin").display()),
        })
    }
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// Returns the output of `program args…` on standard output and error, with any exit code; empty if it cannot be
/// started.
pub(crate) fn printed_by(program: &Path, args: &[&str]) -> String {
    let Ok(output) = Command::new(program).args(args).output() else { return String::new() };
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Locates the program `name`, with the version that it prints for `args`.
pub(crate) fn locate_program(
    search_path: &SearchPath,
    name: &str,
    args: &[&str],
) -> Result<InstalledTool, ToolNotFound> {
    let path = search_path.program(name)?;
    let version = version_in(&printed_by(&path, args));
    Ok(InstalledTool { path, version })
}

/// Locates the program `name` of a Python package. Asks the Python next to it for the version, because the program does
/// not print its version or takes many seconds for that.
pub(crate) fn locate_python(
    search_path: &SearchPath,
    name: &str,
    package: &str,
) -> Result<InstalledTool, ToolNotFound> {
    let path = search_path.program(name)?;
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let ask = format!("import importlib.metadata as facts; print(facts.version('{package}'))");
    let version = version_in(&printed_by(&real.with_file_name("python"), &["-c", &ask]));
    Ok(InstalledTool { path, version })
}

/// Returns the first version number in `text`: digits with at least one dot, such as `4.1.0` in
/// `wrk debian/4.1.0-3+b2 [epoll]`; `unknown` without one.
pub(crate) fn version_in(text: &str) -> String {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit() && c != '.').map(|number| number.trim_matches('.'));
    numbers.find(|number| number.contains('.')).unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn versions_as_the_tools_print_them() {
        for (text, version) in [
            ("This is ApacheBench, Version 2.3 <$Revision$>", "2.3"),
            ("wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer", "4.1.0"),
            ("wrk 4.0.0 [epoll] Copyright (C) 2012 Will Glozer", "4.0.0"),
            ("h2load nghttp2/1.52.0", "1.52.0"),
            ("oha 1.16.0", "1.16.0"),
            ("autocannon v9.0.0\nnode v20.20.2\n", "9.0.0"),
            ("No version. None at all...", "unknown"),
        ] {
            assert_eq!(version_in(text), version, "{text}");
        }
    }
}
