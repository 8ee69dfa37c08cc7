//! The files that a tool is given, and the files that it leaves.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use truetail_run::input;
use truetail_tools::ToolOutput;

/// Working directory of a tool, inside its folder.
pub(crate) const WORK_FOLDER: &str = "files";
pub(crate) const STDOUT: &str = "stdout";
pub(crate) const STDERR: &str = "stderr";
pub(crate) const STDIN: &str = "stdin";

/// Writes files into `folder`, given as (relative path, text). Rejects paths that lead out of the folder.
pub(crate) fn write_inputs(folder: &Path, inputs: &[(String, String)]) -> io::Result<()> {
    for (path, text) in inputs {
        let path = Path::new(path);
        if path.components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} leads out of it", path.display())));
        }
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, text)?;
    }
    Ok(())
}

/// Reads the output of a tool. `outputs` lists its files as (key, pattern). Fails if an existing file cannot be read.
pub(crate) fn read(folder: &Path, exit_code: Option<i32>, outputs: &[(String, String)]) -> io::Result<ToolOutput> {
    let mut files = BTreeMap::new();
    for (key, pattern) in outputs {
        if let Some(path) = newest(&folder.join(WORK_FOLDER), pattern) {
            files.insert(key.clone(), input::bytes(&path)?);
        }
    }
    let printed = |name: &str| match input::bytes(&folder.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    };
    Ok(ToolOutput { stdout: printed(STDOUT)?, stderr: printed(STDERR)?, exit_code, files })
}

/// Returns the newest file in `folder` that matches `pattern`, a relative path whose components may be `*` for any
/// folder.
pub(crate) fn newest(folder: &Path, pattern: &str) -> Option<PathBuf> {
    let mut paths = vec![folder.to_owned()];
    for part in pattern.split('/') {
        paths = match part {
            "*" => paths.iter().flat_map(|path| entries_of(path)).filter(|path| path.is_dir()).collect(),
            part => paths.into_iter().map(|path| path.join(part)).collect(),
        };
    }
    let modified =
        |path: &PathBuf| path.metadata().and_then(|facts| facts.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    paths.into_iter().filter(|path| path.is_file()).max_by_key(modified)
}

fn entries_of(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map_or(Vec::new(), |entries| entries.flatten().map(|entry| entry.path()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_patterns() {
        let root = tempfile::tempdir().unwrap();
        let work = root.path().join(WORK_FOLDER);
        let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        fs::create_dir(&work).unwrap();
        write_inputs(&work, &[file("plain.csv", "a"), file("results/load-1/simulation.log", "b")]).unwrap();
        let wanted = [file("plain", "plain.csv"), file("log", "results/*/simulation.log"), file("none", "no/*/x")];
        let output = read(root.path(), Some(0), &wanted).unwrap();
        assert_eq!(output.files.keys().collect::<Vec<_>>(), ["log", "plain"]);
        assert_eq!((output.file("log"), output.stdout.is_empty()), (Some(&b"b"[..]), true));
        assert!(write_inputs(&work, &[file("../out", "")]).is_err());
    }
}
